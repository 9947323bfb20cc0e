"""Appending: an event is encoded, committed to, linked into both chains and the tree, and stored.

All of one transaction's events end in one signed head. Nothing here is kept between transactions.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final

from memprove.ledger.domain import canonical
from memprove.ledger.domain.events import Event, KeyRotated
from memprove.ledger.domain.record import LEAF_VERSION, Actor, Leaf, Record, encode, kind_of
from memprove.ledger.problems import EVENT_TOO_LARGE, INTERNAL, LEDGER_DAMAGED, TEXT_INVALID
from memprove.ledger.storage.interface import Reader, StoredEvent, StoredHead, StoredNode, Writer
from memprove.ledger.tlog import merkle
from memprove.ledger.tlog.head import Head, sign_head
from memprove.ledger.tlog.note import Signer

COMMITMENT: Final = b"memprove payload v1\n"
SALT_BYTES: Final = 16


def commitment(salt: bytes, payload: bytes) -> str:
    """Return what a leaf holds of its payload: SHA-256 over a prefix, the salt and the payload."""
    return sha256(COMMITMENT + salt + payload).hexdigest()


def commitments(
    salts: Sequence[bytes | None], payloads: Sequence[bytes | None]
) -> list[str] | None:
    """Return what leaves hold of many *payloads*; None if one or its salt cannot be right."""
    try:
        if {SALT_BYTES} != set(map(len, salts)):  # type: ignore[arg-type]  # None has no length
            return None
        both = zip(salts, payloads, strict=True)
        return [sha256(COMMITMENT + salt + payload).hexdigest() for salt, payload in both]  # type: ignore[operator]
    except TypeError:
        return None


def fits(committed: str, salt: bytes | None, payload: bytes | None) -> bool:
    """Tell whether *payload* is there and is what a leaf *committed* to.

    The salt has one length: the commitment does not say where it ends and the payload begins.
    """
    if salt is None or payload is None or len(salt) != SALT_BYTES:
        return False
    return commitment(salt, payload) == committed


def node_reader(reader: Reader) -> merkle.NodeReader:
    """Return how the tree reads its nodes from *reader*; a missing one is damage."""

    def read(level: int, index: int) -> bytes:
        digest = reader.node(level, index)
        if digest is None:
            raise LEDGER_DAMAGED(f"tree node {level}/{index} is missing")
        return digest

    return read


class Appender:
    """The events of one transaction. *random* gives bytes, *project* keeps the small tables."""

    def __init__(
        self,
        writer: Writer,
        *,
        actor: Actor,
        at: int,
        random: Callable[[int], bytes],
        project: Callable[[Writer, Record], None],
    ) -> None:
        self._writer = writer
        self._actor = actor
        self._at = at
        self._random = random
        self._project = project
        self.records: list[Record] = []
        self._closed = False

    @property
    def size(self) -> int:
        """Return how many events the log holds with those of this transaction."""
        return self._writer.size()

    def append(
        self,
        event: Event,
        *,
        stream: str,
        workspace: str | None = None,
        labels: Iterable[str] = (),
        session: int | None = None,
    ) -> Record:
        """Add *event* at the end of the log and of *stream*. A rotation of keys is the last one."""
        if self._closed:
            raise INTERNAL("an event after the rotation of keys, in the same commit")
        kind, version = kind_of(event)
        payload = _payload(event)
        salt = self._random(SALT_BYTES)
        size = self._writer.size()
        tail = self._writer.stream_tail(stream)
        leaf = Leaf(
            v=LEAF_VERSION,
            seq=size + 1,
            kind=kind,
            kind_v=version,
            at=self._at,
            actor=self._acting(session),
            labels=tuple(labels),
            workspace=workspace,
            stream=stream,
            stream_seq=tail.stream_seq + 1 if tail else 1,
            stream_prev=self._leaf_hash(tail.seq) if tail else None,
            payload=commitment(salt, payload),
            prev=self._leaf_hash(size) if size else None,
        )
        self._store(leaf, payload, salt)
        self._closed = isinstance(event, KeyRotated)
        record = Record(leaf, event)
        self._project(self._writer, record)
        self.records.append(record)
        return record

    def seal(self, signer: Signer, *, keep: bool = False) -> StoredHead:
        """Sign the head over everything appended."""
        size = self._writer.size()
        root = merkle.root(size, node_reader(self._writer))
        head = Head(signer.verifier.name, size, root)
        stored = StoredHead(size, sign_head(head, signer), keep or self._closed)
        self._writer.put_head(stored)
        return stored

    def _store(self, leaf: Leaf, payload: bytes, salt: bytes) -> None:
        data = encode(leaf)
        if len(data) > canonical.MAX_LEAF:
            raise EVENT_TOO_LARGE(f"leaf of {len(data)} bytes")
        nodes = merkle.nodes_completed(
            leaf.seq - 1, merkle.leaf_hash(data), node_reader(self._writer)
        )
        self._writer.append(
            StoredEvent(leaf.seq, leaf.stream, leaf.stream_seq, leaf.kind, data, payload, salt),
            [StoredNode(*node) for node in nodes],
        )

    def _leaf_hash(self, seq: int) -> str:
        return node_reader(self._writer)(0, seq - 1).hex()

    def _acting(self, session: int | None) -> Actor:
        known = self._actor
        return Actor(
            installation=known.installation,
            token=known.token,
            role=known.role,
            face=known.face,
            agent_env=known.agent_env,
            session=session,
            client=known.client,
            request=known.request,
        )


def _payload(event: Event) -> bytes:
    try:
        payload = encode(event)
    except canonical.NotCanonical as error:
        raise TEXT_INVALID(error) from None
    if len(payload) > canonical.MAX_PAYLOAD:
        raise EVENT_TOO_LARGE(f"payload of {len(payload)} bytes, at most {canonical.MAX_PAYLOAD}")
    return payload
