"""Cases for pytest and unittest."""

from capture.corpus.case import Case

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


NONE: dict[str, int] = {}
THREE = {"passed": 3}
ALL_SORTS = {"passed": 2, "failed": 2, "errors": 1, "skipped": 2}


def _pytest(source: str, arguments: str, counts: dict[str, int] | None) -> Case:
    command = " ".join(["pytest", *arguments.split(), "-p no:cacheprovider -p xdist"])
    return Case({"test_it.py": source}, command, counts)


def _unittest(source: str, arguments: str, counts: dict[str, int] | None) -> Case:
    return Case({"test_it.py": source}, f"python -m unittest {arguments}".strip(), counts)


PYTEST = {
    "passing": _pytest(PASSING, "", THREE),
    "passing-q": _pytest(PASSING, "-q", THREE),
    "passing-v": _pytest(PASSING, "-v", THREE),
    "passing-n2": _pytest(PASSING, "-n 2", THREE),
    "passing-n2-q-colour": _pytest(PASSING, "-n 2 -q --color=yes", THREE),
    "passing-colour": _pytest(PASSING, "--color=yes", THREE),
    "passing-qq": _pytest(PASSING, "-qq", None),
    "passing-no-header": _pytest(PASSING, "--no-header --durations=3", THREE),
    "failing": _pytest(MIXED, "", ALL_SORTS),
    "failing-q": _pytest(MIXED, "-q", ALL_SORTS),
    "failing-v-colour": _pytest(MIXED, "-v --color=yes", ALL_SORTS),
    "failing-n2-colour": _pytest(MIXED, "-n 2 --color=yes", ALL_SORTS),
    "failing-tb-line": _pytest(MIXED, "--tb=line -rA", ALL_SORTS),
    "failing-tb-no-q": _pytest(MIXED, "--tb=no -q", ALL_SORTS),
    "failing-s": _pytest(MIXED, "-s", ALL_SORTS),
    "failing-x": _pytest(MIXED, "-x", {"passed": 1, "failed": 1}),
    "failing-x-q-colour": _pytest(MIXED, "-x -q --color=yes", {"passed": 1, "failed": 1}),
    # pytest counts a failed subtest as a failed test, beside the test that it is part of
    "subtests": _pytest(SUBTESTS, "", {"passed": 1, "failed": 2}),
    "zero": _pytest("", "", NONE),
    "zero-q": _pytest("", "-q", NONE),
    "zero-colour": _pytest("", "--color=yes", NONE),
    "deselected": _pytest(PASSING, "-k nothing", {"deselected": 3}),
    "deselected-q": _pytest(PASSING, "-q -k nothing", {"deselected": 3}),
    "some-deselected": _pytest(PASSING, "-k two", {"passed": 1, "deselected": 2}),
    "skipped": _pytest(SKIPPED, "", {"skipped": 2}),
    "skipped-q-colour": _pytest(SKIPPED, "-q --color=yes", {"skipped": 2}),
    "collected": _pytest(PASSING, "--collect-only", NONE),
    "collected-q": _pytest(PASSING, "--collect-only -q -k two", NONE),
    "collection-error": _pytest("import nowhere", "", {"errors": 1}),
    "collection-error-q": _pytest("import nowhere", "-q", {"errors": 1}),
    "collection-error-n2": _pytest("import nowhere", "-n 2", {"errors": 1}),
    "exits": _pytest(ENDS.format(end=EXITS), "", None),
    "crashes": _pytest(ENDS.format(end=CRASHES), "", None),
    "crashes-n2": _pytest(ENDS.format(end=CRASHES), "-n 2", {"passed": 1, "failed": 1}),
    "killed": _pytest(ENDS.format(end=KILLED), "", None),
    "killed-v-colour": _pytest(ENDS.format(end=KILLED), "-v --color=yes", None),
    "interrupted": _pytest(ENDS.format(end=INTERRUPTED), "", {"passed": 1}),
}

UNITTEST = {
    "passing": _unittest(UNITTEST_PASSING, "", {"passed": 2}),
    "passing-v": _unittest(UNITTEST_PASSING, "-v", {"passed": 2}),
    "passing-b": _unittest(UNITTEST_PASSING, "-b", {"passed": 2}),
    "failing": _unittest(UNITTEST_MIXED, "", {"passed": 1, "failed": 2, "errors": 1, "skipped": 2}),
    "failing-v": _unittest(
        UNITTEST_MIXED, "-v", {"passed": 1, "failed": 2, "errors": 1, "skipped": 2}
    ),
    "failing-f": _unittest(UNITTEST_MIXED, "-f", {"failed": 1}),
    "zero": _unittest("", "", NONE),
    "skipped": _unittest(UNITTEST_SKIPPED, "", {"skipped": 2}),
    "collection-error": _unittest("import nowhere", "", {"errors": 1}),
    "exits": _unittest(UNITTEST_ENDS.format(end=EXITS), "", None),
    "crashes": _unittest(UNITTEST_ENDS.format(end=CRASHES), "", None),
    "killed": _unittest(UNITTEST_ENDS.format(end=KILLED), "-v", None),
}
