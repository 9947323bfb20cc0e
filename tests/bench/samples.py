"""Samples of what is compared: taken in turn, so that the machine's moods meet all alike."""

import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

Samples = Mapping[str, Sequence[float]]
"""Name → seconds, one for each round."""


def alternate(rounds: int, measures: Mapping[str, Callable[[], float]]) -> Samples:
    """Return what each of *measures* gave in each of *rounds*, the order turned each time.

    One round before is for warming up and thrown away.
    """
    names = list(measures)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            value = measures[name]()
            if number:
                taken[name].append(value)
    return taken


def seconds(work: Callable[[], object]) -> Callable[[], float]:
    """Return a measure of how long *work* takes."""
    return _by(time.perf_counter, work)


def processor(work: Callable[[], object]) -> Callable[[], float]:
    """Return a measure of the processor time of *work*, which waits for nothing.

    What other programs do meanwhile counts much less in it.
    """
    return _by(time.process_time, work)


def with_processor(work: Callable[[], object], spent: list[float]) -> Callable[[], float]:
    """Return a measure of how long *work* takes, which adds to *spent* its processor time.

    That of the processes it started and waited for is part of it.
    """

    def measure() -> float:
        began, before = time.perf_counter(), _processor_of_all()
        work()
        spent.append(_processor_of_all() - before)
        return time.perf_counter() - began

    return measure


def _processor_of_all() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _by(clock: Callable[[], float], work: Callable[[], object]) -> Callable[[], float]:
    def measure() -> float:
        began = clock()
        work()
        return clock() - began

    return measure


def median(values: Sequence[float]) -> float:
    """Return the middle one."""
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    """Return what one value in twenty exceeds."""
    return sorted(values)[min(len(values) - 1, len(values) * 95 // 100)]


def spread(figures: Sequence[float], floors: Sequence[float]) -> float:
    """Return how far the ratios of pairs lie apart: their quartiles' distance over their median."""
    ratios = sorted(figure / floor for figure, floor in zip(figures, floors, strict=True))
    if len(ratios) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return (high - low) / middle
