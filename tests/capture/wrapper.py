"""A program for the tests: run a command as `memprove run` does, and write down what came of it.

    wrapper.py [--timeout S] [--redact WORD] REPORT COMMAND...
"""

import argparse
import json
import os
import resource
from dataclasses import asdict

from memprove.ledger.capture.process import run_child
from memprove.ledger.capture.streams import Sink


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float)
    parser.add_argument("--cwd")
    parser.add_argument("report")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    stdout, stderr = Sink(), Sink()
    ended = run_child(
        asked.command,
        cwd=asked.cwd,
        env=os.environ,
        timeout_s=asked.timeout,
        stdout=stdout,
        stderr=stderr,
    )
    report = {
        "exit": {**asdict(ended), "fault": repr(ended.fault)},
        "stdout": {**asdict(stdout.record()), "kept": None},
        "stderr": {**asdict(stderr.record()), "kept": None},
        "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    with open(asked.report + ".new", "w", encoding="ascii") as file:
        json.dump(report, file)
    os.replace(asked.report + ".new", asked.report)
    return ended.code


if __name__ == "__main__":
    raise SystemExit(main())
