"""The head up to which the log was verified, kept beside the remembered one.

``verify`` alone moves it, and only when all was well; what it finds takes it away. The next one
goes on from there, unless the last that read everything is old::

    memprove verified v1 <SHA-256 of the rest>
    pin <line of the trust file>
    epoch <number> <first event> <vkey>
    full <size at the last full verification> <when, in milliseconds>
    <empty line>
    <the head, a signed note>
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from memprove.ledger.log import state_files
from memprove.ledger.log.epochs import Epoch, Pin
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.trust import format_pin
from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.head import Head, open_head
from memprove.ledger.tlog.note import format_vkey, parse_vkey

_TITLE: Final = "memprove verified v1"
OLDEST_MS: Final = 24 * 60 * 60 * 1000
MOST_NEW: Final = 100_000
"""Events after a full verification, from which on the next one is full again."""


class Verified(msgspec.Struct, frozen=True):
    """A head of *epoch* under which all was well.

    *full* and *at*: how many events the log had when all of it was read last, and when that was.
    """

    pin: str
    epoch: Epoch
    head: Head
    note: bytes
    full: int
    at: int

    def serves(self, pin: Pin, size: int, now: int) -> bool:
        """Tell whether a log of *size* events under *pin* may be verified from here on."""
        if pin.until is not None:
            return False
        is_young = 0 <= now - self.at < OLDEST_MS and size - self.full < MOST_NEW
        return is_young and self.pin == format_pin(pin) and self.head.size <= size


def recall(memory: Memory) -> Verified | None:
    """Return what is kept of the log; None if there is nothing that can be read."""
    try:
        return _parse(state_files.read(_file(memory), _TITLE))
    except (OSError, ValueError, Invalid):
        return None


def keep(memory: Memory, verified: Verified) -> None:
    """Keep *verified*; that it cannot be written is no failure."""
    epoch = verified.epoch
    top = (
        f"pin {verified.pin.strip()}",
        f"epoch {epoch.number} {epoch.first} {format_vkey(epoch.verifier)}",
        f"full {verified.full} {verified.at}",
    )
    rest = "\n".join(top).encode() + b"\n\n" + verified.note
    beside = f".{secrets.token_hex(4)}"  # several may verify at once
    state_files.keep(_file(memory), _TITLE, rest, beside=beside)


def forget(memory: Memory) -> None:
    """Let the next verification be a full one."""
    with suppress(OSError):
        os.unlink(_file(memory))


def _file(memory: Memory) -> Path:
    return memory.state_dir / "verified" / memory.file.name


def _parse(data: bytes) -> Verified:
    """Return what *data* holds. Raises ValueError or Invalid."""
    top, _, note = data.partition(b"\n\n")
    pin, epochs, full = top.decode("ascii").split("\n")
    _, number, first, vkey = epochs.split(" ")
    _, size, at = full.split(" ")
    epoch = Epoch(int(number), parse_vkey(vkey), int(first))
    head = open_head(note, epoch.verifier)
    return Verified(f"{pin.removeprefix('pin ')}\n", epoch, head, note, int(size), int(at))
