"""Erasing: the tombstone is appended, and what it took away leaves events, blobs and tables."""

from collections.abc import Iterable
from dataclasses import dataclass

from memprove.ledger import projections
from memprove.ledger.domain.events import Event, PayloadErased
from memprove.ledger.domain.record import Record, encode
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.log.append import Appender
from memprove.ledger.storage.interface import Reader, Writer


@dataclass(frozen=True, slots=True)
class PayloadEraser:
    """What erases payloads in one transaction."""

    writer: Writer
    appender: Appender

    def erase(self, record: Record, left: Event, fields: tuple[str, ...], reason: str) -> Record:
        """Erase the payload of *record*, of which *left* survives, and return the tombstone.

        Earlier tombstones of the event give way to this one: they kept what has to go now.
        """
        before, leaf = record.erasure, record.leaf
        tombstone = PayloadErased(
            event=record.seq,
            fields=(*(before.fields if before else ()), *fields),
            reason=reason,
            kept=encode(left).decode(),
            replaces=(*before.replaces, before.by) if before else (),
        )
        appended = self.appender.append(tombstone, stream=leaf.stream, workspace=leaf.workspace)
        for seq in (record.seq, *tombstone.replaces):
            self.writer.erase(seq)
        projections.erase(self.writer, Record(leaf, left))
        self._drop_blobs(set(blobs_of(record.event)) - set(blobs_of(left)))
        return appended

    def erase_again(self, record: Record) -> None:
        """Erase what was erased before, in case its bytes are not out of the files yet."""
        self.writer.erase(record.seq)

    def _drop_blobs(self, digests: Iterable[str]) -> None:
        """Drop those of *digests* that no payload names any more."""
        missing = {digest.encode(): digest for digest in digests}
        for payload in _payloads(self.writer) if missing else ():
            for named in [needle for needle in missing if needle in payload]:
                del missing[named]
        for digest in missing.values():
            self.writer.drop_blob(digest)


def _payloads(reader: Reader) -> Iterable[bytes]:
    """Return all payloads: of kinds that this program does not know, too."""
    return (event.payload for event in reader.events() if event.payload is not None)
