"""A bundle of one Task out of a big ledger with many key epochs: made, and opened by a stranger."""

from collections.abc import Iterator, Sequence
from typing import Final

from bench.generate import BATCH, generate
from bench.result import Result
from bench.samples import alternate, median, p95, processor
from bench.scene import Scene
from support.ledgers import Project

from memprove.ledger.log.reading import check_head
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.trust import read_pins
from memprove.ledger.log.unbundling import open_bundle
from memprove.ledger.operations.exports import ExportTask
from memprove.ledger.storage.registry import open_store

EVENTS: Final = 200
"""Events of the Task."""
MAKE_MS: Final = 100.0
OPEN_MS: Final = 50.0


def measure(place: Scene) -> Iterator[Result]:
    """Measure ``export`` and ``verify --bundle`` in process, without git."""
    big = generate(place.folder("epochs"), place.events, task_events=EVENTS, rotating=True)
    _see(big)
    task = max(1, place.events // EVENTS // 2)
    made: list[bytes] = []
    operation = ExportTask(made.append, task=task)
    big.ledger().execute(operation)
    data, pins = made[0], read_pins(big.config_dir)
    taken = alternate(
        place.rounds(30),
        {
            "make": processor(lambda: big.ledger().execute(operation)),
            "open": processor(lambda: open_bundle(data, pins)),
        },
    )
    opened = open_bundle(data, pins)
    assert len(opened.records) == EVENTS
    what = f"a Task of {EVENTS} events among {place.events:,} in {opened.epoch} key epochs"
    note = f"{len(data) / 1e3:.0f} kB; an epoch ends every {BATCH:,} events"
    yield _row("bundle-make", f"bundle of {what}, made in process", taken["make"], MAKE_MS, note)
    yield _row("bundle-open", "the same, verified in process", taken["open"], OPEN_MS)


def _see(big: Project) -> None:
    """Remember the newest head, as whoever wrote to the ledger does."""
    store = open_store(big.data_dir)
    try:
        with store.read() as reader:
            (pin,) = read_pins(big.config_dir).values()
            opened = check_head(reader, pin)
            memory = Memory(big.state_dir, big.data_dir)
            memory.keep(pin, opened.epochs.newest, opened.note)
    finally:
        store.close()


def _row(name: str, what: str, taken: Sequence[float], target: float, note: str = "") -> Result:
    return Result(
        name=name,
        what=f"{what} : {target:.0f} ms",
        unit="ms",
        figure=median(taken) * 1e3,
        figure_p95=p95(taken) * 1e3,
        floor=target,
        ratio=median(taken) * 1e3 / target,
        allowed=1.0,
        bound="at most",
        note=note,
    )
