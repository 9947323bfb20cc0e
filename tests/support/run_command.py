"""A program for the tests: run a command as `memprove run` does, and write down what came of it."""

import argparse
import json
import os
import resource
import zlib
from dataclasses import asdict

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
        "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
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


def _described(record: StreamRecord) -> dict[str, object]:
    kept = zlib.decompress(record.kept)
    return {**asdict(record), "kept": len(kept)}


if __name__ == "__main__":
    raise SystemExit(main())
