import json
import os
from pathlib import Path

import pytest

from memprove.ledger.capture.counts import Counts
from memprove.ledger.capture.junit import MAX_FILES, Report, read_junit, stamp
from memprove.ledger.capture.junit_xml import MAX_BYTES, Fault

CORPUS = Path(__file__).parent / "corpus"
OUTCOMES: dict[str, dict[str, str]] = json.loads((CORPUS / "outcomes.json").read_text("ascii"))

PASSING = '<testsuite><testcase classname="a" name="one"/></testsuite>'
FAILING = '<testsuite><testcase classname="a" name="two"><failure/></testcase></testsuite>'


@pytest.mark.parametrize("name", OUTCOMES)
def test_the_outcomes_in_a_real_report_are_read(name: str) -> None:
    report = read_junit(CORPUS / "junit" / f"{name}.xml", before=None)
    assert isinstance(report, Report)
    assert dict(report.outcomes) == OUTCOMES[name]
    assert list(report.outcomes) == sorted(report.outcomes)


@pytest.mark.parametrize("name", sorted(OUTCOMES.keys() - {"gotestsum-broken"}))
def test_the_counts_are_those_of_the_outcomes(name: str) -> None:
    report = read_junit(CORPUS / "junit" / f"{name}.xml", before=None)
    assert isinstance(report, Report)
    ended = list(OUTCOMES[name].values())
    counted = (ended.count(word) for word in ("passed", "failed", "error", "skipped"))
    assert report.counts == Counts("junit", *counted)


def test_a_failure_that_only_the_totals_state_is_an_error() -> None:
    report = read_junit(CORPUS / "junit" / "gotestsum-broken.xml", before=None)
    assert isinstance(report, Report)
    assert report.counts == Counts("junit", passed=3, errors=1)


def test_the_reports_are_complete_and_show_no_machine() -> None:
    index = json.loads((CORPUS / "index.json").read_text("ascii"))
    files = sorted((CORPUS / "junit").iterdir())
    assert [file.name for file in files] == sorted(f"{name}.xml" for name in OUTCOMES)
    assert {f"junit/{name}" for name in OUTCOMES} == {n for n in index if n.startswith("junit/")}
    text = b"".join(file.read_bytes() for file in files)
    assert b"/root/" not in text
    assert b"/home/" not in text


def test_a_report_that_the_run_wrote_counts(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    before = stamp(file)
    assert before is None
    file.write_text(PASSING)
    assert read_junit(file, before=before) == Report(
        Counts("junit", passed=1), (("a::one", "passed"),)
    )


def test_a_report_that_the_run_left_as_it_was_counts_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(PASSING)
    before = stamp(file)
    file.write_text(PASSING)
    assert read_junit(file, before=before) is Fault.UNCHANGED
    file.write_text(FAILING)
    assert isinstance(read_junit(file, before=before), Report)


def test_a_folder_is_read_in_the_order_of_names_without_old_and_other_files(tmp_path: Path) -> None:
    (tmp_path / "old.xml").write_text(FAILING)
    before = stamp(tmp_path)
    (tmp_path / "b.xml").write_text(FAILING.replace("two", "one"))
    (tmp_path / "a.xml").write_text(PASSING)
    (tmp_path / "results.xml").write_text("<testng-results/>")
    (tmp_path / "notes.txt").write_text("no XML")
    assert read_junit(tmp_path, before=before) == Report(
        Counts("junit", failed=1), (("a::one", "failed"),)
    )


def test_a_broken_file_in_a_folder_spoils_it(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(PASSING)
    (tmp_path / "b.xml").write_text("<testsuite>")
    assert read_junit(tmp_path, before=None) is Fault.MALFORMED


def test_an_old_broken_file_in_a_folder_spoils_nothing(tmp_path: Path) -> None:
    (tmp_path / "b.xml").write_text("<testsuite>")
    before = stamp(tmp_path)
    (tmp_path / "a.xml").write_text(PASSING)
    assert isinstance(read_junit(tmp_path, before=before), Report)


def test_a_folder_of_old_files_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(PASSING)
    assert read_junit(tmp_path, before=stamp(tmp_path)) is Fault.UNCHANGED


def test_a_folder_that_holds_no_report_has_none(tmp_path: Path) -> None:
    assert read_junit(tmp_path, before=stamp(tmp_path)) is Fault.MISSING
    (tmp_path / "a.xml").write_text("<html/>")
    assert read_junit(tmp_path, before=None) is Fault.NOT_JUNIT


def test_a_folder_of_too_many_files_is_too_large(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number}.xml").touch()
    before = stamp(tmp_path)
    assert read_junit(tmp_path, before=None) is Fault.TOO_LARGE
    (tmp_path / "0.xml").unlink()
    assert read_junit(tmp_path, before=before) is Fault.NOT_COMPARED


def test_a_link_to_a_report_that_is_not_there_yet_is_nothing(tmp_path: Path) -> None:
    link, file = tmp_path / "link.xml", tmp_path / "report.xml"
    link.symlink_to(file)
    before = stamp(link)
    file.write_text(PASSING)
    assert isinstance(read_junit(link, before=before), Report)


@pytest.mark.parametrize("path", ["nowhere.xml", "no\0where.xml", "a" * 5_000, "a.xml/b.xml"])
def test_a_path_that_leads_nowhere_is_a_fault(tmp_path: Path, path: str) -> None:
    (tmp_path / "a.xml").write_text(PASSING)
    stamp(tmp_path / path)
    assert read_junit(tmp_path / path, before=None) in (Fault.MISSING, Fault.UNREADABLE)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.xml")
    before = stamp(tmp_path / "report.xml")
    assert read_junit(tmp_path / "report.xml", before=None) is Fault.UNREADABLE
    (tmp_path / "report.xml").unlink()
    (tmp_path / "report.xml").write_text(PASSING)
    assert read_junit(tmp_path / "report.xml", before=before) is Fault.UNCHANGED
    assert read_junit(Path("/dev/zero"), before=None) is Fault.UNREADABLE


def test_64_mib_are_read_and_not_one_byte_more(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text(PASSING)
    with file.open("ab") as stream:
        stream.truncate(MAX_BYTES + 1)
    assert read_junit(file, before=None) is Fault.TOO_LARGE
    fill = b"<system-out>" + b"x" * 1_000_000 + b"</system-out>"
    whole = b"<testsuite>" + fill * (MAX_BYTES // len(fill)) + b"<testcase name='a'/></testsuite>"
    file.write_bytes(whole + b"\n" * (MAX_BYTES - len(whole)))
    assert isinstance(read_junit(file, before=None), Report)


def test_the_limit_is_that_of_the_whole_folder(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_text("<testsuite/>" + "\n" * (MAX_BYTES // 2))
    assert read_junit(tmp_path, before=None) is Fault.TOO_LARGE


def test_what_was_too_large_to_be_stamped_counts_as_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    with file.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    before = stamp(file)
    file.write_text(PASSING)
    assert read_junit(file, before=before) is Fault.UNCHANGED
