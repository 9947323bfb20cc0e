"""Samples in rounds: each was written before the rules knew it, measured, and then mended for.

What was cut when a round was new, of secrets, and of texts without one that were cut all the same:
first 86 of 221 (6 of 217), second 139 of 152 (3 of 182), third 120 of 129 (0 of 155), fourth 97 of
108, fifth 94 of 106 (2 of 156), sixth 98 of 106, seventh 101 of 104. After the seventh nothing was
mended for it: its families are held out.
"""

from itertools import chain
from typing import Final

from support import (
    secret_round_five,
    secret_round_five_negatives,
    secret_round_four,
    secret_round_one,
    secret_round_one_negatives,
    secret_round_seven,
    secret_round_six,
    secret_round_three,
    secret_round_three_negatives,
    secret_round_two,
    secret_round_two_negatives,
)

_POSITIVES: Final = {
    "first": secret_round_one,
    "second": secret_round_two,
    "third": secret_round_three,
    "fourth": secret_round_four,
    "fifth": secret_round_five,
    "sixth": secret_round_six,
    "seventh": secret_round_seven,
}
_NEGATIVES: Final = {
    "first": secret_round_one_negatives,
    "second": secret_round_two_negatives,
    "third": secret_round_three_negatives,
    "fifth": secret_round_five_negatives,
}

POSITIVES: Final = {
    name: tuple(chain.from_iterable(samples.POSITIVES.values()))
    for name, samples in _POSITIVES.items()
}
NEGATIVES: Final = {
    name: tuple(chain.from_iterable(samples.NEGATIVES.values()))
    for name, samples in _NEGATIVES.items()
}
