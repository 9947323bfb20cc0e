"""A program for the tests: run a command as `memprove run` does, and write down what came of it."""

import argparse
import json
import os
import resource
import zlib
from dataclasses import asdict
from pathlib import Path

from memprove.ledger.capture import process
from memprove.ledger.capture.streams import Sink, StreamRecord


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float)
    parser.add_argument("--kill-after", type=float, default=process.KILL_AFTER_S)
    parser.add_argument("--redact")
    parser.add_argument("report")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    process.KILL_AFTER_S = asked.kill_after
    stdout, stderr = _sink(asked.redact), _sink(asked.redact)
    ended = process.run_child(
        asked.command, env=os.environ, timeout_s=asked.timeout, stdout=stdout, stderr=stderr
    )
    report = {
        "exit": {**asdict(ended), "fault": ended.fault and repr(ended.fault)},
        "stdout": _described(stdout.record()),
        "stderr": _described(stderr.record()),
        "peak_kib": _peak_kib(),
    }
    with open(asked.report + ".new", "w", encoding="ascii") as file:
        json.dump(report, file)
    os.replace(asked.report + ".new", asked.report)
    return ended.code


def _sink(secret: str | None) -> Sink:
    if secret is None:
        return Sink()
    word = secret.encode()
    return Sink(lambda text: text.replace(word, b"[REDACTED:test]"))


def _peak_kib() -> int:
    """Return the most memory this program had; ``ru_maxrss`` counts that of who started it too."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1])


def _described(record: StreamRecord) -> dict[str, object]:
    kept = zlib.decompress(record.kept)
    return {**asdict(record), "kept": len(kept)}


if __name__ == "__main__":
    raise SystemExit(main())
