import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.junit_xml import (
    MAX_DEPTH,
    MAX_NAME,
    MAX_TESTS,
    MAX_TOKEN,
    Fault,
    Parser,
    Refused,
)

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">
<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">
<!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;"><!ENTITY h "&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;">]>
<testsuite name="&h;"><testcase name="&h;"/></testsuite>"""
CASE = '<testcase classname="c" name="n"/>'


def outcomes(text: str | bytes, *, piece: int = 65_536) -> dict[str, str]:
    found: dict[str, str] = {}
    parser = Parser(found)
    data = text.encode() if isinstance(text, str) else text
    for at in range(0, len(data), piece):
        parser.feed(data[at : at + piece])
    parser.close()
    return found


def fault(text: str | bytes) -> Fault | None:
    try:
        outcomes(text)
    except Refused as refused:
        return refused.fault
    return None


@pytest.mark.parametrize(
    ("children", "outcome"),
    [
        ("", "passed"),
        ("<failure/>", "failed"),
        ("<error message='x'/>", "error"),
        ("<skipped/>", "skipped"),
        ("<failure/><error/>", "error"),
        ("<error/><failure/>", "error"),
        ("<skipped/><failure/>", "failed"),
        ("<skipped type='todo'/><failure/>", "skipped"),
        ("<system-out>&lt;failure/&gt;</system-out>", "passed"),
        ("<system-out><failure/></system-out>", "passed"),
        ("<properties><property name='skipped'/></properties>", "passed"),
        ("<flakyFailure/>", "passed"),
        ("<flakyError/><flakyFailure/>", "passed"),
        ("<failure/><rerunFailure/>", "failed"),
        ("<error/><rerunError/>", "error"),
        (r"<error type='PHPUnit\Framework\RiskyTestError'/>", "passed"),
    ],
)
def test_how_a_test_ended(children: str, outcome: str) -> None:
    text = f'<testsuite><testcase name="n">{children}</testcase></testsuite>'
    assert outcomes(text) == {"n": outcome}


@pytest.mark.parametrize("status", ["disabled", "notrun", "skipped", "ignored"])
def test_a_status_tells_a_test_that_did_not_run(status: str) -> None:
    assert outcomes(f'<testsuite><testcase name="n" status="{status}"/></testsuite>') == {
        "n": "skipped"
    }


def test_of_two_outcomes_of_one_test_the_worse_one_counts() -> None:
    failing = CASE.replace("/>", "><failure/></testcase>")
    erring, skipped = failing.replace("failure", "error"), failing.replace("failure", "skipped")
    assert outcomes(f"<testsuite>{CASE}{failing}{CASE}</testsuite>") == {"c::n": "failed"}
    assert outcomes(f"<testsuite>{erring}{failing}</testsuite>") == {"c::n": "error"}
    assert outcomes(f"<testsuite>{CASE}{skipped}</testsuite>") == {"c::n": "skipped"}


def test_suites_may_be_nested_and_attributes_missing() -> None:
    nested = f"<testsuites><testsuite><testsuite>{CASE}</testsuite><testcase/></testsuite>{CASE}"
    assert outcomes(nested + "</testsuites>") == {"c::n": "passed", "(unnamed)": "passed"}
    assert outcomes("<testsuites/>") == {}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ('<testsuites errors="2"/>', 2),
        ('<testsuites><testsuite failures="1"/><testsuite errors="1"/></testsuites>', 2),
        ('<testsuite failures="1"><testcase name="n"><error/></testcase></testsuite>', 0),
        ('<testsuites failures="-1" errors="many"/>', 0),
        (f'<testsuites failures="{"9" * 5_000}"/>', 999_999_999),
    ],
)
def test_failures_that_only_the_totals_state_are_counted(text: str, missing: int) -> None:
    parser = Parser({})
    parser.feed(text.encode())
    assert parser.close() == missing


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings_of_xml_are_read(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><testsuite><testcase name="é"/></testsuite>'
    assert outcomes(text.encode(encoding)) == {"é": "passed"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LAUGHS, Fault.DOCUMENT_TYPE),
        (LAUGHS.encode("utf-16"), Fault.DOCUMENT_TYPE),
        ("<!DOCTYPE testsuite><testsuite/>", Fault.DOCUMENT_TYPE),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><testsuite/>', Fault.DOCUMENT_TYPE),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "/dev/zero">]><testsuite>&x;</testsuite>',
         Fault.DOCUMENT_TYPE),
        ("<testsuite>&x;</testsuite>", Fault.MALFORMED),
        ('<?xml version="1.0" encoding="utf-7"?><testsuite/>', Fault.ENCODING),
        ('<?xml version="1.0" encoding="zlib"?><testsuite/>', Fault.ENCODING),
        (b"<testsuite><testcase name='\xff'/></testsuite>", Fault.MALFORMED),
        (b"\xff\xfe<\x00", Fault.MALFORMED),
        ("", Fault.MALFORMED),
        ("no XML", Fault.MALFORMED),
        ('<testsuite><testcase name="n"/>', Fault.MALFORMED),
        ('<testsuite><testcase name="n', Fault.MALFORMED),
        ("<testsuite/><testsuite/>", Fault.MALFORMED),
        ("<testsuite>\0</testsuite>", Fault.MALFORMED),
        ("<testsuite>&#xD800;</testsuite>", Fault.MALFORMED),
        ("<testsuite a='1' a='2'/>", Fault.MALFORMED),
        ("<html><testsuite/></html>", Fault.NOT_JUNIT),
        ("<testcase name='n'/>", Fault.NOT_JUNIT),
        ("<testsuite>" * (MAX_DEPTH + 1), Fault.TOO_DEEP),
        (f'<testsuite><testcase name="{"n" * (MAX_NAME + 1)}"/></testsuite>', Fault.NAME_TOO_LONG),
        (f'<testsuite><testcase name="{"n" * MAX_TOKEN}', Fault.NAME_TOO_LONG),
        (f'<testsuite a="{"n" * (MAX_TOKEN + 65_536)}', Fault.TOO_LARGE),
        (f'<testsuite><!--{"n" * (MAX_TOKEN + 65_536)}', Fault.TOO_LARGE),
    ],
)  # fmt: skip
def test_what_is_refused(text: str | bytes, expected: Fault) -> None:
    if expected is Fault.NAME_TOO_LONG and isinstance(text, str) and not text.endswith(">"):
        text += '"/></testsuite>'
    assert fault(text) is expected


def test_a_name_may_be_as_long_as_the_limit() -> None:
    assert fault(f'<testsuite><testcase name="{"n" * MAX_NAME}"/></testsuite>') is None


@pytest.mark.parametrize("around", ["<![CDATA[{}]]>", "{}", "<!-- -->{}"])
def test_output_of_any_length_is_passed_over(around: str) -> None:
    output = around.format("x\n" * 2 * MAX_TOKEN)
    text = f"<testsuite><system-out>{output}</system-out>{CASE}</testsuite>"
    assert outcomes(text) == {"c::n": "passed"}


def test_100_000_tests_are_read_and_not_one_more() -> None:
    found: dict[str, str] = {}
    parser = Parser(found)
    parser.feed(b"<testsuite>")
    for thousand in range(MAX_TESTS // 1_000):
        tests = (f'<testcase name="{thousand}.{number}"/>' for number in range(1_000))
        parser.feed("".join(tests).encode())
    assert len(found) == MAX_TESTS
    with pytest.raises(Refused, match="too many tests"):
        parser.feed(b'<testcase name="one more"/>')


def test_pieces_of_any_size_say_the_same() -> None:
    text = f'<?xml version="1.0"?><testsuites>{CASE}<testsuite name="é"/></testsuites>'
    assert outcomes(text, piece=1) == outcomes(text, piece=7) == {"c::n": "passed"}


fragments = st.lists(
    st.sampled_from(
        ["<testsuites>", "<testsuite name='s' errors='1'>", "</testsuite>", "</testsuites>", "<a>",
         "</a>", CASE, "<testcase name='t'>", "</testcase>", "<failure/>", "<skipped/>", "&lt;",
         "<![CDATA[", "]]>", "<!--", "-->", "<!DOCTYPE a [", "<!ENTITY x 'y'>", "&x;", "\x00", "é",
         "<?xml version='1.0' encoding='utf-16'?>", "<?xml version='1.0' encoding='cp037'?>"]
    )
).map("".join)  # fmt: skip


@given(st.one_of(st.binary(), st.text().map(str.encode), fragments.map(str.encode)))
def test_any_bytes_are_outcomes_or_a_fault(data: bytes) -> None:
    fault(data)


@given(fragments, st.sampled_from(["utf-16", "utf-16-le", "utf-8-sig", "utf-32"]))
def test_any_encoding_is_outcomes_or_a_fault(text: str, encoding: str) -> None:
    fault(text.encode(encoding))
