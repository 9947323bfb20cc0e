"""What one pass of ``verify`` over the events carries along: the tree, the chains, the findings."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Protocol

from memprove.ledger.domain.record import Record
from memprove.ledger.log.report import Finding
from memprove.ledger.problems import LEDGER_DAMAGED, Problem
from memprove.ledger.storage.interface import StoredHead
from memprove.ledger.tlog import merkle

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

MOST_FINDINGS: Final = 20


class Rows(Protocol):
    """Tables of values under keys."""

    def row(self, table: str, key: str) -> bytes | None:
        """Return the value under *key*."""
        ...

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        """Set the value under *key*; None takes it out."""
        ...


class TableRows:
    """The projections in memory, as ``project`` builds them."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, bytes]] = {}

    def row(self, table: str, key: str) -> bytes | None:
        """Return the value under *key*."""
        return self.tables.get(table, {}).get(key)

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        """Set the value under *key*; None takes it out."""
        rows = self.tables.setdefault(table, {})
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value


def node_digests() -> "defaultdict[int, Hash]":
    """Return level → SHA-256 over its nodes: all of them in little memory."""
    return defaultdict(sha256)


@dataclass(slots=True)
class Walk:
    """What one pass over the events carries along.

    It may begin behind event *start*, with the tree, the link *prev* and *tails* of what is before.
    """

    wanted: frozenset[int] = frozenset()
    """Sizes whose roots are asked for, beside those of the heads."""
    start: int = 0
    frontier: merkle.Frontier = field(default_factory=merkle.Frontier)
    nodes: "defaultdict[int, Hash]" = field(default_factory=node_digests)
    heads: list[StoredHead] = field(default_factory=list)
    size: int = 0
    signed: int = 0
    """The size of the newest head that holds."""
    reading: int | None = None
    """The number of the event that is to be read next."""
    roots: dict[int, bytes] = field(default_factory=dict)
    rotations: list[Record] = field(default_factory=list)
    tails: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    """Stream → the last event's number in it, and its leaf hash."""
    prev: str | None = None
    bad: set[int] = field(default_factory=set)
    """Events of which nothing is to be believed, by their place in the log."""
    erased: int = 0
    found: list[tuple[int, Finding]] = field(default_factory=list)
    """Findings, each with how many events had been read."""
    failed: set[str] = field(default_factory=set)
    unmade: set[str] = field(default_factory=set)
    _stops: list[int] = field(default_factory=list)

    def find(
        self, check: str, what: str, seq: int | None = None, code: str = "", at: int | None = None
    ) -> None:
        """Note what is not as it was written; *at* is the place in the log of what it is about."""
        self.failed.add(check)
        if sum(check == finding.check for _, finding in self.found) < MOST_FINDINGS:
            finding = Finding(check=check, what=what, seq=seq, code=code)
            self.found.append((self.frontier.size if at is None else at, finding))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the first findings, in the order of the log."""
        found = sorted(self.found, key=itemgetter(0))
        return tuple(finding for _, finding in found[:MOST_FINDINGS])

    def want(self, sizes: Iterable[int]) -> None:
        """Ask for the roots at *sizes* too."""
        self.wanted |= frozenset(sizes)
        self._stops = sorted(size for size in self.wanted if size > self.frontier.size)

    def grow(self, digests: Sequence[bytes]) -> None:
        """Add the leaf hashes *digests* to the tree."""
        start, size = 0, self.frontier.size
        while self._stops and self._stops[0] <= size + len(digests):
            stop = self._stops.pop(0)
            self._extend(digests[start : stop - size])
            self.roots[stop] = self.frontier.root()
            start = stop - size
        self._extend(digests[start:])

    @contextmanager
    def making(self, *checks: str) -> Iterator[None]:
        """Make *checks* inside; what the store cannot read is a finding, and their end."""
        try:
            yield
        except Problem as problem:
            if problem.kind is not LEDGER_DAMAGED:
                raise
            self.unmade.update(checks)
            self.find("store", problem.detail, self.reading)

    def _extend(self, digests: Sequence[bytes]) -> None:
        for level, nodes in enumerate(self.frontier.extend(digests)):
            self.nodes[level].update(b"".join(nodes))
