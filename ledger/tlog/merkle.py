"""The Merkle tree of RFC 6962, over SHA-256.

A tree over n leaves is its maximal complete subtrees, the **peaks**, from left to right: one of
2**level leaves for each bit of n. Leaves are numbered from 0. A **node** is the hash of a complete
subtree and has the place (level, index): it covers the leaves index * 2**level and after, 2**level
of them; level 0 holds the leaf hashes. Nodes never change once complete, so they can be stored; the
root and every proof take O(log n) of them.

    leaf hash = SHA-256(0x00 || record)
    node hash = SHA-256(0x01 || left || right)

Proofs are lists of hashes from the leaves upward, as in RFC 6962 section 2.1; they are checked as
in RFC 9162 section 2.1. No proof binds a size: take sizes and roots from signed heads alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Protocol, TypeAlias

from memprove.ledger.tlog import Invalid

HASH_SIZE = 32
EMPTY_ROOT = sha256(b"").digest()
"""The root of the tree without leaves, RFC 6962 section 2.1."""

Node: TypeAlias = tuple[int, int, bytes]
"""Level, index and hash of a complete subtree."""


class ProofInvalid(Invalid):
    """A proof that does not lead to the root it is held against."""


class NodeReader(Protocol):
    """Where nodes are kept."""

    def __call__(self, level: int, index: int) -> bytes:
        """Return the hash of the complete subtree at (*level*, *index*).

        It is asked only for nodes that are complete in the tree at hand, and raises what it likes
        for one that is missing.
        """
        ...


def leaf_hash(record: bytes) -> bytes:
    """Return the hash of the leaf that holds *record*."""
    return sha256(b"\x00" + record).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node over *left* and *right*."""
    return sha256(b"\x01" + left + right).digest()


def root_of_leaves(leaves: Sequence[bytes]) -> bytes:
    """Return the root over the leaf hashes *leaves*: the definition, RFC 6962 section 2.1."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else EMPTY_ROOT
    split = _split(len(leaves))
    return node_hash(root_of_leaves(leaves[:split]), root_of_leaves(leaves[split:]))


def root(size: int, read: NodeReader) -> bytes:
    """Return the root of the tree over the first *size* leaves."""
    return _fold(_peaks(0, size, read))


def nodes_completed(size: int, leaf: bytes, read: NodeReader) -> list[Node]:
    """Return the nodes that the leaf hash *leaf* completes in a tree of *size* leaves.

    These are to be stored when leaf number *size* is appended: the leaf itself, then its completed
    parents upward.
    """
    level, index, digest = 0, size, leaf
    nodes = [(level, index, digest)]
    while index & 1:
        digest = node_hash(read(level, index - 1), digest)
        level, index = level + 1, index >> 1
        nodes.append((level, index, digest))
    return nodes


class Frontier:
    """A growing tree of which only the peaks are held: leaf hashes in, root out.

    Made for the verification of a whole log, in O(log n) memory.
    """

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    @classmethod
    def resume(cls, size: int, read: NodeReader) -> "Frontier":
        """Return the frontier of the first *size* leaves, from stored nodes.

        They are believed: compare ``root()`` with a verified head's before you go on.
        """
        frontier = cls()
        frontier.size = size
        frontier._peaks = list(_peaks(0, size, read))
        return frontier

    def append(self, leaf: bytes) -> list[Node]:
        """Add the leaf hash *leaf* and return the nodes it completes, the leaf first."""
        nodes = nodes_completed(self.size, leaf, lambda _level, _index: self._peaks.pop())
        self._peaks.append(nodes[-1][2])
        self.size += 1
        return nodes

    def extend(self, leaves: Sequence[bytes]) -> list[list[bytes]]:
        """Add the leaf hashes *leaves* and return the nodes they complete, level by level."""
        completed: list[list[bytes]] = []
        odd: list[bytes] = []
        level, nodes = 0, list(leaves)
        while nodes:
            completed.append(nodes)
            row = [self._peaks.pop(), *nodes] if self.size >> level & 1 else nodes
            if len(row) & 1:
                odd.append(row[-1])
            pairs = zip(row[::2], row[1::2], strict=False)  # the odd one waits for its right one
            nodes = [sha256(b"\x01%b%b" % pair).digest() for pair in pairs]
            level += 1
        self._peaks += reversed(odd)
        self.size += len(leaves)
        return completed

    def root(self) -> bytes:
        """Return the root over the leaves so far."""
        return _fold(self._peaks)


def prove_inclusion(index: int, size: int, read: NodeReader) -> list[bytes]:
    """Return the audit path of leaf *index* in the tree of *size* leaves, RFC 6962 section 2.1.1.

    Raises ValueError when there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    start, end = 0, size
    path: list[bytes] = []
    while end - start > 1:
        split = start + _split(end - start)
        if index < split:
            path.append(_subroot(split, end, read))
            end = split
        else:
            path.append(_subroot(start, split, read))
            start = split
    return path[::-1]


def check_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> None:
    """Check that the leaf hash *leaf* is number *index* of the *size* leaves under *root*.

    RFC 9162 section 2.1.3.2. Raises ProofInvalid.
    """
    _check_hashes(leaf, root, *proof)
    if not 0 <= index < size:
        raise ProofInvalid(f"a tree of {size} leaves has no leaf {index}")
    place, last, digest = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise ProofInvalid("the proof is too long")
        if place & 1 or place == last:
            digest = node_hash(sibling, digest)
            place, last = _climb(place, last)
        else:
            digest = node_hash(digest, sibling)
        place, last = place >> 1, last >> 1
    if last != 0:
        raise ProofInvalid("the proof is too short")
    if digest != root:
        raise ProofInvalid(f"the proof leads to the root {digest.hex()}, not {root.hex()}")


def prove_consistency(old: int, new: int, read: NodeReader) -> list[bytes]:
    """Return the proof that the tree of *new* leaves continues that of *old*.

    RFC 6962 section 2.1.2; empty when *old* is 0 or equals *new*. Raises ValueError when *old* is
    not within 0..*new*.
    """
    if not 0 <= old <= new:
        raise ValueError(f"a tree of {new} leaves does not continue one of {old}")
    if old == 0:
        return []
    start, end = 0, new
    proof: list[bytes] = []
    while old < end:
        split = start + _split(end - start)
        if old <= split:
            proof.append(_subroot(split, end, read))
            end = split
        else:
            proof.append(_subroot(start, split, read))
            start = split
    if start > 0:  # else the last subtree is the whole old tree, whose root the checker has
        proof.append(_subroot(start, end, read))
    return proof[::-1]


def check_consistency(
    old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes
) -> None:
    """Check that the *new* leaves under *new_root* begin with the *old* leaves under *old_root*.

    RFC 9162 section 2.1.4.2. Every tree continues the empty one, by the empty proof, and *old_root*
    must then be EMPTY_ROOT. Raises ProofInvalid.
    """
    _check_hashes(old_root, new_root, *proof)
    if not 0 <= old <= new:
        raise ProofInvalid(f"a tree of {new} leaves does not continue one of {old}")
    if old in (0, new):
        _check_trivial_consistency(old, new, proof, old_root, new_root)
        return
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        raise ProofInvalid("the proof is too short")
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old_digest = new_digest = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise ProofInvalid("the proof is too long")
        if place & 1 or place == last:
            old_digest = node_hash(sibling, old_digest)
            new_digest = node_hash(sibling, new_digest)
            place, last = _climb(place, last)
        else:
            new_digest = node_hash(new_digest, sibling)
        place, last = place >> 1, last >> 1
    if last != 0:
        raise ProofInvalid("the proof is too short")
    if old_digest != old_root:
        raise ProofInvalid(f"the proof leads to the old root {old_digest.hex()}")
    if new_digest != new_root:
        raise ProofInvalid(f"the proof leads to the new root {new_digest.hex()}")


def _check_trivial_consistency(
    old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes
) -> None:
    if proof:
        raise ProofInvalid("the proof is too long")
    if old == 0 and old_root != EMPTY_ROOT:
        raise ProofInvalid("the old root is not that of the empty tree")
    if old == new and old_root != new_root:
        raise ProofInvalid(f"two roots at size {new}: {old_root.hex()} and {new_root.hex()}")


def _check_hashes(*hashes: bytes) -> None:
    if any(len(digest) != HASH_SIZE for digest in hashes):
        raise ProofInvalid(f"a hash has not {HASH_SIZE} bytes")


def _climb(place: int, last: int) -> tuple[int, int]:
    """Skip the levels on which the rightmost node has no sibling."""
    while place and not place & 1:
        place, last = place >> 1, last >> 1
    return place, last


def _split(width: int) -> int:
    """Return the largest power of two below *width*, which is at least 2."""
    return 1 << ((width - 1).bit_length() - 1)


def _peaks(start: int, end: int, read: NodeReader) -> Iterator[bytes]:
    """Yield the maximal complete subtrees of the leaves *start*..*end*, from left to right.

    *start* is a multiple of the widest one's number of leaves.
    """
    while start < end:
        level = (end - start).bit_length() - 1
        yield read(level, start >> level)
        start += 1 << level


def _fold(peaks: Iterable[bytes]) -> bytes:
    """Return the root over *peaks*; the smaller ones, on the right, lie deeper."""
    hashes = list(peaks)
    if not hashes:
        return EMPTY_ROOT
    digest = hashes.pop()
    while hashes:
        digest = node_hash(hashes.pop(), digest)
    return digest


def _subroot(start: int, end: int, read: NodeReader) -> bytes:
    return _fold(_peaks(start, end, read))
