"""The check of stored tree nodes: they are those of the leaves, and there are no others."""

from collections.abc import Iterator
from itertools import islice

from memprove.ledger.log.report import Finding
from memprove.ledger.log.walk import MOST_FINDINGS, Walk, node_digests
from memprove.ledger.storage.interface import Reader
from memprove.ledger.tlog import merkle


def check_nodes(walk: Walk, reader: Reader) -> None:
    """Compare the nodes that events after ``walk.start`` complete, each level at once."""
    if not are_those(walk, reader):
        walk.failed.add("tree")
        walk.found += islice(_bad_nodes(reader), MOST_FINDINGS)


def are_those(walk: Walk, reader: Reader) -> bool:
    """Tell whether the nodes that the walk has computed are stored, and no others."""
    stored = node_digests()
    for level in reader.levels():
        start = walk.start >> level if 0 <= level < 64 else 0
        for indices, hashes in reader.nodes(level, start if walk.start else None):
            if indices != tuple(range(start, start + len(indices))):
                return False
            if set(map(len, hashes)) != {merkle.HASH_SIZE}:
                return False
            stored[level].update(b"".join(hashes))
            start += len(indices)
    have, want = ({n: h.digest() for n, h in nodes.items()} for nodes in (stored, walk.nodes))
    return have == want


def _bad_nodes(reader: Reader) -> Iterator[tuple[int, Finding]]:
    """Yield the nodes that make the difference, each when the event was read that completes it."""
    frontier = merkle.Frontier()
    for event in reader.events():
        for level, index, node in frontier.append(merkle.leaf_hash(event.leaf)):
            if reader.node(level, index) != node:
                what = f"node {level}/{index} is not that of the leaves"
                yield frontier.size, Finding(check="tree", what=what, seq=event.seq)
    for level in reader.levels():
        for indices, _ in reader.nodes(level):
            most = frontier.size >> level if 0 <= level < 64 else 0
            for index in indices:
                if not 0 <= index < most:
                    what = f"node {level}/{index} belongs to no leaf"
                    yield frontier.size, Finding(check="tree", what=what)
                    return
