"""Cutting secrets out of ordinary test output, and out of what is made to be slow."""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import Final

from bench.recorded import recordings
from bench.result import Result
from bench.samples import alternate, median, processor, spread
from bench.scene import Scene

from memprove.ledger.domain.redaction import Redactor
from memprove.ledger.domain.redaction_density import COST

MIB: Final = 1024 * 1024
LEAST_RATE: Final = 15e6
OUTPUT_BYTES: Final = 4 * MIB
HOSTILE: Final = {
    "redact-hostile": b"token: ",
    "redact-bound": b"token: %s " % (b"a1b" * (COST // 3)),
}
HOSTILE_BYTES: Final = 8 * MIB
HOSTILE_S: Final = 3.0


def measure(place: Scene) -> Iterator[Result]:
    """Measure the output of pytest, then text in which every word may begin a secret."""
    redact = Redactor().data
    output = recordings(OUTPUT_BYTES, "pytest")
    assert redact(output) == output  # as it is with nearly all output
    taken = alternate(
        place.rounds(10),
        {
            "redact": processor(partial(redact, output)),
            "digest": processor(lambda: sha256(output).digest()),
        },
    )
    ours, floor = taken["redact"], taken["digest"]
    rate, digest = len(output) / median(ours), len(output) / median(floor)
    yield Result(
        name="redact",
        what=f"`Redactor.data`, {len(output) / MIB:.0f} MiB of pytest's output : 15 MB/s",
        unit="MB/s",
        figure=rate / 1e6,
        floor=LEAST_RATE / 1e6,
        ratio=rate / LEAST_RATE,
        allowed=1.0,
        bound="at least",
    )
    yield Result(
        name="redact-digest",
        what="the same : SHA-256 of the same bytes",
        unit="MB/s",
        figure=rate / 1e6,
        floor=digest / 1e6,
        ratio=rate / digest,
        allowed=0.0,
        bound="told",
        spread=spread(ours, floor),
    )
    for name, piece in HOSTILE.items():
        yield _hostile(place, name, piece)


def _hostile(place: Scene, name: str, piece: bytes) -> Result:
    """Measure text of many secrets: crowded, or just far enough apart to be judged one by one."""
    hostile = piece * (HOSTILE_BYTES // len(piece))
    redact = processor(partial(Redactor().data, hostile))
    taken = median([redact() for _ in range(place.rounds(3))])
    return Result(
        name=name,
        what=f"the same, {HOSTILE_BYTES // MIB} MiB of `{piece.decode()[:9]}` : {HOSTILE_S:.0f} s",
        unit="s",
        figure=taken,
        floor=HOSTILE_S,
        ratio=taken / HOSTILE_S,
        allowed=1.0,
        bound="at most",
    )
