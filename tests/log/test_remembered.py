"""The head that was seen last: what contradicts it, and what is no contradiction."""

import base64
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from support.expected import problem
from support.logs import Log, a_run, a_task, registered

from memprove.ledger.domain import events as e
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.reading import Opened, check_head
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.report import Report
from memprove.ledger.log.verify import verify
from memprove.ledger.projections import apply
from memprove.ledger.tlog import merkle
from memprove.ledger.tlog.head import Head, sign_head
from memprove.ledger.tlog.note import Signer, format_vkey


class Seen:
    """A log and what is remembered of it below a folder."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.log = Log().begin()
        self.log.append([registered(), a_task()])
        self.log.rotate()
        self.log.append([a_run(), a_run()])
        self.remember()

    @property
    def memory(self) -> Memory:
        return Memory(self.base / "state", self.base / "data")

    def open(self, log: Log | None = None) -> Opened:
        log = log or self.log
        memory = self.memory
        with log.store.read() as reader:
            return check_head(reader, log.pin, memory)

    def remember(self) -> None:
        opened = self.open()
        self.memory.keep(self.log.pin, opened.epochs.newest, opened.note)

    def verify(self, log: Log | None = None, required: bytes | None = None) -> Report:
        log, memory = log or self.log, self.memory
        with log.store.read() as reader:
            return verify(reader, log.pin, project=apply, memory=memory, required=required)

    @property
    def evidence(self) -> list[str]:
        return [file.read_text() for file in sorted(self.base.glob("state/evidence/*"))]


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def shorter(seen: Seen) -> Log:
    """Return an older copy of the log."""
    log = Log().begin()
    log.append([registered(), a_task()])
    log.rotate()
    log.append([a_run()])
    return log


def other(seen: Seen) -> Log:
    """Return a log that tells something else since its second epoch, and more."""
    log = Log().begin()
    log.append([registered(), a_task()])
    log.rotate()
    log.append([a_run(), e.SessionEnded(session=9)])
    log.append([a_run()])
    return log


def foreign(seen: Seen) -> Log:
    """Return a log of another origin."""
    log = Log()
    log.signer = Signer("memprove.local/foreign", b"f" * 32)
    log.pin = Pin(log.signer.verifier)
    log.created = e.LedgerCreated(
        ledger="f", origin=log.signer.verifier.name, key=format_vkey(log.signer.verifier)
    )
    return log.begin()


# What fits


def test_a_log_as_it_was_seen_opens_from_where_it_was_seen(seen: Seen) -> None:
    assert [epoch.number for epoch in seen.open().epochs] == [2]
    report = seen.verify()
    assert (report.ok, report.remembered, report.unremembered) == (True, 6, "")


def test_a_log_that_went_on_opens(seen: Seen) -> None:
    for _ in range(3):
        seen.log.append([a_run()])
        seen.log.rotate()
    seen.log.append([a_run()])
    assert [epoch.number for epoch in seen.open().epochs] == [2, 3, 4, 5]
    assert seen.verify().ok


@pytest.mark.parametrize("behind", range(1, 9))
def test_a_memory_may_be_behind_by_any_number_of_events(seen: Seen, behind: int) -> None:
    for _ in range(behind):
        seen.log.append([a_run()])
    assert seen.open().head.size == 6 + behind


def test_what_another_pin_led_to_is_no_beginning_of_a_walk(seen: Seen) -> None:
    seen.log.pin = Pin(seen.log.signer.verifier, 5)
    assert seen.memory.start(seen.log.pin) is None
    assert [epoch.number for epoch in seen.open().epochs] == [2]


# What does not fit


def test_a_shorter_log_is_truncated(seen: Seen) -> None:
    with problem("ledger_truncated", "seen with 6 events and has 5"):
        seen.open(shorter(seen))
    report = seen.verify(shorter(seen))
    assert [(f.check, f.code) for f in report.findings] == [("remembered", "ledger_truncated")]
    assert report.remembered is None


def test_another_history_is_forked(seen: Seen) -> None:
    with problem("ledger_forked", "seen with 6 events and has 7"):
        seen.open(other(seen))
    report = seen.verify(other(seen))
    assert [(f.check, f.code) for f in report.findings] == [("remembered", "ledger_forked")]


def test_another_history_of_the_same_size_is_forked(seen: Seen) -> None:
    log = Log().begin()
    log.append([registered(), a_task()])
    log.rotate()
    log.append([a_run(), e.SessionEnded(session=9)])
    with problem("ledger_forked"):
        seen.open(log)


def test_another_log_in_the_place_is_replaced(seen: Seen) -> None:
    with problem("ledger_replaced", "memprove.local/foreign instead of memprove.local/test"):
        seen.open(foreign(seen))
    report = seen.verify(foreign(seen))
    assert [(f.check, f.code) for f in report.findings] == [("remembered", "ledger_replaced")]


def test_a_head_of_an_epoch_that_was_seen_is_of_the_wrong_one(seen: Seen) -> None:
    log = Log().begin()
    log.signer = seen.log.signer  # the stolen key; the rotation that names it is left out
    log.append([registered()])
    with problem("wrong_epoch", "epoch 2"):
        seen.open(log)


# Evidence


@pytest.mark.parametrize("make", [shorter, other], ids=["shorter", "other"])
def test_evidence_holds_both_heads_and_is_named(seen: Seen, make: type) -> None:
    log = make(seen)
    with pytest.raises(Exception, match=r"evidence: .*/state/evidence/ledger_\w+-\w+\.txt"):
        seen.open(log)
    (text,) = seen.evidence
    with log.store.read() as reader:
        head = reader.head()
    assert head is not None
    assert head.note.decode() in text
    assert seen.log.head().note.decode() in text
    seen.verify(log)
    assert seen.evidence == [text], "the same once"


def test_evidence_of_a_fork_stands_for_itself(seen: Seen) -> None:
    with problem("ledger_forked"):
        seen.open(other(seen))
    check_evidence(seen.evidence[0])


def check_evidence(text: str) -> None:
    """Check it as docs/log-format.md says, with nothing of memprove but the proof's arithmetic."""
    first, seen, found, proof = split(text)
    assert first == "memprove evidence v1: ledger_forked\n"
    was, now = opened(seen), opened(found)
    word, size, root = proof.splitlines()[0].split()
    hashes = [base64.b64decode(line) for line in proof.splitlines()[1:]]
    assert (word, int(size)) == ("root", was[0])
    merkle.check_consistency(was[0], now[0], hashes, base64.b64decode(root), now[1])
    assert base64.b64decode(root) != was[1]


def split(text: str) -> list[str]:
    """Return the parts of the file: title, seen, found, proof."""
    at = [text.index("\nseen ") + 1, text.index("\nfound ") + 1, text.index("\nroot ") + 1]
    title, *rest = (text[i:j] for i, j in zip([0, *at], [*at, len(text)], strict=True))
    return [title.rstrip("\n") + "\n", *rest]


def opened(part: str) -> tuple[int, bytes]:
    """Return size and root of the signed head in *part*, under the vkey in its first line."""
    line, _, note = part.partition("\n")
    _, vkey = line.split()
    key = base64.b64decode(vkey.split("+", 2)[2])
    signed, _, rest = note.partition("\n\n")
    value = base64.b64decode(rest.split("\n")[0].split(" ")[2])
    Ed25519PublicKey.from_public_bytes(key[1:]).verify(value[4:], f"{signed}\n".encode())
    _, size, root = signed.split("\n")
    return int(size), base64.b64decode(root)


# A memory that is not there


def test_nothing_is_remembered_of_a_log_that_was_never_seen(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state", tmp_path / "data")
    assert (memory.seen, memory.why) == (None, "no head of it was seen before")


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: b"",
        lambda data: data[:40],
        lambda data: data[:-40],
        lambda data: b"\xff" + data,
        lambda data: data.replace(b"v1", b"v2"),
        lambda data: data.replace(b"epoch 2", b"epoch x"),
        lambda data: data.replace(b"\n6\n", b"\n7\n"),
        lambda data: data + b"x" * 20_000,
        lambda data: data.replace(b"pin ", b"pim "),
        lambda data: data.replace(b" 5 ", b" 1 "),
    ],
)
def test_a_memory_that_was_damaged_is_none(seen: Seen, edit: object) -> None:
    file = seen.memory.file
    file.write_bytes(edit(file.read_bytes()))  # type: ignore[operator]
    assert seen.open().head.size == 6
    report = seen.verify()
    assert report.ok, report.findings
    assert report.remembered is None
    assert report.unremembered.endswith("is not what was written")


def test_a_flip_anywhere_in_a_memory_is_no_alarm(seen: Seen) -> None:
    file = seen.memory.file
    kept = file.read_bytes()
    for at in range(len(kept)):
        changed = bytearray(kept)
        changed[at] ^= 1
        file.write_bytes(changed)
        assert seen.memory.seen is None
        assert seen.open().head.size == 6


def test_a_state_directory_that_cannot_be_used_is_no_failure(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    memory = Memory(tmp_path / "file", tmp_path / "data")
    assert "Not a directory" in memory.why
    opened = seen.open()
    memory.keep(seen.log.pin, opened.epochs.newest, opened.note)
    assert Memory(tmp_path / "file", tmp_path / "data").seen is None


def test_evidence_that_cannot_be_written_is_not_named(seen: Seen) -> None:
    (seen.base / "state" / "evidence").write_text("in the way")
    with pytest.raises(Exception, match=r"has 5$"):
        seen.open(shorter(seen))


def test_a_memory_is_of_one_data_directory(seen: Seen, tmp_path: Path) -> None:
    assert Memory(tmp_path / "state", tmp_path / "elsewhere").seen is None
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert Memory(tmp_path / "state", tmp_path / "link").seen is not None


@pytest.mark.skipif(os.name == "nt", reason="modes")
def test_a_memory_is_for_its_owners_eyes(seen: Seen) -> None:
    assert seen.memory.file.stat().st_mode & 0o777 == 0o600
    assert seen.memory.file.parent.stat().st_mode & 0o777 == 0o700


# A head that is required


def test_a_required_head_is_continued(seen: Seen) -> None:
    note = seen.log.head().note
    seen.log.append([a_run()])
    report = seen.verify(required=note)
    assert report.ok, report.findings
    assert report.checks[-1].check == "required"


@pytest.mark.parametrize(
    ("make", "code"),
    [(shorter, "ledger_truncated"), (other, "ledger_forked"), (foreign, "ledger_replaced")],
)
def test_a_required_head_that_is_not_continued_is_found(
    seen: Seen, make: type, code: str, tmp_path: Path
) -> None:
    note, log = seen.log.head().note, make(seen)
    with log.store.read() as reader:
        report = verify(reader, log.pin, project=apply, required=note)
    assert [(f.check, f.code) for f in report.findings] == [("required", code)]


def test_a_required_head_that_another_key_signed_is_found(seen: Seen) -> None:
    root = bytes.fromhex(seen.verify().root)
    note = sign_head(Head("memprove.local/test", 6, root), Log().signer)  # of the first epoch
    (found,) = seen.verify(required=note).findings
    assert (found.check, found.code) == ("required", "wrong_epoch")
    assert not seen.verify(required=b"nonsense").ok
