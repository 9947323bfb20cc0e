"""The benchmark: each figure of the design as a ratio against its floor, in one run.

``make bench``, or ``python tests/bench/run.py [--quick] [--only NAME] [--json]``;
docs/benchmarks.md says what the rows mean. A missed target is told and is no failure; a row that
could not be measured is.
"""

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

if __name__ == "__main__":  # started as a script: tests/ is where modules are looked for
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from bench import appending, passing, reading, redacting, reporting, serving, trees, whole_process
from bench.result import Failed, Result, as_json, lines
from bench.scene import Scene

GROUPS: Final[Mapping[str, Callable[[Scene], Iterator[Result]]]] = {
    "run": whole_process.measure,
    "append": appending.measure,
    "writers": appending.measure_writers,
    "read": reading.measure,
    "fold": reading.measure_fold,
    "pass": passing.measure,
    "digest": passing.measure_digest,
    "tree": trees.measure,
    "redact": redacting.measure,
    "junit": reporting.measure_junit,
    "count": reporting.measure_count,
    "serve": serving.measure,
}


def main(words: Sequence[str]) -> int:
    """Measure what *words* ask for; return the exit code."""
    arguments = _parser().parse_args(words)
    _apart_from_the_caller()
    gc.set_threshold(50_000)  # as the command does
    results: list[Result | Failed] = []
    for name in arguments.only or GROUPS:
        if not arguments.json:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="memprove-bench-", dir=arguments.dir) as base:
            scene = Scene(
                Path(base).resolve(), arguments.events, arguments.quick, arguments.gigabytes
            )
            results += _measured(name, scene)
    print(as_json(results) if arguments.json else "\n".join(lines(results)))
    return int(any(isinstance(result, Failed) for result in results))


def _measured(name: str, scene: Scene) -> Iterator[Result | Failed]:
    try:
        yield from GROUPS[name](scene)
    except Exception as error:  # the other rows can be measured all the same
        yield Failed(name, f"{type(error).__name__}: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure memprove against its floors.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    parser.add_argument(
        "--only", action="append", choices=list(GROUPS), help="this group of rows (repeatable)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument(
        "--events", type=int, default=100_000, help="size of the big ledger (default: 100000)"
    )
    parser.add_argument(
        "--gigabytes", type=int, default=0, help="how much goes through a pipe (default: about 1)"
    )
    parser.add_argument("--dir", help="measure on the disk of DIR (default: the temporary folder)")
    return parser


def _apart_from_the_caller() -> None:
    """Let nothing of the caller's own ledger, Session or git reach what is measured."""
    for name in list(os.environ):
        if name.startswith(("MEMPROVE_", "GIT_")):
            del os.environ[name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
