"""The head that was seen last, remembered outside the log.

A log that was cut short, put back to an older copy or told anew is a valid log by itself. Only who
remembers a later head finds it. So each writer keeps its head in the state directory, in one small
file for each data directory: moved forward only, under the lock, after the commit. A reader reads
it before its transaction begins. So what is remembered is never ahead of a log that is in order,
and may be behind it.

The file belongs to the user, as the pin does, and is believed like it::

    memprove remembered v1 <SHA-256 of the rest, hex: a damaged file is none>
    pin <vkey from which the epochs were walked>
    epoch <number> <first event> <vkey>
    <empty line>
    <the head, a signed note>

A data directory holds one log: a head of another origin in it is another ledger in its place. A
state directory that cannot be read or written is no failure; ``verify`` says that nothing is
remembered, and why.
"""

import os
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from memprove.ledger.log import evidence, state_files
from memprove.ledger.log.epochs import Epoch, Pin, check_continues
from memprove.ledger.problems import (
    LEDGER_FORKED,
    LEDGER_REPLACED,
    LEDGER_TRUNCATED,
    Problem,
    ProblemKind,
)
from memprove.ledger.storage.interface import Reader
from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.head import Head, parse_head
from memprove.ledger.tlog.note import format_vkey, parse_vkey

_TITLE: Final = "memprove remembered v1"


class Remembered(msgspec.Struct, frozen=True):  # no dataclass, as in `epochs`
    """A head that held when it was seen: in *epoch*, to which the walk from *pin* led."""

    pin: str
    epoch: Epoch
    head: Head
    note: bytes


class Found(msgspec.Struct, frozen=True):
    """The newest head of the log at hand, which holds under *vkey*."""

    head: Head
    note: bytes
    vkey: str


class Memory:
    """What is remembered of the log in *data_dir*, as it was when this was made."""

    def __init__(self, state_dir: Path, data_dir: Path) -> None:
        place = sha256(os.fsencode(os.path.realpath(data_dir))).hexdigest()[:32]
        self.file = state_dir / "remembered" / place
        self.state_dir = state_dir
        self.why = ""
        """Why nothing is remembered."""
        self.seen = self._recall()

    def start(self, pin: Pin) -> Epoch | None:
        """Return the epoch to which a walk from *pin* has led already."""
        seen = self.seen
        known = seen is not None and seen.pin == format_vkey(pin.verifier) and pin.until is None
        return seen.epoch if seen is not None and known else None

    def is_of_another(self, origin: str) -> bool:
        """Tell whether what was seen is of another origin than *origin*."""
        return self.seen is not None and self.seen.head.origin != origin

    def check_origin(self, origin: str, earlier: Collection[str] = ()) -> None:
        """Raise ``ledger_replaced`` if the log that was here had neither of these origins."""
        known = (origin, *earlier)
        if self.seen is not None and self.seen.head.origin not in known:
            detail = f"{origin} instead of {self.seen.head.origin}; it is remembered in {self.file}"
            raise LEDGER_REPLACED(detail)

    def check(self, reader: Reader, found: Found, ends: Mapping[str, int]) -> None:
        """Raise unless the log in *reader*, which ends in *found*, continues what was seen.

        *ends* is where its earlier origins ended. What was seen of one beyond that is lost, and who
        pinned the new origin knows.
        """
        seen = self.seen
        if seen is not None and seen.head.size > ends.get(seen.head.origin, seen.head.size):
            return
        if seen is not None and seen.head.origin in ends:
            seen = structs.replace(
                seen, head=Head(found.head.origin, seen.head.size, seen.head.root)
            )
        if seen is not None and not _continues(reader, seen.head, found.head):
            was = Found(seen.head, seen.note, format_vkey(seen.epoch.verifier))
            raise contradiction(reader, was, found, self.state_dir)

    def keep(self, pin: Pin, epoch: Epoch, note: bytes) -> None:
        """Remember the head in *note*, of *epoch*; that it cannot be written is no failure."""
        words = f"epoch {epoch.number} {epoch.first} {format_vkey(epoch.verifier)}"
        rest = f"pin {format_vkey(pin.verifier)}\n{words}\n\n".encode() + note
        state_files.keep(self.file, _TITLE, rest)

    def _recall(self) -> Remembered | None:
        try:
            return _parse(state_files.read(self.file, _TITLE))
        except FileNotFoundError:
            self.why = "no head of it was seen before"
        except OSError as error:
            self.why = f"{self.file}: {error.strerror}"
        except (ValueError, Invalid):
            self.why = f"{self.file} is not what was written"
        return None


def contradiction(reader: Reader, was: Found, found: Found, state_dir: Path | None) -> Problem:
    """Return the Problem that *found* does not continue *was*, with the evidence written.

    It is ``ledger_truncated`` or ``ledger_forked``, or ``ledger_replaced`` for another origin.
    """
    kind = _kind(was.head, found.head)
    shown = evidence.shown(reader, kind.code, (was.vkey, was.note), (found.vkey, found.note))
    file = evidence.written(state_dir, kind.code, shown) if state_dir is not None else None
    where = f"; evidence: {file}" if file else ""
    if kind is LEDGER_REPLACED:
        return kind(f"{found.head.origin} instead of {was.head.origin}{where}")
    return kind(f"it was seen with {was.head.size} events and has {found.head.size}{where}")


def _kind(was: Head, found: Head) -> ProblemKind:
    if was.origin != found.origin:
        return LEDGER_REPLACED
    return LEDGER_TRUNCATED if found.size < was.size else LEDGER_FORKED


def _continues(reader: Reader, seen: Head, head: Head) -> bool:
    if (seen.origin, seen.size) == (head.origin, head.size):
        return seen.root == head.root
    try:
        check_continues(reader, seen, head)
    except Invalid:
        return False
    return seen.origin == head.origin


def _parse(data: bytes) -> Remembered:
    """Return what *data* holds; ValueError or Invalid if it was damaged."""
    top, _, note = data.partition(b"\n\n")
    pin, epoch = top.decode("ascii").split("\n")
    _, number, first, vkey = epoch.split(" ")
    verifier = parse_vkey(vkey)
    head = parse_head(note.decode().partition("\n\n")[0] + "\n")
    return Remembered(
        pin.removeprefix("pin "), Epoch(int(number), verifier, int(first)), head, note
    )
