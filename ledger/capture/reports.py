"""Test counts from what a test runner wrote, or nothing where it wrote none.

Each runner closes with a summary in a form of its own; the last text in exactly that form is
taken, or the sum where the runner writes one for each package or binary. A test can print such a
text as well. Where the runner's own follows it, as it does unless the run was cut off, the forgery
is passed over; a program that writes its forgery last, after the runner or in place of it, or
beside the texts that are summed, cannot be told from the runner by its output, only by a report
file.
"""

import re
from collections.abc import Callable

from memprove.ledger.capture import (
    runners_compiled,
    runners_javascript,
    runners_python,
    runners_scripts,
)
from memprove.ledger.capture.counts import Counts, Summary, counts_contradict, is_vacuous

__all__ = ["RUNNERS", "Counts", "count", "counts_contradict", "is_vacuous"]

RUNNERS: dict[str, Callable[[str], Summary | None]] = {
    "pytest": runners_python.read_pytest,
    "unittest": runners_python.read_unittest,
    "jest": runners_javascript.read_jest,
    "vitest": runners_javascript.read_vitest,
    "mocha": runners_javascript.read_mocha,
    "node": runners_javascript.read_node,
    "go": runners_compiled.read_go,
    "cargo": runners_compiled.read_cargo,
    "nextest": runners_compiled.read_nextest,
    "ctest": runners_compiled.read_ctest,
    "rspec": runners_scripts.read_rspec,
    "phpunit": runners_scripts.read_phpunit,
    "prove": runners_scripts.read_prove,
    "tap": runners_scripts.read_tap,
}
"""How to read each runner's summary."""


def count(stdout: bytes, stderr: bytes) -> Counts | None:
    """Return the counts in the ends of a command's output.

    Of several runners' summaries the one that stands nearest to the end of its stream is taken:
    the runner has the last word, what its tests printed comes before.
    """
    texts = (_plain(stdout), _plain(stderr))
    found = [
        (len(text) - summary.end, summary.counts)
        for text in texts
        for read in RUNNERS.values()
        if (summary := read(text)) is not None
    ]
    return min(found, key=lambda at: at[0])[1] if found else None


def make_ignored(stdout: bytes, stderr: bytes) -> bool:
    """Return whether make says that it went on after an error, as ``-`` before a recipe asks."""
    return any(_IGNORED.search(_plain(text)) for text in (stdout, stderr) if b"(ignored)" in text)


_IGNORED = re.compile(r"^g?make(?:\[\d+\])?: \[[^\n]+\] Error \d+ \(ignored\)$", re.MULTILINE)

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[@-Z\\-_])"
)


def _plain(output: bytes) -> str:
    """Return *output* as lines without colours; what a carriage return redraws is a line too."""
    text = _ESCAPES.sub("", output.decode("utf-8", "replace"))
    return re.sub(r"\r+\n?", "\n", text)
