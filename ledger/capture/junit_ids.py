"""The name of a test as people cite it, from what a JUnit report says of it."""

import re
from collections.abc import Sequence

_PART = re.compile(r"[^\s./\\:]+")
_TEST_MODULE = re.compile(r"test_.*|.*_test")  # what pytest takes for a module of tests


def citable_id(
    name: str, *, classname: str = "", file: str = "", suites: Sequence[str] = ()
) -> str:
    """Return the id of the test *name*: ``tests/test_x.py::TestA::test_y[1]`` or ``class::name``.

    The first form where it follows from *classname*, ``tests.test_x.TestA``: a *file* that is a
    Python module of that name says where the module ends; without one, classes are the last parts
    that begin with a capital, and the module must be named as one of tests is (a folder with a dot
    in its name is not seen). A *classname* that the name ends with adds nothing and is left out.
    node calls every class ``test``: there the names of the *suites* around the test tell more.
    """
    name, classname = name.strip(), classname.strip()
    if classname == "test":
        return " > ".join((*suites, name))
    if path := _python_path(classname, file.replace("\\", "/")):
        return f"{path}::{name}"
    if not classname or name.endswith(classname):
        return name or "(unnamed)"
    return f"{classname}::{name}"


def _python_path(classname: str, file: str) -> str:
    """Return ``tests/test_x.py::TestA`` of ``tests.test_x.TestA``; empty if it does not follow."""
    parts = classname.split(".")
    if not all(map(_PART.fullmatch, parts)):
        return ""
    if file.endswith(".py"):
        module = file.removesuffix(".py").split("/")
        return _joined(file, parts[len(module) :]) if parts[: len(module)] == module else ""
    end = len(parts)
    while end > 1 and parts[end - 1][0].isupper():
        end -= 1
    if not _TEST_MODULE.fullmatch(parts[end - 1]):
        return ""
    return _joined("/".join(parts[:end]) + ".py", parts[end:])


def _joined(path: str, classes: Sequence[str]) -> str:
    return "::".join((path, *classes))
