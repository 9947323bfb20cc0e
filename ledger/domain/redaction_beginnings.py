"""Which keywords a short text may hold: those that begin with two characters that it has.

There are hundreds of keywords, and a command can have thousands of arguments: to look for each of
the ones in each of the others takes a millisecond an argument.
"""

from collections.abc import Sequence
from functools import cache

from memprove.ledger.domain.redaction_rule import Rule

_Asked = tuple[int, Rule, bytes]
"""The rank of a rule, the rule, one of its keywords."""


class Beginnings:
    """Rules by how their keywords begin, in lower case."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._order: dict[tuple[int, bytes], int] = {}
        self._by_beginning: dict[bytes, list[_Asked]] = {}
        for rank, rule in enumerate(rules):
            for keyword in rule.keywords:
                self._order[rank, keyword] = len(self._order)
                self._by_beginning.setdefault(keyword[:2].lower(), []).append((rank, rule, keyword))

    def found_in(self, folded: bytes) -> list[_Asked]:
        """Return what may be found in a text, *folded* to lower case, in the order of the rules."""
        have = {folded[at : at + 2] for at in range(len(folded))}
        have.update(folded[at : at + 1] for at in range(len(folded)))
        asked = [one for beginning in have for one in self._by_beginning.get(beginning, ())]
        return sorted(asked, key=lambda one: self._order[one[0], one[2]])


@cache
def beginnings(rules: tuple[Rule, ...]) -> Beginnings:
    """Return the keywords of *rules* by how they begin."""
    return Beginnings(rules)
