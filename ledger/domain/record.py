"""An event as it stands in the log: its leaf, and its payload as a value.

The leaf is what is hashed into the tree. It names who, when, where and the labels that the event
assigned, and commits to the payload, which is kept apart so that it can be erased later while every
hash still verifies.
"""

from collections.abc import Iterable
from typing import Annotated, Final

import msgspec

from memprove.ledger.domain import canonical
from memprove.ledger.domain.events import KINDS, Event

LEAF_VERSION: Final = 1

Label = Annotated[str, msgspec.Meta(pattern=r"\A(?:[a-z]{1,2}[1-9][0-9]{0,8}|x[a-z0-9]{6})\Z")]


class Actor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Who wrote an event.

    *client* is the client session, hashed; *request* tells a client's retry from a new request;
    *agent_env*: an agent's environment was seen around the command.
    """

    installation: str
    token: str
    role: str
    face: str
    agent_env: bool = False
    session: int | None = None
    client: str = ""
    request: str = ""


class Leaf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What is hashed: RFC 6962 leaf input. Hashes are lower-case hex; *at* is in milliseconds."""

    v: int
    seq: int
    kind: str
    kind_v: int
    at: int
    actor: Actor
    stream: str
    stream_seq: int
    payload: str
    prev: str | None = None
    stream_prev: str | None = None
    workspace: str | None = None
    labels: tuple[Label, ...] = ()


class Link(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What of a leaf binds it to its place: decoded alone, it takes a third of the time."""

    v: int
    seq: int
    kind: str
    stream: str
    stream_seq: int
    payload: str
    prev: str | None = None
    stream_prev: str | None = None


class Unknown(msgspec.Struct, frozen=True):
    """A payload of a kind or version that this program does not know."""

    kind: str
    kind_v: int


class Erased(msgspec.Struct, frozen=True):
    """A payload that was erased."""


class Erasure(msgspec.Struct, frozen=True):
    """What erased a payload: the number of that event, what it erased and why."""

    by: int
    fields: tuple[str, ...]
    reason: str
    replaces: tuple[int, ...] = ()


class Record(msgspec.Struct, frozen=True, gc=False):
    """One event of the log. With an *erasure*, the event is what survives of it."""

    leaf: Leaf
    event: Event | Unknown | Erased
    erasure: Erasure | None = None

    @property
    def seq(self) -> int:
        """Return its number in the log, from 1."""
        return self.leaf.seq

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels it assigned."""
        return self.leaf.labels


class Draft(msgspec.Struct, frozen=True):
    """An event to append, and the letters of the labels that it assigns, in order.

    *given* are labels that were assigned before: those of spooled Runs.
    """

    event: Event
    assigns: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


_KIND_OF: Final = {struct: (kind, version) for kind, (struct, version) in KINDS.items()}
_LEAF: Final = msgspec.json.Decoder(Leaf)
_LINK: Final = msgspec.json.Decoder(Link)
_PAYLOAD: Final = {kind: msgspec.json.Decoder(struct) for kind, (struct, _) in KINDS.items()}


def kind_of(event: Event) -> tuple[str, int]:
    """Return the name and version of the kind of *event*."""
    return _KIND_OF[type(event)]


def encode(value: Leaf | Event) -> bytes:
    """Return the canonical bytes of *value*, which are hashed, signed and stored."""
    return canonical.encode(value)


def decode_leaf(data: bytes) -> Leaf:
    """Return the leaf in *data*; ``canonical.NotCanonical`` if it is none."""
    try:
        return _LEAF.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise canonical.NotCanonical(str(error)) from None


def decode_links(leaves: Iterable[bytes]) -> list[Link]:
    """Return what binds *leaves* to their places; ``canonical.NotCanonical`` if one is no leaf."""
    try:
        return list(map(_LINK.decode, leaves))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise canonical.NotCanonical(str(error)) from None


def decode(leaf: Leaf, payload: bytes | None) -> Record:
    """Return the record of *leaf* and the stored bytes of its payload (None: erased)."""
    if payload is None:
        return Record(leaf, Erased())
    known = KINDS.get(leaf.kind)
    if known is None or not 1 <= leaf.kind_v <= known[1]:
        return Record(leaf, Unknown(leaf.kind, leaf.kind_v))
    try:
        return Record(leaf, _PAYLOAD[leaf.kind].decode(payload))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise canonical.NotCanonical(str(error)) from None
