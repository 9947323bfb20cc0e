"""What one pass of ``verify`` over the events carries along: the tree, the tables, the findings."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from memprove.ledger.domain.record import Record
from memprove.ledger.domain.tombstones import Tombstones
from memprove.ledger.log.report import Finding
from memprove.ledger.problems import LEDGER_DAMAGED, Problem
from memprove.ledger.storage.interface import StoredHead
from memprove.ledger.tlog import merkle

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

MOST_FINDINGS: Final = 20


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
    """Return level → SHA-256 over its nodes with their indices: all nodes in little memory."""
    return defaultdict(sha256)


@dataclass(slots=True)
class Walk:
    """What one pass over the events carries along."""

    project: Callable[[TableRows, Record], None]
    wanted: frozenset[int] = frozenset()
    """Sizes whose roots are asked for, beside those of the heads."""
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
    tails: dict[str, tuple[int, str]] = field(default_factory=dict)
    prev: str | None = None
    tombstones: Tombstones = field(default_factory=Tombstones)
    erased: int = 0
    rows: TableRows = field(default_factory=TableRows)
    found: list[tuple[int, Finding]] = field(default_factory=list)
    """Findings, each with how many events had been read."""
    failed: set[str] = field(default_factory=set)
    unmade: set[str] = field(default_factory=set)

    def find(self, check: str, what: str, seq: int | None = None, code: str = "") -> None:
        """Note what is not as it was written."""
        self.failed.add(check)
        if len(self.found) < MOST_FINDINGS:
            finding = Finding(check=check, what=what, seq=seq, code=code)
            self.found.append((self.frontier.size, finding))

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
