"""The small tables beside the log: tokens, Workspaces, Tasks, Sessions, counters.

Each is a cache of a fold: ``apply`` takes one record into them, within the append's transaction.
``verify`` rebuilds them from the log and compares. Keys sort as people count.
"""

from collections.abc import Iterable
from typing import Final, Protocol, TypedDict, TypeVar

import msgspec

from memprove.ledger.domain import events as e
from memprove.ledger.domain.labels import (
    TASK_LETTERS,
    WORKSPACE_LETTERS,
    is_spooled,
    split_label,
)
from memprove.ledger.domain.record import Leaf, Record
from memprove.ledger.problems import LEDGER_DAMAGED
from memprove.ledger.storage.interface import Reader, Writer

LEDGER_KEY: Final = "this"

VERSION: Final = 4
"""Of the rows' shape: another one means that they are dropped and rebuilt."""


class _Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value of one row."""


class LedgerRow(_Row, frozen=True):
    """The ledger itself (table ``ledger``, key ``LEDGER_KEY``); *earlier*: its origins before."""

    ledger: str
    origin: str
    key: str
    created_at: int
    earlier: tuple[str, ...] = ()


class TokenRow(_Row, frozen=True):
    """A token (table ``token``, key its id)."""

    token: str
    name: str
    role: str
    scopes: tuple[str, ...]
    secret_hash: str
    issued_at: int
    revoked: bool = False


class WorkspaceRow(_Row, frozen=True):
    """A Workspace (table ``workspace``, key its id)."""

    id: str
    number: int
    name: str
    root: str
    kind: str
    device: str
    inode: str
    root_commits: tuple[str, ...] = ()


class TaskRow(_Row, frozen=True):
    """A Task (table ``task``, key Workspace/number). *changed*: the event that last changed it."""

    id: str
    number: int
    title: str
    state: e.TaskState
    created_at: int
    updated_at: int
    changed: int
    sessions: int = 0


class SessionRow(_Row, frozen=True):
    """A Session (table ``session``, key Workspace/number; ``open``: the same key while open).

    *spool_key* is the SHA-256 of its spool's key; *spooled* Runs of it were adopted.
    """

    id: str
    number: int
    task: int
    task_id: str
    agent: str
    role: str = ""
    parent: int | None = None
    worktree: str = ""
    client: str = ""
    spool_key: str = ""
    spooled: int = 0
    started_at: int = 0
    ended_at: int | None = None


class ClientRow(_Row, frozen=True):
    """The last operation of a client session (table ``client``, key Workspace/client)."""

    seq: int
    at: int
    request: str


class Rows(Protocol):
    """Tables of values under keys."""

    def row(self, table: str, key: str) -> bytes | None:
        """Return the value under *key*."""
        ...

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        """Set the value under *key*; None takes it out."""
        ...


RowT = TypeVar("RowT", bound=_Row)
_DECODERS: Final[dict[type[_Row], msgspec.json.Decoder[_Row]]] = {
    struct: msgspec.json.Decoder(struct)
    for struct in (LedgerRow, TokenRow, WorkspaceRow, TaskRow, SessionRow, ClientRow)
}
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


def decode_row(struct: type[RowT], value: bytes) -> RowT:
    """Return the row in *value*."""
    try:
        row = _DECODERS[struct].decode(value)
    except msgspec.DecodeError as error:
        raise LEDGER_DAMAGED(f"a {struct.__name__}: {error}") from None
    assert isinstance(row, struct)
    return row


def numbered(workspace: str, number: int) -> str:
    """Return the key of something that is numbered in a Workspace."""
    return f"{workspace}/{number:010d}"


def counter_key(leaf_stream: str, workspace: str | None, letters: str) -> str:
    """Return the key of the counter (table ``counter``) for labels with *letters*."""
    if letters in TASK_LETTERS:
        return f"{leaf_stream}/{letters}"
    return f"workspace/{workspace}/{letters}" if letters in WORKSPACE_LETTERS else letters


def new_labels(
    rows: Reader, stream: str, workspace: str | None, letters: Iterable[str]
) -> list[str]:
    """Return the labels that come next in *stream*, one for each of *letters*."""
    labels: list[str] = []
    taken: dict[str, int] = {}
    for letter in letters:
        if letter not in taken:
            taken[letter] = int(rows.row("counter", counter_key(stream, workspace, letter)) or b"0")
        taken[letter] += 1
        labels.append(f"{letter}{taken[letter]}")
    return labels


def apply(rows: Rows, record: Record) -> None:
    """Take *record* into the tables."""
    leaf = record.leaf
    for label in leaf.labels:
        if is_spooled(label):
            rows.put_row("spooled", f"{leaf.stream}/{label}", str(leaf.seq).encode())
            continue
        letters, number = split_label(label)
        rows.put_row(
            "counter", counter_key(leaf.stream, leaf.workspace, letters), str(number).encode()
        )
    if not _is_aside(record):
        _note_client(rows, leaf)
    match record.event:
        case e.LedgerCreated() as event:
            row = LedgerRow(
                ledger=event.ledger, origin=event.origin, key=event.key, created_at=leaf.at
            )
            _put(rows, "ledger", LEDGER_KEY, row)
            rows.put_row("format", LEDGER_KEY, str(VERSION).encode())
        case e.LedgerRestored(origin=origin, key=vkey):
            _restore(rows, origin, vkey)
        case e.TokenIssued() as event:
            _put(rows, "token", event.token, _token(event, leaf.at))
        case e.TokenRevoked(token=token):
            _change(rows, "token", token, TokenRow, revoked=True)
        case e.WorkspaceRegistered() as event:
            _put(rows, "workspace", event.id, _workspace(event, leaf))
        case e.WorkspaceAttached() as event:
            changes = msgspec.structs.asdict(event)
            _change(rows, "workspace", leaf.workspace or "", WorkspaceRow, **changes)
        case e.TaskCreated() as event:
            _create_task(rows, leaf, event)
        case e.TaskMoved(target=target):
            key = _task_key(rows, leaf)
            _change(rows, "task", key, TaskRow, state=target, **_changed(leaf))
        case e.SessionStarted() as event:
            _start_session(rows, leaf, event)
        case e.SessionEnded(session=number):
            key = numbered(leaf.workspace or "", number)
            _change(rows, "session", key, SessionRow, ended_at=leaf.at)
            rows.put_row("open", key, None)
            _touch(rows, leaf)
        case e.RunEnded(spooled=count) if count:
            key = numbered(leaf.workspace or "", leaf.actor.session or 0)
            _change(rows, "session", key, SessionRow, spooled=count)
            _touch(rows, leaf)
        case e.RunEnded() | e.CheckpointRecorded() | e.DecisionProposed() | e.DecisionDecided():
            _touch(rows, leaf)
        case _:
            pass  # other kinds and unknown ones change no row; for erasures see `erase`


def erase(rows: Rows, record: Record) -> None:
    """Let the tables hold of an erased event what survives of it, *record*.

    Only what an event set by itself is here; all else in a row comes from what nothing erases.
    """
    leaf = record.leaf
    match record.event:
        case e.TokenIssued(token=token, name=name):
            _change(rows, "token", token, TokenRow, name=name)
        case e.WorkspaceRegistered(id=id, name=name):
            _change(rows, "workspace", id, WorkspaceRow, name=name)
        case e.TaskCreated(title=title):
            _change(rows, "task", _task_key(rows, leaf), TaskRow, title=title)
        case e.SessionStarted() as event:
            key = numbered(leaf.workspace or "", split_label(leaf.labels[0])[1])
            said = {"agent": event.agent, "role": event.role, "worktree": event.worktree}
            _change(rows, "session", key, SessionRow, **said)
        case _:
            pass  # no other kind leaves a text in a row


def are_current(rows: Reader) -> bool:
    """Tell whether the tables are of this program's version; they have to say of which they are."""
    version = rows.row("format", LEDGER_KEY)
    if version is None or not version.isdigit():
        raise LEDGER_DAMAGED("the tables do not say of which version they are")
    return version == str(VERSION).encode()


def are_of_another_version(rows: Reader) -> bool:
    """Tell whether another memprove made the tables: nobody believes them, all build them anew."""
    version = rows.row("format", LEDGER_KEY) or b""
    return version.isdigit() and version.strip(b"0") != b"" and version != str(VERSION).encode()


def rebuild(writer: Writer, records: Iterable[Record]) -> None:
    """Drop the tables and build them again from all *records*."""
    writer.clear_rows()
    for record in records:
        apply(writer, record)


def _restore(rows: Rows, origin: str, vkey: str) -> None:
    value = rows.row("ledger", LEDGER_KEY)
    if value is not None:
        row = decode_row(LedgerRow, value)
        earlier = (*row.earlier, row.origin)
        row = msgspec.structs.replace(row, origin=origin, key=vkey, earlier=earlier)
        _put(rows, "ledger", LEDGER_KEY, row)


def _token(event: e.TokenIssued, at: int) -> TokenRow:
    return TokenRow(
        token=event.token,
        name=event.name,
        role=event.role,
        scopes=event.scopes,
        secret_hash=event.secret_hash,
        issued_at=at,
    )


def _workspace(event: e.WorkspaceRegistered, leaf: Leaf) -> WorkspaceRow:
    number = split_label(leaf.labels[0])[1]
    return WorkspaceRow(number=number, **msgspec.structs.asdict(event))


def _create_task(rows: Rows, leaf: Leaf, event: e.TaskCreated) -> None:
    number = split_label(leaf.labels[0])[1]
    key = numbered(leaf.workspace or "", number)
    row = TaskRow(
        id=event.id,
        number=number,
        title=event.title,
        state=event.state,
        created_at=leaf.at,
        **_changed(leaf),
    )
    _put(rows, "task", key, row)
    rows.put_row("task_key", event.id, key.encode())


def _start_session(rows: Rows, leaf: Leaf, event: e.SessionStarted) -> None:
    number = split_label(leaf.labels[0])[1]
    key = numbered(leaf.workspace or "", number)
    task_key = _task_key(rows, leaf)
    value = rows.row("task", task_key)
    if value is None:
        return
    task = decode_row(TaskRow, value)
    row = SessionRow(
        id=event.id,
        number=number,
        task=task.number,
        task_id=task.id,
        agent=event.agent,
        role=event.role,
        parent=event.parent,
        worktree=event.worktree,
        client=leaf.actor.client,
        spool_key=event.spool_key,
        started_at=leaf.at,
    )
    _put(rows, "session", key, row)
    rows.put_row("open", key, str(number).encode())
    _change(rows, "task", task_key, TaskRow, sessions=task.sessions + 1, **_changed(leaf))


def _is_aside(record: Record) -> bool:
    """Tell whether *record* stands beside its client's operation and is no part of it."""
    event = record.event
    if record.leaf.kind == "note.recorded":  # what a hook saw; its command may be erased
        return True
    if isinstance(event, e.RunEnded) and event.spooled > 0:
        return True
    return any(map(is_spooled, record.leaf.labels))


def _note_client(rows: Rows, leaf: Leaf) -> None:
    """Remember where the client session's last operation began."""
    if leaf.workspace is None or not leaf.actor.client:
        return
    key = f"{leaf.workspace}/{leaf.actor.client}"
    value = rows.row("client", key)
    known = decode_row(ClientRow, value) if value is not None else None
    same = known is not None and (known.request, known.at) == (leaf.actor.request, leaf.at)
    if not same or not leaf.actor.request:
        row = ClientRow(seq=leaf.seq, at=leaf.at, request=leaf.actor.request)
        _put(rows, "client", key, row)


def _touch(rows: Rows, leaf: Leaf) -> None:
    if leaf.stream.startswith("task/"):
        _change(rows, "task", _task_key(rows, leaf), TaskRow, **_changed(leaf))


class _Changed(TypedDict):
    updated_at: int
    changed: int


def _changed(leaf: Leaf) -> _Changed:
    """Return what a change leaves in the row: its time for people, its number to order by."""
    return _Changed(updated_at=leaf.at, changed=leaf.seq)


def _task_key(rows: Rows, leaf: Leaf) -> str:
    return (rows.row("task_key", leaf.stream.removeprefix("task/")) or b"").decode()


def _put(rows: Rows, table: str, key: str, row: _Row) -> None:
    rows.put_row(table, key, _ENCODER.encode(row))


def _change(rows: Rows, table: str, key: str, struct: type[RowT], **changes: object) -> None:
    value = rows.row(table, key)
    if value is not None:
        _put(rows, table, key, msgspec.structs.replace(decode_row(struct, value), **changes))
