from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.domain.redaction_density import COST, CREDIT, dense_regions, outside

CROWD = CREDIT // COST + 2


def test_few_places_are_never_dense() -> None:
    assert dense_regions([0] * (CREDIT // COST)) == []


def test_places_far_enough_apart_are_never_dense() -> None:
    assert dense_regions(range(0, 3 * CROWD * COST, COST)) == []


def test_a_crowd_is_a_region_up_to_its_last_place() -> None:
    crowd = range(1000, 1000 + 2 * CROWD)
    far = crowd[-1] + COST + 1
    assert dense_regions([3, *crowd, far]) == [(1000, crowd[-1])]
    assert outside([3, *crowd, far], [(1000, crowd[-1])]) == [3, crowd[-1], far]


RUNS = st.lists(st.tuples(st.integers(0, 3 * CROWD), st.integers(1, 3 * COST)), max_size=6)


@given(RUNS)
def test_what_is_left_costs_no_more_than_the_text_is_long(runs: list[tuple[int, int]]) -> None:
    places = _places(runs)
    left = outside(places, dense_regions(places))
    assert COST * len(left) <= places[-1] + CREDIT + COST


@given(RUNS)
def test_what_is_left_is_not_dense(runs: list[tuple[int, int]]) -> None:
    places = _places(runs)
    assert dense_regions(outside(places, dense_regions(places))) == []


def _places(runs: list[tuple[int, int]]) -> list[int]:
    steps = (step for count, step in runs for step in [step] * count)
    return list(accumulate(steps, initial=0))
