"""Bound the work of redaction: where candidates for secrets crowd, all of the region is cut.

Each candidate that must be judged costs ``COST``, each byte of text pays 1, and ``CREDIT`` may be
owed. A region that goes beyond is cut from the candidate that began the debt up to the last one of
the crowd, so that all judged candidates together cost no more than the text is long, and
``CREDIT``. What is left owes less than before: a second look at it cuts nothing more.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from memprove.ledger.domain.redaction_rule import Span

COST: Final = 256
CREDIT: Final = 4096 * COST


def dense_regions(places: Iterable[int]) -> list[Span]:
    """Return the regions between the ascending *places* of candidates that cost too much."""
    regions: list[Span] = []
    owed = first = last = 0
    dense = False
    for at in places:
        if dense and at - last > COST:
            regions.append((first, last))
            owed, dense = 0, False
        owed = max(0, owed - (at - last))
        first = first if owed else at
        owed += COST
        dense = dense or owed > CREDIT
        last = at
    return [*regions, (first, last)] if dense else regions


def outside(places: Sequence[int], regions: Sequence[Span]) -> Sequence[int]:
    """Return those of the ascending *places* that are in none of the *regions*."""
    if not regions:
        return places
    kept: list[int] = []
    at = 0
    for start, end in regions:
        kept += places[at : (at := bisect_left(places, start, at))]
        at = bisect_left(places, end, at)
    return [*kept, *places[at:]]
