"""What an attacker does who can write the ledger's file, and perhaps stole the live key.

It is a careful one: everything that can be made to fit is: links, commitments, tree, tables, heads.
"""

import random
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from support.ledgers import Project, new_project, record_of

from memprove.ledger import projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Record
from memprove.ledger.log.append import Appender, node_reader
from memprove.ledger.log.keys import Keys
from memprove.ledger.log.report import SignedHead
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.keys import ReadHead
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.storage.interface import StoredEvent, StoredHead, Writer
from memprove.ledger.storage.registry import create_store
from memprove.ledger.tlog import merkle
from memprove.ledger.tlog.head import Head, parse_head, sign_head
from memprove.ledger.tlog.note import Signer

EPOCHS, NOTES = 4, 6


@dataclass(frozen=True)
class Item:
    """An event as it is to stand in the forged log."""

    record: Record
    event: e.Event
    salt: bytes


@dataclass
class Scene:
    """A ledger of four key epochs, and all that was to be seen of it while it grew."""

    project: Project
    base: Path
    notes: dict[int, StoredHead] = field(default_factory=dict)
    copies: dict[int, Path] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)
    head: SignedHead | None = None

    def grow(self) -> "Scene":
        """Write the history: each epoch but the last ends with its Session."""
        for epoch in range(EPOCHS):
            self.see(self.project.execute(BeginWork(new_task=f"task {epoch}")))
            for number in range(NOTES):
                self.see(
                    self.project.execute(RecordCheckpoint(next_action=f"step {epoch}-{number}"))
                )
            if epoch < EPOCHS - 1:
                self.see(self.project.execute(EndSession(note=f"end {epoch}")))
                self.ends.append(max(self.notes))
        self.keep("genuine")
        return self

    def see(self, _: object) -> None:
        """Copy what there is now, as an attacker may who can read."""
        told = self.project.execute(ReadHead())
        self.head = told
        self.notes[told.size] = StoredHead(told.size, told.note.encode(), keep=False)
        self.copies[told.size] = self.keep(str(told.size))

    def keep(self, name: str) -> Path:
        """Keep a copy of data and state under *name*."""
        place = self.base / "copies" / name
        for folder in ("data", "state"):
            shutil.copytree(self.base / folder, place / folder)
        return place

    def bring_back(self, place: Path, *folders: str) -> None:
        """Put the *folders* as they were in the copy at *place*."""
        for folder in folders:
            shutil.rmtree(self.base / folder, ignore_errors=True)
            shutil.copytree(place / folder, self.base / folder)

    def reset(self) -> None:
        """Undo all that was done to the ledger."""
        self.bring_back(self.base / "copies" / "genuine", "data", "state")

    @property
    def stolen(self) -> Signer:
        """Return the live key."""
        (file,) = self.project.keys
        origin = parse_head(
            self.notes[max(self.notes)].note.decode().split("\n\n")[0] + "\n"
        ).origin
        return Keys(self.project.config_dir, file.parent.name).signer(int(file.stem), origin)

    def items(self) -> list[Item]:
        """Return the genuine events."""
        return [_item(stored) for stored in self.project.events()]


def new_scene(base: Path) -> Scene:
    """Return a ledger with a history."""
    return Scene(new_project(base), base).grow()


def _item(stored: StoredEvent) -> Item:
    record = record_of(stored)
    assert stored.salt is not None
    assert not isinstance(record.event, str)
    return Item(record, record.event, stored.salt)  # type: ignore[arg-type]


def forge(scene: Scene, items: Sequence[Item], key: Signer | None) -> None:
    """Put the log of *items* in the place of the ledger; sign with *key* what does not fit."""
    shutil.rmtree(scene.base / "data")
    (scene.base / "data").mkdir(mode=0o700)
    store = create_store(scene.base / "data")
    try:
        with store.write() as writer:
            for item in items:
                _append(writer, item)
            for head in _heads(scene, writer, len(items), key):
                writer.put_head(head)
    finally:
        store.close()


def _append(writer: Writer, item: Item) -> None:
    leaf = item.record.leaf
    appender = Appender(
        writer, actor=leaf.actor, at=leaf.at, random=lambda _: item.salt, project=_project
    )
    appender.append(
        item.event,
        stream=leaf.stream,
        workspace=leaf.workspace,
        labels=leaf.labels,
        session=leaf.actor.session,
    )


def _project(writer: Writer, record: Record) -> None:
    with suppress(Exception):  # a rewritten history need not make sense
        projections.apply(writer, record)


def _heads(scene: Scene, writer: Writer, size: int, key: Signer | None) -> list[StoredHead]:
    """Return heads that fit best: those seen of this very tree, else signed anew, else those seen.

    Every rotation in the log has a head, and the last event.
    """
    rotations = [event.seq for event in writer.of_kind("key.rotated")]
    heads = []
    for at in sorted({*rotations, size}):
        root = merkle.root(at, node_reader(writer))
        seen = scene.notes.get(at)
        said = parse_head(seen.note.decode().partition("\n\n")[0] + "\n") if seen else None
        if seen is not None and said is not None and said.root == root:
            note = seen.note
        elif key is not None:
            note = sign_head(Head(key.verifier.name, at, root), key)
        else:
            note = scene.notes[max(n for n in scene.notes if n <= max(at, min(scene.notes)))].note
        heads.append(StoredHead(at, note, at in rotations))
    return heads


# The thirteen attacks


def made_up(like: Item, text: str) -> Item:
    """Return another event in the place of *like*: a checkpoint that was never recorded."""
    salt = random.Random(text).randbytes(16)
    return replace(like, event=e.CheckpointRecorded(next_action=text), salt=salt)


def _place(scene: Scene, where: str) -> int:
    """Return the index of a checkpoint that another one follows, in the first or the last epoch."""
    items = scene.items()
    places = [
        i
        for i in range(len(items) - 1)
        if all(isinstance(one.event, e.CheckpointRecorded) for one in items[i : i + 2])
    ]
    return places[1] if where == "old" else places[-2]


def edit(scene: Scene, where: str, key: Signer | None) -> None:
    """Change what an event says."""
    items, at = scene.items(), _place(scene, where)
    items[at] = made_up(items[at], "FORGED")
    forge(scene, items, key)


def delete(scene: Scene, where: str, key: Signer | None) -> None:
    """Leave an event out."""
    items = scene.items()
    del items[_place(scene, where)]
    forge(scene, items, key)


def insert(scene: Scene, where: str, key: Signer | None) -> None:
    """Put an event in."""
    items, at = scene.items(), _place(scene, where)
    items.insert(at, made_up(items[at], "FORGED"))
    forge(scene, items, key)


def reorder(scene: Scene, where: str, key: Signer | None) -> None:
    """Put two events in each other's place."""
    items, at = scene.items(), _place(scene, where)
    items[at], items[at + 1] = items[at + 1], items[at]
    forge(scene, items, key)


def truncate(scene: Scene, where: str, key: Signer | None) -> None:
    """Cut the last two events off; a head that was signed then is at hand."""
    forge(scene, scene.items()[:-2], key)


def roll_back(scene: Scene, where: str, key: Signer | None) -> None:
    """Bring back an older copy, of the second epoch."""
    scene.bring_back(scene.copies[_middle(scene)], "data")


def roll_back_and_write(scene: Scene, where: str, key: Signer | None) -> None:
    """Go back to the second epoch and tell another history from there."""
    items, at = scene.items(), _place(scene, "recent")
    new = [made_up(items[at], f"F{number}") for number in range(len(items))]
    forge(scene, items[: _middle(scene)] + new, key)


def rewrite(scene: Scene, where: str, key: Signer | None) -> None:
    """Tell another history after the first commit."""
    items, at = scene.items(), _place(scene, "recent")
    new = [made_up(items[at], f"F{number}") for number in range(len(items))]
    forge(scene, items[:3] + new, key)


def fork(scene: Scene, where: str, key: Signer | None) -> None:
    """Let the last two events be others."""
    items = scene.items()
    new = [made_up(item, f"fork {n}") for n, item in enumerate(items[-2:])]
    forge(scene, items[:-2] + new, key)


def _middle(scene: Scene) -> int:
    """Return a size in the middle of the second epoch at which a commit ended."""
    return next(size for size in sorted(scene.notes) if size > scene.ends[0] + 4)


ATTACKS: dict[str, tuple[Callable[[Scene, str, Signer | None], None], str]] = {
    **{
        f"{attack.__name__} {where}": (attack, where)
        for where in ("old", "recent")
        for attack in (edit, delete, insert, reorder)
    },
    "truncate tail": (truncate, ""),
    "rollback to old copy": (roll_back, ""),
    "rollback and new history": (roll_back_and_write, ""),
    "rewrite all": (rewrite, ""),
    "fork at tail": (fork, ""),
}
"""The attacks by name, each with the part of the log that it is on."""
