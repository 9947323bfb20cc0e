"""Record what test runners write, as golden files: `python record.py pytest PYTHON [NAME...]`.

PYTHON is the interpreter of an environment under a neutral path (such as /tmp/venv) with pytest
and pytest-xdist, or for `unittest` any interpreter; it shows in some outputs. Each case is a real
run in /tmp/project; nothing is edited afterwards. index.json says how each file came to be, and
holds the counts that a person read off the case, not off the output.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROJECT = Path("/tmp/project")

PASSING = """
def test_one():
    assert True

def test_two():
    assert True

def test_three():
    assert True
"""

MIXED = """
import warnings

import pytest

@pytest.fixture
def broken():
    raise RuntimeError("set-up fails")

def test_passes():
    warnings.warn("watch out")

def test_fails():
    assert 1 + 1 == 3

def test_fails_too():
    print("== 9 passed in 0.01s ==")
    raise ValueError("no")

def test_has_an_error(broken):
    pass

@pytest.mark.skip(reason="not here")
def test_is_skipped():
    pass

@pytest.mark.xfail
def test_is_expected_to_fail():
    assert False

@pytest.mark.xfail
def test_passes_unexpectedly():
    pass
"""

SKIPPED = """
import pytest

pytestmark = pytest.mark.skip(reason="all of it")

def test_one():
    pass

def test_two():
    pass
"""

SUBTESTS = """
def test_parts(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number != 1

def test_whole():
    pass
"""

ENDS = """
import os
import signal

def test_passes():
    print("===== 7 passed in 0.01s =====")

def test_ends():
    {end}
"""

UNITTEST_PASSING = """
import unittest

class Adding(unittest.TestCase):
    def test_one(self):
        self.assertEqual(1 + 1, 2)

    def test_two(self):
        self.assertEqual(1 + 2, 3)
"""

UNITTEST_MIXED = """
import unittest

class Adding(unittest.TestCase):
    def test_passes(self):
        pass

    def test_fails(self):
        self.assertEqual(1 + 1, 3)

    def test_has_an_error(self):
        raise ValueError("no")

    @unittest.skip("not here")
    def test_is_skipped(self):
        pass

    @unittest.expectedFailure
    def test_is_expected_to_fail(self):
        self.fail()

    @unittest.expectedFailure
    def test_passes_unexpectedly(self):
        pass
"""

UNITTEST_SKIPPED = """
import unittest

@unittest.skip("all of it")
class Adding(unittest.TestCase):
    def test_one(self):
        pass

    def test_two(self):
        pass
"""

UNITTEST_ENDS = """
import os
import signal
import unittest

class Ending(unittest.TestCase):
    def test_a_passes(self):
        pass

    def test_b_ends(self):
        {end}
"""

EXITS = "os._exit(0)"
KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
CRASHES = "os.kill(os.getpid(), signal.SIGSEGV)"
INTERRUPTED = "os.kill(os.getpid(), signal.SIGINT)"


class Case(NamedTuple):
    source: str
    arguments: str
    counts: dict[str, int] | None


NONE: dict[str, int] = {}
THREE = {"passed": 3}
ALL_SORTS = {"passed": 2, "failed": 2, "errors": 1, "skipped": 2}

CASES = {
    "pytest": {
        "passing": Case(PASSING, "", THREE),
        "passing-q": Case(PASSING, "-q", THREE),
        "passing-v": Case(PASSING, "-v", THREE),
        "passing-n2": Case(PASSING, "-n 2", THREE),
        "passing-n2-q-colour": Case(PASSING, "-n 2 -q --color=yes", THREE),
        "passing-colour": Case(PASSING, "--color=yes", THREE),
        "passing-qq": Case(PASSING, "-qq", None),
        "passing-no-header": Case(PASSING, "--no-header --durations=3", THREE),
        "failing": Case(MIXED, "", ALL_SORTS),
        "failing-q": Case(MIXED, "-q", ALL_SORTS),
        "failing-v-colour": Case(MIXED, "-v --color=yes", ALL_SORTS),
        "failing-n2-colour": Case(MIXED, "-n 2 --color=yes", ALL_SORTS),
        "failing-tb-line": Case(MIXED, "--tb=line -rA", ALL_SORTS),
        "failing-tb-no-q": Case(MIXED, "--tb=no -q", ALL_SORTS),
        "failing-s": Case(MIXED, "-s", ALL_SORTS),
        "failing-x": Case(MIXED, "-x", {"passed": 1, "failed": 1}),
        "failing-x-q-colour": Case(MIXED, "-x -q --color=yes", {"passed": 1, "failed": 1}),
        # pytest counts a failed subtest as a failed test, beside the test that it is part of
        "subtests": Case(SUBTESTS, "", {"passed": 1, "failed": 2}),
        "zero": Case("", "", NONE),
        "zero-q": Case("", "-q", NONE),
        "zero-colour": Case("", "--color=yes", NONE),
        "deselected": Case(PASSING, "-k nothing", {"deselected": 3}),
        "deselected-q": Case(PASSING, "-q -k nothing", {"deselected": 3}),
        "some-deselected": Case(PASSING, "-k two", {"passed": 1, "deselected": 2}),
        "skipped": Case(SKIPPED, "", {"skipped": 2}),
        "skipped-q-colour": Case(SKIPPED, "-q --color=yes", {"skipped": 2}),
        "collected": Case(PASSING, "--collect-only", NONE),
        "collected-q": Case(PASSING, "--collect-only -q -k two", NONE),
        "collection-error": Case("import nowhere", "", {"errors": 1}),
        "collection-error-q": Case("import nowhere", "-q", {"errors": 1}),
        "collection-error-n2": Case("import nowhere", "-n 2", {"errors": 1}),
        "exits": Case(ENDS.format(end=EXITS), "", None),
        "crashes": Case(ENDS.format(end=CRASHES), "", None),
        "crashes-n2": Case(ENDS.format(end=CRASHES), "-n 2", {"passed": 1, "failed": 1}),
        "killed": Case(ENDS.format(end=KILLED), "", None),
        "killed-v-colour": Case(ENDS.format(end=KILLED), "-v --color=yes", None),
        "interrupted": Case(ENDS.format(end=INTERRUPTED), "", {"passed": 1}),
    },
    "unittest": {
        "passing": Case(UNITTEST_PASSING, "", {"passed": 2}),
        "passing-v": Case(UNITTEST_PASSING, "-v", {"passed": 2}),
        "passing-b": Case(UNITTEST_PASSING, "-b", {"passed": 2}),
        "failing": Case(UNITTEST_MIXED, "", {"passed": 1, "failed": 2, "errors": 1, "skipped": 2}),
        "failing-v": Case(
            UNITTEST_MIXED, "-v", {"passed": 1, "failed": 2, "errors": 1, "skipped": 2}
        ),
        "failing-f": Case(UNITTEST_MIXED, "-f", {"failed": 1}),
        "zero": Case("", "", NONE),
        "skipped": Case(UNITTEST_SKIPPED, "", {"skipped": 2}),
        "collection-error": Case("import nowhere", "", {"errors": 1}),
        "exits": Case(UNITTEST_ENDS.format(end=EXITS), "", None),
        "crashes": Case(UNITTEST_ENDS.format(end=CRASHES), "", None),
        "killed": Case(UNITTEST_ENDS.format(end=KILLED), "-v", None),
    },
}


def main(runner: str, python: str, *wanted: str) -> None:
    """Record all cases of *runner*, or those that are *wanted*."""
    ask = "import importlib.metadata as m, sys; print(sys.version.split()[0])"
    ask += "; print(m.version('pytest'))" if runner == "pytest" else ""
    versions = subprocess.check_output([python, "-c", ask], text=True).split()
    version = "-".join(versions[1:] or versions)
    index_file = HERE / "index.json"
    index = json.loads(index_file.read_text()) if index_file.exists() else {}
    for name, case in CASES[runner].items():
        if not wanted or name in wanted:
            index[f"{runner}/{version}/{name}"] = {
                **record(runner, python, case, HERE / runner / version / name),
                "runner": f"{runner} {version}",
                "python": versions[0],
                "real_run": True,
                "counts": case.counts,
            }
    index_file.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def record(runner: str, python: str, case: Case, stem: Path) -> dict[str, object]:
    """Run *case*; write its two streams; return how it was run and how it ended."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    PROJECT.mkdir()
    (PROJECT / "test_it.py").write_text(case.source)
    command = [python, "-m", runner, *case.arguments.split()]
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    if runner == "pytest":
        command[1:3] = [os.path.join(os.path.dirname(python), "pytest")]
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command += ["-p", "no:cacheprovider", "-p", "xdist"]
    ended = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, check=False)
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_name(stem.name + ".stdout").write_bytes(ended.stdout)
    stem.with_name(stem.name + ".stderr").write_bytes(ended.stderr)
    return {"command": " ".join(command), "exit": ended.returncode}


if __name__ == "__main__":
    main(*sys.argv[1:])
