import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.junit_ids import citable_id


@pytest.mark.parametrize(
    ("name", "classname", "file", "expected"),
    [
        ("test_y[1]", "tests.test_x.TestA", "", "tests/test_x.py::TestA::test_y[1]"),
        ("test_y", "tests.test_x.TestA.TestB", "", "tests/test_x.py::TestA::TestB::test_y"),
        ("test_y", "tests.test_x", "", "tests/test_x.py::test_y"),
        ("test_y", "tests.x_test", "", "tests/x_test.py::test_y"),
        ("test_y", "Tests.test_x", "", "Tests/test_x.py::test_y"),
        ("test_y", "test_x", "", "test_x.py::test_y"),
        ("test_y", "tests.test_x.TestA", "tests/test_x.py", "tests/test_x.py::TestA::test_y"),
        ("test_y", "tests.test_x.TestA", r"tests\test_x.py", "tests/test_x.py::TestA::test_y"),
        ("check", "checks.parsing.lower", "checks/parsing.py", "checks/parsing.py::lower::check"),
        ("test_y", "tests.test_x", "tests/other.py", "tests.test_x::test_y"),
        ("test_y", "tests.test_xy", "tests/test_x.py", "tests.test_xy::test_y"),
        ("test_y", "tests.test_x", "/tmp/tests/test_x.py", "tests.test_x::test_y"),
        ("testY", "com.example.ThingTest", "", "com.example.ThingTest::testY"),
        ("testOne", "ItTest", "/tmp/project/tests/ItTest.php", "ItTest::testOne"),
        ("TestX/part", "example.com/project/a", "", "example.com/project/a::TestX/part"),
        ("it passes", "spec.it_spec", "./spec/it_spec.rb", "spec.it_spec::it passes"),
        ("outer > it", "src/it.test.mjs", "", "src/it.test.mjs::outer > it"),
        ("outer it", "outer it", "", "outer it"),
        ("outer it", "it", "", "outer it"),
        ("one", "", "", "one"),
        ("", "c", "", "c::"),
        ("", "", "", "(unnamed)"),
        ("x", "..", "", "..::x"),
        ("x", "a::test_b", "", "a::test_b::x"),
    ],
)
def test_ids_as_people_cite_them(name: str, classname: str, file: str, expected: str) -> None:
    assert citable_id(name, classname=classname, file=file) == expected


def test_where_every_class_has_the_same_name_the_suites_tell() -> None:
    assert citable_id("it", classname="test", suites=["outer", "inner"]) == "outer > inner > it"
    assert citable_id("it", classname="test") == "it"
    assert citable_id("it", classname="c", suites=["outer"]) == "c::it"


@given(st.text(), st.text(), st.text(), st.lists(st.text()))
def test_any_texts_have_an_id(name: str, classname: str, file: str, suites: list[str]) -> None:
    assert citable_id(name, classname=classname, file=file, suites=suites)


parts = st.from_regex(r"[a-z]{1,5}", fullmatch=True)


@given(st.lists(parts, max_size=3), parts, st.lists(parts.map(str.capitalize), max_size=2))
def test_the_file_of_a_test_module_need_not_be_told(
    folders: list[str], module: str, classes: list[str]
) -> None:
    names = [*folders, f"test_{module}"]
    classname, file = ".".join([*names, *classes]), "/".join(names) + ".py"
    expected = "::".join([file, *classes, "test"])
    assert citable_id("test", classname=classname) == expected
    assert citable_id("test", classname=classname, file=file) == expected
