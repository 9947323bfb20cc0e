"""verify, the Pack and the fold, in process, on a big generated ledger."""

import os
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from hashlib import sha256

import apsw
from bench.generate import TASK_EVENTS, generate, signer_of, task_records
from bench.result import Result
from bench.samples import alternate, median, p95, processor, spread
from bench.scene import Scene
from support.ledgers import Project

from memprove.ledger import projections, settings
from memprove.ledger.domain.capsule import fold
from memprove.ledger.domain.record import Record
from memprove.ledger.log.append import node_reader
from memprove.ledger.log.epochs import Epoch
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.trust import format_pin, pinned
from memprove.ledger.log.verified import Verified, keep
from memprove.ledger.log.verify import verify
from memprove.ledger.log.verify_contents import Project as Projection
from memprove.ledger.log.walk import Rows
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.packs import ReadPack
from memprove.ledger.projections import LEDGER_KEY, LedgerRow, decode_row
from memprove.ledger.storage.registry import open_store
from memprove.ledger.tlog.head import Head, sign_head
from memprove.ledger.tlog.merkle import root

PACK_MS = 30.0
NEW, NEW_MS = 1_000, 50.0
ALONE_EVENTS = TASK_EVENTS + 10
FEW, MANY = 4_000, 40_000
_COLUMNS = "SELECT seq, stream, stream_seq, kind, leaf, payload, salt FROM event ORDER BY seq"


def measure(place: Scene) -> Iterator[Result]:
    """Measure what reads much of a ledger, or finds little in it."""
    big = generate(place.folder("big"), place.events)
    yield from _verify(big, place)
    yield from _verify_new(big, place)
    yield from _pack(big, place)


def _verify(big: Project, place: Scene) -> Iterator[Result]:
    def nothing(rows: Rows, record: Record) -> None:
        """Keep no table."""

    taken = alternate(
        place.rounds(5),
        {
            "log": processor(partial(_verified, big, None)),
            "contents": processor(partial(_verified, big, nothing)),
            "all": processor(partial(_verified, big, projections.apply)),
            "floor": processor(partial(_hashed, big)),
        },
    )
    each = 1e6 / place.events
    ours, whole, floor = taken["log"], taken["all"], taken["floor"]
    contents = median(taken["contents"]) * each
    yield Result(
        name="verify",
        what=f"verify --full of {place.events:,} events, log part without contents, each"
        " : reading the same columns, SHA-256 of the same bytes",
        unit="µs",
        figure=median(ours) * each,
        floor=median(floor) * each,
        ratio=median(ours) / median(floor),
        allowed=3.0,
        bound="at most",
        spread=spread(ours, floor),
        note=f"with contents {contents:.1f} µs, {contents / each / median(floor):.1f} × the floor;"
        f" with the tables as well {median(whole) * each:.1f} µs, {median(whole):.1f} s",
    )


def _verify_new(big: Project, place: Scene) -> Iterator[Result]:
    taken = alternate(place.rounds(30), {"new": processor(partial(_verified_new, big))})
    yield Result(
        name="verify-new",
        what=f"verify of {NEW:,} new events among {place.events:,} : 50 ms",
        unit="ms",
        figure=median(taken["new"]) * 1e3,
        figure_p95=p95(taken["new"]) * 1e3,
        floor=NEW_MS,
        ratio=median(taken["new"]) * 1e3 / NEW_MS,
        allowed=1.0,
        bound="at most",
    )


def _verified_new(big: Project) -> None:
    """Verify with a head kept that lies ``NEW`` events back, in the middle of a Task."""
    memory = Memory(settings.state_dir(big.caller()), big.data_dir)
    with closing(open_store(big.data_dir)) as store, store.read() as reader:
        signer, start = signer_of(big, reader), reader.size() - NEW
        head = Head(signer.verifier.name, start, root(start, node_reader(reader)))
    pin = pinned(settings.config_dir(big.caller()), head.origin)
    epoch, note = Epoch(1, signer.verifier, 1), sign_head(head, signer)
    keep(memory, Verified(format_pin(pin), epoch, head, note, start, big.clock.now))
    report = big.ledger().execute(VerifyLedger())
    assert (report.ok, report.skipped) == (True, start), report


def _verified(big: Project, project: Projection | None) -> None:
    store = open_store(big.data_dir)
    try:
        with store.read() as reader:
            value = reader.row("ledger", LEDGER_KEY)
            assert value is not None
            origin = decode_row(LedgerRow, value).origin
            pin = pinned(settings.config_dir(big.caller()), origin)
            report = verify(reader, pin, project=project)
    finally:
        store.close()
    wrong = {check.check for check in report.checks if not check.ok}
    assert wrong <= (set() if project in (None, projections.apply) else {"projections"}), wrong


def _hashed(big: Project) -> None:
    connection = apsw.Connection(str(big.database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        for _, _, _, _, leaf, payload, salt in connection.execute(_COLUMNS):
            sha256(leaf).digest()
            sha256(salt + payload).digest()
    finally:
        connection.close()


def _pack(big: Project, place: Scene) -> Iterator[Result]:
    alone = generate(place.folder("alone"), ALONE_EVENTS)
    last = max(1, place.events // TASK_EVENTS // 2)
    assert os.path.getsize(big.database) > os.path.getsize(alone.database)
    taken = alternate(
        place.rounds(50),
        {
            "big": processor(lambda: big.ledger().execute(ReadPack(task=last))),
            "alone": processor(lambda: alone.ledger().execute(ReadPack(task=1))),
        },
    )
    ours, floor = taken["big"], taken["alone"]
    what = f"Capsule and Pack of a Task of {TASK_EVENTS:,} events among {place.events:,}"
    yield Result(
        name="pack",
        what=f"{what} : 30 ms",
        unit="ms",
        figure=median(ours) * 1e3,
        figure_p95=p95(ours) * 1e3,
        floor=PACK_MS,
        ratio=median(ours) * 1e3 / PACK_MS,
        allowed=1.0,
        bound="at most",
    )
    yield Result(
        name="pack-alone",
        what="the same : the same Task alone in its ledger",
        unit="ms",
        figure=median(ours) * 1e3,
        figure_p95=p95(ours) * 1e3,
        floor=median(floor) * 1e3,
        floor_p95=p95(floor) * 1e3,
        ratio=median(ours) / median(floor),
        allowed=1.2,
        bound="at most",
        spread=spread(ours, floor),
    )


def measure_fold(place: Scene) -> Iterator[Result]:
    """Measure that the fold of a long Task costs no more an event than that of a short one."""
    few, many = task_records(FEW), task_records(MANY)
    taken = alternate(
        place.rounds(30),
        {"many": processor(partial(fold, many)), "few": processor(partial(fold, few))},
    )
    ours = [taking * 1e6 / MANY for taking in taken["many"]]
    floor = [taking * 1e6 / FEW for taking in taken["few"]]
    yield Result(
        name="fold",
        what=f"fold of {MANY:,} events, each : of {FEW:,}",
        unit="µs",
        figure=median(ours),
        figure_p95=p95(ours),
        floor=median(floor),
        floor_p95=p95(floor),
        ratio=median(ours) / median(floor),
        allowed=1.3,
        bound="at most",
        spread=spread(ours, floor),
    )
