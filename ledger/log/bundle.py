"""A bundle: one Task for a third party, who has neither the ledger nor its configuration.

It is one JSON document in canonical form, compressed with gzip (RFC 1952). All text in it that is
hashed or signed stands as text, byte for byte as in the log:

    bundle      1, the version of this form
    events      the Task's stream, whole and in order: leaf, payload, salt of each
    inclusion   the proof that the last of these is in the tree of the head
    head        the newest signed head
    tip         the log's last leaf with its proof: it says when the head was signed
    epochs      for each key before the head's, how it handed over to the next (see ``Handover``)
    origins     how each origin but the first began (see ``Beginning``)
    since       earlier heads' sizes, each with the proof that the head continues them
    blobs       what the events name and a judge needs, by digest, in base64

There is one spelling of a bundle: decoding encodes again and compares. So duplicate or unknown
keys, another order, white space, trailing bytes are refused. ``docs/log-format.md`` specifies it.
"""

import zlib
from typing import Annotated, Final, TypeVar

import msgspec

from memprove.ledger.domain.canonical import MAX_LEAF, MAX_PAYLOAD
from memprove.ledger.problems import BUNDLE_INVALID, BUNDLE_TOO_LARGE

VERSION: Final = 1
MOST_COMPRESSED: Final = 64 * 1024 * 1024
MOST_BYTES: Final = 256 * 1024 * 1024
MOST_EVENTS: Final = 200_000
MOST_EPOCHS: Final = 100_000
MOST_BLOBS: Final = 400_000
MOST_ORIGINS: Final = 1_000
MOST_SINCE: Final = 100
_MOST_NOTE: Final = 4 * 1024
_MOST_PROOF: Final = 128  # hashes: a tree of 2**63 leaves needs fewer
_GZIP: Final = 31  # zlib's word for a gzip header, a 32 KiB window, a checksum at the end

Hash = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Proof = Annotated[tuple[Hash, ...], msgspec.Meta(max_length=_MOST_PROOF)]
LeafText = Annotated[str, msgspec.Meta(max_length=MAX_LEAF)]
PayloadText = Annotated[str, msgspec.Meta(max_length=MAX_PAYLOAD)]
SaltText = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
NoteText = Annotated[str, msgspec.Meta(max_length=_MOST_NOTE)]


class _Part(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A part in which an unknown key is a fault."""


class EventText(_Part, frozen=True):
    """One event. Without payload and salt: they were erased, and a later event says so."""

    leaf: LeafText
    payload: PayloadText | None = None
    salt: SaltText | None = None


class Tip(_Part, frozen=True):
    """The log's last leaf, and its inclusion in the tree of the head."""

    leaf: LeafText
    inclusion: Proof


class Handover(_Part, frozen=True):
    """How one key handed over to the next.

    *event* names the next key; *head*, signed by the old key, has it as its last leaf, which
    *inclusion* proves; *consistency* leads from *head* to the next one, at last to the newest.
    """

    event: EventText
    head: NoteText
    inclusion: Proof
    consistency: Proof


class Beginning(_Part, frozen=True):
    """How the log went on under another origin: *event* says so, *inclusion* is in the head's tree.

    *consistency* leads to that head from the end of the origin before.
    """

    event: EventText
    inclusion: Proof
    consistency: Proof


class Since(_Part, frozen=True):
    """The proof that the bundle's head continues the one of *size*."""

    size: int
    consistency: Proof


class Bundle(_Part, frozen=True):
    """The document."""

    bundle: int
    events: Annotated[tuple[EventText, ...], msgspec.Meta(min_length=1, max_length=MOST_EVENTS)]
    inclusion: Proof
    head: NoteText
    tip: Tip
    epochs: Annotated[tuple[Handover, ...], msgspec.Meta(max_length=MOST_EPOCHS)] = ()
    origins: Annotated[tuple[Beginning, ...], msgspec.Meta(max_length=MOST_ORIGINS)] = ()
    since: Annotated[tuple[Since, ...], msgspec.Meta(max_length=MOST_SINCE)] = ()
    blobs: Annotated[dict[Hash, str], msgspec.Meta(max_length=MOST_BLOBS)] = {}


class _Version(msgspec.Struct, frozen=True):
    bundle: int


_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_DECODER: Final = msgspec.json.Decoder(Bundle)
_VERSION: Final = msgspec.json.Decoder(_Version)
_DecodedT = TypeVar("_DecodedT")


def encode(bundle: Bundle) -> bytes:
    """Return the bytes of *bundle*; raises ``bundle_too_large``.

    The same bundle gives the same bytes with the same zlib: there is no time in its header.
    """
    plain = _ENCODER.encode(bundle)
    if len(plain) > MOST_BYTES or len(bundle.events) > MOST_EVENTS:
        raise BUNDLE_TOO_LARGE(f"{len(plain)} bytes, {len(bundle.events)} events")
    compressor = zlib.compressobj(wbits=_GZIP)
    data = compressor.compress(plain) + compressor.flush()
    if len(data) > MOST_COMPRESSED:
        raise BUNDLE_TOO_LARGE(f"{len(data)} bytes, compressed")
    return data


def decode(data: bytes) -> Bundle:
    """Return the bundle in *data*; raises ``bundle_invalid``. What it says is not verified yet."""
    plain = _expand(data)
    version = _decoded(_VERSION, plain).bundle
    if version != VERSION:
        raise BUNDLE_INVALID(f"it is of version {version}, and this program reads {VERSION}")
    bundle = _decoded(_DECODER, plain)
    if _ENCODER.encode(bundle) != plain:
        raise BUNDLE_INVALID("it is not in canonical form")
    return bundle


def _expand(data: bytes) -> bytes:
    if len(data) > MOST_COMPRESSED:
        raise BUNDLE_INVALID(f"it is larger than {MOST_COMPRESSED} bytes")
    stream = zlib.decompressobj(wbits=_GZIP)
    try:
        plain = stream.decompress(data, MOST_BYTES + 1)
    except zlib.error as error:
        raise BUNDLE_INVALID(f"it does not decompress: {error}") from None
    if len(plain) > MOST_BYTES:
        raise BUNDLE_INVALID(f"it decompresses to more than {MOST_BYTES} bytes")
    if not stream.eof or stream.unused_data:
        raise BUNDLE_INVALID("it does not end where its bytes do")
    return plain


def _decoded(decoder: "msgspec.json.Decoder[_DecodedT]", plain: bytes) -> _DecodedT:
    try:
        return decoder.decode(plain)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BUNDLE_INVALID(f"it does not decode: {error}") from None
