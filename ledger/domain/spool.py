r"""Spooled Runs: what a shell that cannot write the ledger keeps in the Workspace until one can.

A spool file is a few lines. The first is canonical JSON (``SpooledRun``), each further one a
blob that it names, in base64, and the last is HMAC-SHA256 in hex, under the Session's spool key,
over a prefix and all that stands before it (RFC 2104). The key lies beside the files; the log holds
its SHA-256. So a file shows that it came from the Session's Workspace, not that the Run happened.
"""

import hmac
import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from hashlib import sha256
from typing import Final

import msgspec

from memprove.ledger.domain import canonical
from memprove.ledger.domain.events import RunEnded, RunStarted
from memprove.ledger.domain.run import blobs_of

KEY_BYTES: Final = 32
MOST_BYTES: Final = 64 * 1024 * 1024
"""The most that all files of one adoption may have, and so each of them."""

_PREFIX: Final = b"memprove spool v1\n"
_KEY: Final = re.compile(r"memprove-spool ([0-9a-f]{64}) (0|[1-9][0-9]{0,8})\n", re.ASCII)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


class SpoolInvalid(ValueError):
    """A spool file, or a key, that is not as it was written."""


class SpooledRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Run that could not be recorded, number *count* of its Session; *at* is in milliseconds.

    *started* None: only the end is kept, of a Run whose start the log has as *label*.
    """

    v: int
    session: int
    count: int
    label: str
    at: int
    started: RunStarted | None
    ended: RunEnded


class SpoolKey(msgspec.Struct, frozen=True):
    """The key of one Session's spool; *count* is that of the last Run that was adopted."""

    key: bytes
    count: int = 0

    @property
    def digest(self) -> str:
        """Return what the log holds of it."""
        return sha256(self.key).hexdigest()


def digest(blob: bytes) -> str:
    """Return the name of *blob*."""
    return sha256(blob).hexdigest()


def new_label(random: Callable[[int], bytes]) -> str:
    """Return a new label: ``x`` and six letters or digits."""
    return "x" + "".join(_LETTERS[byte % len(_LETTERS)] for byte in random(6))


def encode_key(key: SpoolKey) -> bytes:
    """Return the file of *key*."""
    return f"memprove-spool {key.key.hex()} {key.count}\n".encode()


def decode_key(data: bytes) -> SpoolKey:
    """Return the key in *data*; raises SpoolInvalid."""
    match = _KEY.fullmatch(data.decode("ascii", "replace"))
    if match is None:
        raise SpoolInvalid("it holds no spool key")
    return SpoolKey(bytes.fromhex(match[1]), int(match[2]))


def encode(run: SpooledRun, blobs: dict[str, bytes], key: bytes) -> bytes:
    """Return the spool file of *run* and the *blobs* that it names."""
    named = [b64encode(blobs[digest]) for digest in _named(run)]
    body = b"\n".join([canonical.encode(run), *named, b""])
    return body + _mac(key, body) + b"\n"


def decode(data: bytes, key: bytes) -> tuple[SpooledRun, list[bytes]]:
    """Return the Run in *data* and its blobs; raises SpoolInvalid for all but what was written."""
    lines = data.split(b"\n")
    if len(lines) < 3 or lines[-1]:
        raise SpoolInvalid("it is cut off")
    body = data[: len(data) - len(lines[-2]) - 1]
    if not hmac.compare_digest(_mac(key, body), lines[-2]):
        raise SpoolInvalid("it was not written with this Session's key")
    try:
        run = msgspec.json.decode(lines[0], type=SpooledRun)
        blobs = [b64decode(line, validate=True) for line in lines[1:-2]]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NotBase64) as error:
        raise SpoolInvalid(f"it does not decode: {type(error).__name__}") from None
    if list(map(digest, blobs)) != _named(run) or run.v != 1:
        raise SpoolInvalid("its blobs are not those that it names")
    return run, blobs


def _named(run: SpooledRun) -> list[str]:
    """Return the digests of the blobs of *run*, each once."""
    started = blobs_of(run.started) if run.started is not None else []
    return list(dict.fromkeys([*started, *blobs_of(run.ended)]))


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.new(key, _PREFIX + body, sha256).hexdigest().encode()
