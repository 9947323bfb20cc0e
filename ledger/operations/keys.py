"""The signing key and what it signed last."""

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from memprove.ledger.domain.events import KeyRotated
from memprove.ledger.log.report import SignedHead
from memprove.ledger.operations.base import Operation, Work


class Rotated(msgspec.Struct, frozen=True, kw_only=True):
    """The key that signs from the next event on; the one before is erased."""

    epoch: int
    key: str
    seq: int


@dataclass(frozen=True, slots=True)
class RotateKey(Operation[Rotated]):
    """End the key epoch: name the next signing key, and erase the one that signs this."""

    sends: ClassVar = ("rotateKey",)

    def run(self, work: Work) -> Rotated:
        """Append the rotation."""
        record = work.rotate_key()
        assert isinstance(record.event, KeyRotated)
        return Rotated(epoch=record.event.epoch, key=record.event.key, seq=record.seq)


@dataclass(frozen=True, slots=True)
class ReadHead(Operation[SignedHead]):
    """Read the newest signed head."""

    sends: ClassVar = ("verifyLedger",)

    def run(self, work: Work) -> SignedHead:
        """Return it as it was checked."""
        return work.head()
