"""Small logs in memory: real events under the real Appender, without token, Workspace or file."""

import random
from collections.abc import Callable, Sequence
from hashlib import sha256

from hypothesis import strategies as st
from msgspec.structs import replace
from support.samples import SAMPLES
from support.texts import anything

from memprove.ledger import erasing, projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.erasure import mark, plan, surviving
from memprove.ledger.domain.record import Actor
from memprove.ledger.log.append import Appender
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.reading import read_events, read_stream
from memprove.ledger.log.report import Report
from memprove.ledger.log.verify import verify
from memprove.ledger.projections import counter_key
from memprove.ledger.storage.interface import Store, StoredEvent, StoredHead, Writer
from memprove.ledger.storage.memory import MemoryDisk, MemoryStore
from memprove.ledger.tlog.head import parse_head
from memprove.ledger.tlog.note import Signer, format_vkey

ORIGIN = "memprove.local/test"
WORKSPACE = "01990000-0000-7000-8000-0000000000ff"


class Log:
    """A log on a memory disk (or another *store*), with a key of its own."""

    def __init__(self, store: Store | None = None, *, seed: int = 1) -> None:
        self.disk = MemoryDisk()
        self.store: Store = store or MemoryStore(self.disk)
        self.signer = Signer(ORIGIN, random.Random(seed).randbytes(32))
        self.pin = Pin(self.signer.verifier)
        self.epoch = 1
        self.at = 1_790_000_000_000
        self._random = random.Random(seed)
        self.created = e.LedgerCreated(
            ledger="test", origin=ORIGIN, key=format_vkey(self.signer.verifier)
        )

    def begin(self) -> "Log":
        """Append the first event."""
        self.append((self.created,))
        return self

    def append(
        self,
        events: Sequence[e.Event],
        *,
        task: str = "",
        keep: bool = False,
        blobs: Sequence[tuple[str, bytes]] = (),
    ) -> list[int]:
        """Append *events* in one transaction: to the stream of *task*, else to their own."""
        self.at += 1
        with self.store.write() as writer:
            for digest, data in blobs:
                writer.put_blob(digest, data)
            appender = self._appender(writer)
            for event in events:
                stream, workspace = stream_of(event, task)
                labels: list[str] = []
                for letters in letters_of(event):
                    value = writer.row("counter", counter_key(stream, workspace, letters))
                    before = sum(label.startswith(letters) for label in labels)
                    labels.append(f"{letters}{int(value or b'0') + before + 1}")
                appender.append(event, stream=stream, workspace=workspace, labels=labels, session=1)
            appender.seal(self.signer, keep=keep)
            return [record.seq for record in appender.records]

    def _appender(self, writer: Writer) -> Appender:
        return Appender(
            writer,
            actor=Actor(
                installation="i",
                token="t",
                role="agent",
                face="cli",
                client="client",
                request=str(self.at // 3),
            ),
            at=self.at,
            random=self._random.randbytes,
            project=projections.apply,
        )

    def rotate(self, seed: int = 0, *, epoch: int = 0, signer: Signer | None = None) -> int:
        """Begin another epoch, with the key that *seed* makes; return the rotation's number."""
        number = epoch or self.epoch + 1
        after = signer or Signer(
            self.signer.verifier.name, random.Random(seed or 100 + number).randbytes(32)
        )
        (seq,) = self.append([e.KeyRotated(epoch=number, key=format_vkey(after.verifier))])
        self.signer, self.epoch = after, number
        return seq

    def adopt(self, origin: str = f"{ORIGIN}/again") -> tuple[Pin, Pin]:
        """Go on under another *origin*; return the pin of the one that ended, and the new one's."""
        before, head = self.signer, self.head()
        self.epoch += 1
        self.signer = Signer(origin, random.Random(self.epoch).randbytes(32))
        with self.store.write() as writer:
            writer.put_head(replace(head, keep=True))
        (seq,) = self.append(
            [
                e.LedgerRestored(
                    origin=origin,
                    epoch=self.epoch,
                    key=format_vkey(self.signer.verifier),
                    before=before.verifier.name,
                    head=head.note.decode(),
                    why="adopt",
                )
            ]
        )
        root = parse_head(head.note.decode().partition("\n\n")[0] + "\n").root
        ended = Pin(self.pin.verifier, self.pin.first, (seq - 1, root))
        self.pin = Pin(self.signer.verifier, seq)
        return ended, self.pin

    def erase(self, seq: int, *fields: str, reason: str = "leak") -> int:
        """Erase *fields* (none: all that can go) of event *seq*; return the tombstone's number."""
        self.at += 1
        with self.store.write() as writer:
            appender = self._appender(writer)
            record = next(read_events(writer, seq - 1, seq))
            for step in plan([record], fields, lambda: read_stream(writer, record.leaf.stream)):
                left = surviving(step, mark(reason))
                erasing.PayloadEraser(writer, appender).erase(
                    step.record, left, step.fields, reason
                )
            appender.seal(self.signer)
            return appender.records[-1].seq

    def verify(self) -> Report:
        """Verify it against its key."""
        with self.store.read() as reader:
            return verify(reader, self.pin, project=projections.apply)

    def edit_event(self, seq: int, edit: Callable[[StoredEvent], StoredEvent]) -> None:
        """Put what *edit* makes of event *seq* in its place."""
        events = self.disk.state.events
        events[seq - 1] = edit(events[seq - 1])

    def put_events(self, events: Sequence[StoredEvent]) -> None:
        """Let *events* be those of the log, found by their places and columns."""
        state = self.disk.state
        state.events = list(events)
        state.streams = {}
        for place, event in enumerate(events, 1):
            state.streams.setdefault(event.stream, []).append(place)

    def edit_head(self, size: int, note: bytes) -> None:
        """Put *note* in the place of the head at *size*."""
        heads = self.disk.state.heads
        heads[size] = replace(heads[size], note=note)

    def head(self) -> StoredHead:
        """Return the newest head."""
        with self.store.read() as reader:
            head = reader.head()
        assert head is not None
        return head


def stream_of(event: e.Event, task: str = "") -> tuple[str, str | None]:
    """Return the stream and the Workspace of *event*, of *task* where it is of a Task."""
    match event:
        case (
            e.LedgerCreated()
            | e.TokenIssued()
            | e.TokenRevoked()
            | e.KeyRotated()
            | e.LedgerRestored()
        ):
            return "ledger", None
        case e.WorkspaceRegistered() | e.WorkspaceAttached():
            return f"workspace/{WORKSPACE}", WORKSPACE
        case e.TaskCreated(id=id):
            return f"task/{id}", WORKSPACE
        case _:
            return f"task/{task or TASKS[0]}", WORKSPACE


def letters_of(event: e.Event) -> tuple[str, ...]:
    """Return the letters of the labels that *event* assigns."""
    match event:
        case e.CheckpointRecorded(facts=facts, opened=opened):
            return ("c",) * len(facts) + ("o",) * len(opened)
        case e.WorkspaceRegistered():
            return ("ws",)
        case e.TaskCreated():
            return ("t",)
        case e.SessionStarted():
            return ("s",)
        case e.RunStarted():
            return ("r",)
        case e.DecisionProposed():
            return ("d",)
        case _:
            return ()


TASKS = ("one", "two")


def registered() -> e.WorkspaceRegistered:
    """Return the registration of ``WORKSPACE``."""
    return e.WorkspaceRegistered(
        id=WORKSPACE, name="w", root="/w", kind="folder", device="1", inode="2"
    )


def a_task(name: str = TASKS[0]) -> e.TaskCreated:
    """Return the creation of a Task."""
    return e.TaskCreated(id=name, title=f"Task {name}")


def busy_log() -> Log:
    """Return a log with every kind of event, over several commits, one of whose heads is kept."""
    log = Log().begin()
    log.append([SAMPLES["token.issued"], SAMPLES["token.issued"]])
    log.append([SAMPLES["token.revoked"]])
    log.append([registered(), SAMPLES["workspace.attached"]])
    log.append([a_task(), SAMPLES["session.started"]])
    log.append([SAMPLES["checkpoint.recorded"]], keep=True)
    log.append([SAMPLES["decision.proposed"], SAMPLES["decision.decided"]])
    log.append([a_run(), run_ended(), SAMPLES["task.moved"]], blobs=[(BLOB, DATA)])
    log.append([e.SessionEnded(session=1)])
    log.rotate()
    log.append([e.SessionEnded(session=2)])
    return log


DATA = b"what a command wrote"
BLOB = sha256(DATA).hexdigest()


def a_run() -> e.RunStarted:
    """Return the start of a Run."""
    return e.RunStarted(
        argv=("pytest",), cwd="", worktree="", kind=e.RunKind.TEST, tree=e.TreeState(id="a" * 40)
    )


def run_ended() -> e.RunEnded:
    """Return the end of a Run whose output is kept."""
    kept = e.StreamKept(length=len(DATA), sha256="0" * 64, blob=BLOB)
    return e.RunEnded(
        run="r1",
        kind=e.RunKind.TEST,
        exit=0,
        signal=None,
        duration_ms=1,
        stdout=kept,
        stderr=e.StreamKept(length=0, sha256="0" * 64),
        tree=e.TreeState(id="a" * 40),
    )


texts = anything.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))
ids = st.sampled_from(["a", "b"])
states = st.sampled_from(list(e.TaskState))
labels = st.integers(1, 3)


def some_events() -> st.SearchStrategy[e.Event]:
    """Return a strategy for any event, whether or not the rules would let it happen."""
    return st.one_of(
        st.builds(
            e.TokenIssued, token=ids, name=texts, role=texts, scopes=st.just(()), secret_hash=texts
        ),
        st.builds(e.TokenRevoked, token=ids),
        st.just(registered()),
        st.builds(e.WorkspaceAttached, root=texts, kind=texts, device=texts, inode=texts),
        st.builds(e.TaskCreated, id=st.sampled_from(TASKS), title=texts, state=states),
        st.builds(e.TaskMoved, source=states, target=states, comment=texts),
        st.builds(e.SessionStarted, id=ids, agent=texts, parent=st.none() | labels),
        st.builds(e.SessionEnded, session=labels, note=texts, abandoned=st.booleans()),
        st.just(a_run()),
        st.builds(
            e.CheckpointRecorded,
            facts=st.lists(st.builds(e.Fact, text=texts), max_size=3).map(tuple),
            opened=st.lists(texts, max_size=3).map(tuple),
            next_action=texts,
        ),
        st.builds(e.DecisionProposed, title=texts, choice=texts, rationale=texts),
        st.builds(
            e.DecisionDecided, decision=st.just("d1"), outcome=st.just(e.DecisionState.ACCEPTED)
        ),
    )


histories = st.lists(
    st.tuples(
        st.lists(some_events(), min_size=1, max_size=4), st.sampled_from(TASKS), st.booleans()
    ),
    max_size=8,
)
"""Commits: events, the Task that they are of, and whether the head is kept."""


def written(history: list[tuple[list[e.Event], str, bool]]) -> Log:
    """Return a log of these commits."""
    log = Log().begin()
    for events, task, keep in history:
        log.append(events, task=task, keep=keep)
    return log
