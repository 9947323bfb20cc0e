"""One JUnit report, parsed as it is read: which test ended how.

There is no standard. Read is what the producers have in common: `testsuite` elements, also nested,
with `testcase` elements, and in these `failure`, `error` or `skipped`. No report needs a document
type, so none is accepted, and with it no entity and nothing external. Nothing is kept but ids and
outcomes, and what is kept is bounded.
"""

from collections.abc import Mapping
from enum import StrEnum

from memprove.ledger.capture.junit_ids import citable_id

MAX_BYTES = 64 * 1024 * 1024
MAX_TESTS = 100_000
MAX_NAME = 1_000
MAX_DEPTH = 64
MAX_TOKEN = 1024 * 1024
"""The longest tag or comment; expat before 2.6 takes quadratic time for one that does not end."""


class Fault(StrEnum):
    """Why there are no outcomes from a report."""

    MISSING = "missing"
    UNCHANGED = "unchanged"
    NOT_COMPARED = "not compared"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too large"
    TOO_MANY_TESTS = "too many tests"
    NAME_TOO_LONG = "name too long"
    TOO_DEEP = "too deep"
    DOCUMENT_TYPE = "document type"
    ENCODING = "encoding"
    MALFORMED = "malformed"
    NOT_JUNIT = "not JUnit"


class Refused(Exception):
    """A report that cannot be read, with the *fault*."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


WORST_LAST = ("passed", "skipped", "failed", "error")
"""The outcomes. Of two of one test the worse one counts, and skipped proves nothing."""

SUITES = ("testsuites", "testsuite")
ENCODINGS = frozenset(("utf-8", "utf-16", "us-ascii", "ascii", "iso-8859-1"))
RISKY = "PHPUnit\\Framework\\RiskyTestError"  # a passed test that phpunit thinks little of
NOT_RUN = frozenset(("disabled", "ignored", "notrun", "skipped"))


class Parser:
    """Parse one report, fed in pieces; add its outcomes to *outcomes*, the worst one winning."""

    def __init__(self, outcomes: dict[str, str]) -> None:
        self._outcomes = outcomes
        self._tests = len(outcomes)
        self._fed = 0
        self._elements: list[str] = []
        self._suites: list[str] = []
        self._stated = [0, 0]  # by the root, by the suites in it
        self._failed = 0
        self._id, self._outcome = "", ""
        from xml.parsers import expat  # late: few Runs come with a report

        self._error = expat.ExpatError
        self._expat = expat.ParserCreate()
        if hasattr(self._expat, "SetReparseDeferralEnabled"):  # from expat 2.6 on
            # Deferred, a long token is seen late; MAX_TOKEN bounds what reading it again costs.
            self._expat.SetReparseDeferralEnabled(False)
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.XmlDeclHandler = _check_encoding
        self._expat.StartDoctypeDeclHandler = _refuse_document_type
        self._expat.EntityDeclHandler = _refuse_document_type
        self._expat.ExternalEntityRefHandler = _refuse_document_type

    def feed(self, piece: bytes) -> None:
        """Parse *piece*; raise Refused."""
        self._parse(piece, final=False)
        self._fed += len(piece)
        if self._fed > MAX_BYTES or self._fed - self._expat.CurrentByteIndex > MAX_TOKEN:
            raise Refused(Fault.TOO_LARGE)

    def close(self) -> int:
        """End the report; raise Refused if it is not whole.

        Return how many failures it states in its totals and shows with no test: packages that
        cannot be built, for instance.
        """
        self._parse(b"", final=True)
        return max(0, max(self._stated) - self._failed)

    def _parse(self, piece: bytes, *, final: bool) -> None:
        try:
            self._expat.Parse(piece, final)
        except (self._error, ValueError, LookupError) as error:
            raise Refused(Fault.MALFORMED) from error

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        depth = len(self._elements)
        above = self._elements[-1] if self._elements else ""
        if depth == 0 and name not in SUITES:
            raise Refused(Fault.NOT_JUNIT)
        if depth == MAX_DEPTH:
            raise Refused(Fault.TOO_DEEP)
        self._elements.append(name)
        if name in SUITES:
            self._start_suite(depth, name, attributes)
        elif name == "testcase" and above in SUITES:
            self._start_test(attributes)
        elif above == "testcase":
            self._judge(name, attributes)

    def _start_suite(self, depth: int, name: str, attributes: Mapping[str, str]) -> None:
        if depth < len(self._stated):
            self._stated[depth] += _number(attributes, "failures") + _number(attributes, "errors")
        if name == "testsuite":
            self._suites.append(attributes.get("name", ""))

    def _start_test(self, attributes: Mapping[str, str]) -> None:
        self._tests += 1
        if self._tests > MAX_TESTS:
            raise Refused(Fault.TOO_MANY_TESTS)
        self._id = citable_id(
            attributes.get("name", ""),
            classname=attributes.get("classname", ""),
            file=attributes.get("file", ""),
            suites=self._suites,
        )
        if len(self._id) > MAX_NAME:
            raise Refused(Fault.NAME_TOO_LONG)
        self._outcome = "skipped" if attributes.get("status") in NOT_RUN else "passed"

    def _judge(self, name: str, attributes: Mapping[str, str]) -> None:
        """Follow a child of a test. Marks of a rerun (``flakyFailure``) leave the last outcome."""
        outcome = {"failure": "failed", "error": "error", "skipped": "skipped"}.get(name)
        if attributes.get("type") == RISKY:
            self._failed += 1
        elif outcome == "skipped" and attributes.get("type") == "todo":
            self._outcome = "todo"  # node: a failure beside it is expected
        elif outcome is not None and self._outcome != "todo":
            self._outcome = _worse(self._outcome, outcome)

    def _end(self, name: str) -> None:
        self._elements.pop()
        if name == "testsuite":
            self._suites.pop()
        elif name == "testcase" and self._elements[-1] in SUITES:
            outcome = "skipped" if self._outcome == "todo" else self._outcome
            self._failed += outcome in ("failed", "error")
            self._outcomes[self._id] = _worse(self._outcomes.get(self._id, outcome), outcome)


def _worse(one: str, other: str) -> str:
    return max(one, other, key=WORST_LAST.index)


def _number(attributes: Mapping[str, str], name: str) -> int:
    digits = attributes.get(name, "")
    return int(digits[:9]) if digits.isascii() and digits.isdecimal() else 0


def _check_encoding(version: str, encoding: str | None, standalone: int) -> None:
    """Refuse encodings that expat leaves to the codecs of the interpreter."""
    if encoding is not None and encoding.lower() not in ENCODINGS:
        raise Refused(Fault.ENCODING)


def _refuse_document_type(*_: object) -> int:
    raise Refused(Fault.DOCUMENT_TYPE)
