"""Blobs as they are believed: what the digest in an event names, decompressed up to a limit."""

from hashlib import sha256
from typing import Protocol

from memprove.ledger.problems import LEDGER_DAMAGED


class Blobs(Protocol):
    """Where blobs are kept."""

    def blob(self, digest: str) -> bytes | None:
        """Return the blob whose SHA-256 is *digest* (hex)."""
        ...


def read_blob(reader: Blobs, digest: str, most: int) -> bytes:
    """Return what the blob *digest*, which an event names, holds: at most *most* bytes.

    Raises ``ledger_damaged`` unless it is there, is that blob, and decompresses to as much.
    """
    import zlib  # late: most commands read none

    data = reader.blob(digest)
    if data is None:
        raise LEDGER_DAMAGED(f"blob {digest} is missing")
    if sha256(data).hexdigest() != digest:
        raise LEDGER_DAMAGED(f"blob {digest} is another one")
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(data, most + 1)
    except zlib.error as error:
        raise LEDGER_DAMAGED(f"blob {digest}: {error}") from None
    if len(plain) > most:
        raise LEDGER_DAMAGED(f"blob {digest} holds more than {most} bytes")
    if not stream.eof or stream.unused_data:
        raise LEDGER_DAMAGED(f"blob {digest} does not end where its bytes do")
    return plain
