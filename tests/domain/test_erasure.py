"""What may be erased, and that erasing changes no verdict, no Check and no proof."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.capsules import TREE, Story, counts
from support.samples import LABELS, SAMPLES, leaf
from support.snapshots import snapshot
from support.stories import stories, todays

from memprove.ledger.domain import events as e
from memprove.ledger.domain import pack
from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.capsule import Capsule, fold
from memprove.ledger.domain.erasure import (
    ERASABLE,
    Step,
    erasable,
    is_erasable,
    is_field,
    is_redactable,
    mark,
    plan,
    surviving,
)
from memprove.ledger.domain.evidence import Evidence, Today
from memprove.ledger.domain.record import Erased, Erasure, Record, encode
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.domain.tombstones import Tombstones

GONE = mark("a secret")
STAYS = {
    "token.issued": {"token", "role", "scopes", "secret_hash"},
    "workspace.registered": {"id", "root", "kind", "device", "inode", "root_commits"},
    "task.created": {"id", "state"},
    "task.moved": {"source", "target", "completion"},
    "session.started": {"id", "parent", "spool_key"},
    "session.ended": {"session", "abandoned"},
    "run.started": {"kind", "tree", "ignore", "outputs", "rerun_of"},
    "run.ended": {
        *("run", "kind", "exit", "signal", "duration_ms", "tree", "timed_out", "crashed"),
        *("counts", "counts_needed", "outcomes", "moved_count", "product_count"),
        *("spooled", "spooled_at"),
    },
    "checkpoint.recorded": {"closed", "reaffirmed", "withdrawn"},
    "decision.proposed": {"supersedes", "evidence"},
    "decision.decided": {"decision", "outcome"},
}
"""What no erasure takes: numbers, labels, citations, states, and what tells Runs apart."""
NOTHING_GOES = {
    *("ledger.created", "key.rotated", "ledger.restored", "token.revoked"),
    *("workspace.attached", "payload.erased"),
}


def sample(kind: str) -> Record:
    return Record(leaf(kind, b""), SAMPLES[kind])


def all_erased(record: Record) -> e.Event:
    names = tuple(erasable(record))
    return surviving(Step(record, names, "r1" if "argv" in names else ""), GONE)


def test_every_field_of_every_kind_either_goes_or_is_known_to_stay() -> None:
    assert set(STAYS) | NOTHING_GOES == set(SAMPLES)
    for kind, stays in STAYS.items():
        goes = {name.partition(".")[0] for name in ERASABLE[type(SAMPLES[kind])]} - {"tree"}
        fields = set(SAMPLES[kind].__struct_fields__)
        assert fields - goes - {"completion", "exact", "check"} == stays - {"completion"}, kind


@pytest.mark.parametrize("kind", sorted(NOTHING_GOES))
def test_what_the_ledger_stands_on_cannot_go(kind: str) -> None:
    assert not is_redactable(sample(kind))
    assert erasable(sample(kind)) == []


@pytest.mark.parametrize("kind", STAYS)
def test_what_stays_is_as_it_was_when_all_else_is_erased(kind: str) -> None:
    left = all_erased(sample(kind))
    for name in STAYS[kind] - {"tree", "completion"}:
        assert getattr(left, name) == getattr(SAMPLES[kind], name)


def test_what_is_left_of_every_kind_reads_as_in_the_snapshot() -> None:
    lines = [f"{kind} {encode(all_erased(sample(kind))).decode()}" for kind in STAYS]
    text = "\n".join(lines) + "\n"
    assert text == snapshot("erased.txt", text)


@pytest.mark.parametrize("kind", STAYS)
def test_one_field_goes_and_no_other(kind: str) -> None:
    record = sample(kind)
    for name in erasable(record):
        left = Record(record.leaf, surviving(Step(record, (name,)), GONE))
        assert set(erasable(record)) - {name} <= set(erasable(left))
        assert left.event != record.event


def test_what_was_erased_is_not_erasable_again() -> None:
    record = sample("session.ended")
    left = Record(record.leaf, all_erased(record), Erasure(9, ("note",), "r"))
    assert erasable(left) == []


def test_an_empty_field_is_nothing_to_erase() -> None:
    record = Record(leaf("session.ended", b""), e.SessionEnded(session=1))
    assert is_erasable(record, "note")
    assert erasable(record) == []


def test_facts_and_items_are_named_by_their_labels() -> None:
    record = sample("checkpoint.recorded")
    assert LABELS["checkpoint.recorded"] == ("c3", "o2")
    assert erasable(record) == ["facts.c3", "opened.o2", "next_action"]
    assert is_erasable(record, "facts")
    assert not is_erasable(record, "facts.c4")


def test_fields_are_told_from_what_is_none() -> None:
    record = sample("run.ended")
    assert is_field(record, "exit")
    assert not is_erasable(record, "exit")
    assert not is_field(record, "argv")


def test_an_output_goes_with_its_digest() -> None:
    record = sample("run.ended")
    left = surviving(Step(record, ("stdout", "stderr")), GONE)
    assert isinstance(left, e.RunEnded)
    assert (left.stdout.sha256, left.stdout.blob, left.stdout.tail) == ("", None, GONE)
    assert len(set(blobs_of(left))) == 1  # the tree and the outcomes of tests stay


class Stored:
    """The records of a Task as they are stored, from which payloads can be erased."""

    def __init__(self, records: list[Record]) -> None:
        self._stored = list(records)

    def read(self) -> list[Record]:
        """Return them as a reader gives them."""
        tombstones = Tombstones()
        for record in self._stored:
            tombstones.note(record)
        return [tombstones.stand_in(record) for record in self._stored]

    def erase(self, record: Record, wanted: tuple[str, ...], reason: str) -> None:
        """Erase *wanted* of *record*, and what goes with it."""
        for step in plan([record], wanted, self.read):
            before = step.record.erasure
            event = e.PayloadErased(
                event=step.record.seq,
                fields=(*(before.fields if before else ()), *step.fields),
                reason=reason,
                kept=encode(surviving(step, mark(reason))).decode(),
                replaces=(*before.replaces, before.by) if before else (),
            )
            for seq in (event.event, *event.replaces):
                self._stored[seq - 1] = Record(self._stored[seq - 1].leaf, Erased())
            seq = len(self._stored) + 1
            made = msgspec.structs.replace(
                self._stored[0].leaf, seq=seq, stream_seq=seq, kind="payload.erased", labels=()
            )
            self._stored.append(Record(made, event))


def shown(capsule: Capsule, today: Today) -> Iterator[object]:
    """Yield all that is evidence in *capsule*."""
    evidence = Evidence(capsule, today)
    groups: dict[object, list[str]] = {}
    for run in capsule.runs.values():
        groups.setdefault(run.check, []).append(run.label)
        yield run.label, run.verdict, run.kind, run.tree.id, evidence.fresh(run).fresh
    yield sorted(groups.values())
    yield [run.label for run in evidence.checks()]
    for claim in capsule.claims.values():
        proof = evidence.prove(claim)
        yield claim.label, claim.evidence, proof.state, [run.label for run in proof.runs]
    yield list(capsule.open_items), [i.label for i in capsule.live_items()]
    yield [(d.label, d.state) for d in capsule.decisions.values()]
    yield [(s.number, s.ended is None, s.abandoned) for s in capsule.sessions.values()]
    yield capsule.state, [(m.source, m.target) for m in capsule.moves]


@settings(deadline=None)
@given(stories(), todays(), st.data())
def test_erasing_anything_changes_no_evidence(
    story: Story, today: Today, data: st.DataObject
) -> None:
    before = list(shown(story.capsule(), today))
    stored = Stored(story.records)
    for reason in ("first", "second", "third"):
        able = [record for record in stored.read() if erasable(record)]
        if not able:
            break
        record = data.draw(st.sampled_from(able))
        fields = data.draw(st.lists(st.sampled_from(erasable(record)), max_size=2))
        try:
            stored.erase(record, tuple(fields), reason)
        except NotCanonical:
            return  # a text that no ledger would have stored
        assert list(shown(fold(stored.read()), today)) == before


def test_the_pack_says_what_was_erased_where_each_text_was() -> None:
    story = Story("SECRET title")
    story.session("claude-code", "implementer")
    story.run("pytest SECRET", counts(3), ms=1_000)
    story.fact("SECRET fact", "r1", next_action="SECRET next")
    story.open("SECRET item")
    story.propose("SECRET choice", "SECRET why", title="SECRET")
    story.end(6, "SECRET note")
    stored = Stored(story.records)
    for seq in range(1, len(story.records) + 1):
        stored.erase(stored.read()[seq - 1], (), f"leak {seq}")
    text = pack.render(Evidence(fold(stored.read()), Today(TREE)))
    assert "SECRET" not in text
    assert text == snapshot("pack/erased.txt", text)


def test_a_command_that_goes_keeps_the_runs_of_its_check_together() -> None:
    story = Story()
    story.session()
    for command in ("pytest SECRET", "make", "pytest SECRET", "pytest SECRET"):
        story.run(command, counts(1))
    record = next(r for r in story.records if r.labels == ("r3",))
    steps = plan([record], ("argv",), lambda: story.records)
    assert [step.record.labels for step in steps] == [("r3",), ("r1",), ("r4",)]
    stored = Stored(story.records)
    stored.erase(record, ("argv",), "leak")
    runs = fold(stored.read()).runs
    assert [run.check for run in runs.values()] == [
        ((), "r1"),
        (("make",), ""),
        ((), "r1"),
        ((), "r1"),
    ]
    assert not runs["r3"].started.exact
