"""Cases for jest, vitest, mocha and node's own runner."""

from collections.abc import Mapping

from capture.corpus.case import Case

PASSING = """
test("one", () => {});
test("two", () => {});
test("three", () => {});
"""

MIXED = """
test("passes", () => {
  console.log("      Tests  99 passed (99)\\nTests:       99 passed, 99 total");
  console.log("  99 passing (1ms)");
});
test("fails", () => { throw new Error("no"); });
test("fails too", () => { throw new Error("  9 passing (1ms)\\n  9 pending\\n"); });
test.skip("is skipped", () => {});
test.todo("is still to be written");
"""

SKIPPED = """
test.skip("one", () => {});
test.skip("two", () => {});
"""

ENDS = """
test("passes", () => {});
test("ends", () => { END });
"""

EXITS = ENDS.replace("END", "process.exit(0);")
KILLED = ENDS.replace("END", 'process.kill(process.pid, "SIGKILL");')
KILLED_ABOVE = ENDS.replace("END", 'process.kill(process.ppid, "SIGKILL");')
ABORTS = ENDS.replace("END", "process.abort();")
BROKEN = 'import { nothing } from "./nowhere.mjs";\n'
UNHANDLED = """
test("passes", () => { Promise.reject(new Error("nobody listens")); });
"""

NONE: dict[str, int] = {}
THREE = {"passed": 3}
ALL_SORTS = {"passed": 1, "failed": 2, "skipped": 2}


def _jest(
    source: str, arguments: str, counts: Mapping[str, int] | None, terminal: bool = False
) -> Case:
    files = {"package.json": "{}", "it.test.js": source} if source else {"package.json": "{}"}
    return Case(files, f"jest {arguments}".strip(), counts, terminal)


JEST = {
    "passing": _jest(PASSING, "", THREE),
    "passing-colour": _jest(PASSING, "--color", THREE),
    "passing-terminal": _jest(PASSING, "--verbose", THREE, terminal=True),
    "passing-silent": _jest(PASSING, "--silent", THREE),
    "failing": _jest(MIXED, "", ALL_SORTS),
    "failing-verbose-colour": _jest(MIXED, "--verbose --color", ALL_SORTS),
    "failing-terminal": _jest(MIXED, "", ALL_SORTS, terminal=True),
    "failing-bail": _jest(MIXED, "--bail", {"passed": 1, "failed": 2, "skipped": 2}),
    "two-files": Case(
        {"package.json": "{}", "a.test.js": PASSING, "b.test.js": MIXED, "c.test.js": "broken("},
        "jest",
        {"passed": 4, "failed": 2, "skipped": 2},  # as many failed files as failed tests
    ),
    "zero": _jest("", "", NONE),
    "zero-allowed": _jest("", "--passWithNoTests", NONE),
    "filtered": _jest(PASSING, "-t nothing", {"skipped": 3}),
    "skipped": _jest(SKIPPED, "", {"skipped": 2}),
    "skipped-colour": _jest(SKIPPED, "--color", {"skipped": 2}),
    "broken": _jest("broken(", "", {"errors": 1}),
    "exits": _jest(EXITS, "", None),
    "aborts": _jest(ABORTS, "--runInBand", None),
    "killed": _jest(KILLED, "--runInBand --color", None),
}


def _colour(arguments: str) -> str:
    """Return what switches colours off: vitest uses them in a pipe as well."""
    return "" if "--color" in arguments else "NO_COLOR=1 "


def _vitest(
    source: str, arguments: str, counts: Mapping[str, int] | None, terminal: bool = False
) -> Case:
    files = {"it.test.mjs": source, "package.json": "{}"} if source else {"package.json": "{}"}
    return Case(
        files, f"{_colour(arguments)}vitest run --globals {arguments}".strip(), counts, terminal
    )


VITEST = {
    "passing": _vitest(PASSING, "", THREE),
    "passing-colour": _vitest(PASSING, "--reporter=verbose --color", THREE),
    "passing-terminal": _vitest(PASSING, "--color", THREE, terminal=True),
    "failing": _vitest(MIXED, "", ALL_SORTS),
    "failing-colour": _vitest(MIXED, "--color", ALL_SORTS),
    "failing-terminal": _vitest(MIXED, "--color", ALL_SORTS, terminal=True),
    "failing-dot": _vitest(MIXED, "--reporter=dot", ALL_SORTS),
    "projects": Case(
        {
            "package.json": "{}",
            "vitest.config.mjs": 'export default { test: { projects: ["a", "b"] } };',
            "a/it.test.mjs": 'import { test } from "vitest";' + PASSING,
            "a/package.json": '{"name": "a"}',
            "b/it.test.mjs": 'import { test } from "vitest";' + MIXED,
            "b/package.json": '{"name": "b"}',
            "b/other.test.mjs": BROKEN,
        },
        "NO_COLOR=1 vitest run",
        {"passed": 4, "failed": 2, "skipped": 2},  # as many failed files as failed tests
    ),
    "zero": _vitest("", "", NONE),
    "zero-allowed": _vitest("", "--passWithNoTests", NONE),
    "filtered": _vitest(PASSING, "-t nothing", {"skipped": 3}),
    "skipped": _vitest(SKIPPED, "", {"skipped": 2}),
    "skipped-colour": _vitest(SKIPPED, "--color", {"skipped": 2}),
    "broken": _vitest(BROKEN, "", {"errors": 1}),
    "unhandled": _vitest(UNHANDLED, "", {"passed": 1, "errors": 1}),
    "exits": _vitest(EXITS, "--pool=threads", {"failed": 1, "passed": 1}),
    "killed": _vitest(KILLED_ABOVE, "--pool=forks --color", None),
}


def _mocha(
    source: str, arguments: str, counts: Mapping[str, int] | None, terminal: bool = False
) -> Case:
    source = source.replace("test.todo", "it.skip").replace("test(", "it(")
    files = {"test/it.cjs": source.replace("test.", "it.")} if source else {"package.json": "{}"}
    return Case(files, f"mocha {arguments} --extension cjs".replace("  ", " "), counts, terminal)


HOOK = """
beforeEach(() => { throw new Error("set-up fails"); });
it("one", () => {});
"""

MOCHA = {
    "passing": _mocha(PASSING, "", THREE),
    "passing-dot-colour": _mocha(PASSING, "--reporter dot --color", THREE),
    "passing-terminal": _mocha(PASSING, "", THREE, terminal=True),
    "failing": _mocha(MIXED, "", ALL_SORTS),
    "failing-colour": _mocha(MIXED, "--color", ALL_SORTS),
    "failing-terminal": _mocha(MIXED, "--reporter nyan", ALL_SORTS, terminal=True),
    "failing-bail": _mocha(MIXED, "--bail", {"passed": 1, "failed": 1}),
    "hook": _mocha(HOOK, "", {"failed": 1}),
    "zero": _mocha("", "", NONE),
    "empty": _mocha("0;", "", NONE),
    "filtered": _mocha(PASSING, "--grep nothing", NONE),
    "skipped": _mocha(SKIPPED, "", {"skipped": 2}),
    "skipped-colour": _mocha(SKIPPED, "--color", {"skipped": 2}),
    "broken": _mocha("broken(", "", None),
    "exits": _mocha(EXITS, "", None),
    "aborts": _mocha(ABORTS, "", None),
    "killed": _mocha(KILLED, "--color", None),
}

NODE_TEST = 'const test = require("node:test");\n'


def _node(
    source: str, arguments: str, counts: Mapping[str, int] | None, terminal: bool = False
) -> Case:
    files = {"it.test.js": NODE_TEST + source} if source else {"package.json": "{}"}
    return Case(files, f"node --test {arguments}".strip(), counts, terminal)


CANCELLED = """
test("never ends", { timeout: 20 }, () => new Promise((go) => setTimeout(go, 200)));
test("has a failing part", async (t) => { await t.test("part", () => { throw new Error("x"); }); });
test("is expected to fail", { todo: true }, () => { throw new Error("y"); });
"""
SPEC, TAP = "--test-reporter=spec", "--test-reporter=tap"

NODE = {
    "passing": _node(PASSING, SPEC, THREE),
    "passing-tap": _node(PASSING, TAP, THREE),
    "passing-colour": Case({"it.test.js": NODE_TEST + PASSING}, "FORCE_COLOR=1 node --test", THREE),
    "passing-terminal": _node(PASSING, "", THREE, terminal=True),
    "failing": _node(MIXED, SPEC, ALL_SORTS),
    "failing-tap": _node(MIXED, TAP, ALL_SORTS),
    "failing-terminal": _node(MIXED, "", ALL_SORTS, terminal=True),
    # a failing part and the test that it is part of are two tests
    "cancelled": _node(CANCELLED, SPEC, {"failed": 2, "errors": 1, "skipped": 1}),
    "cancelled-tap": _node(CANCELLED, TAP, {"failed": 2, "errors": 1, "skipped": 1}),
    "dot": _node(PASSING, "--test-reporter=dot", None),
    "zero": _node("", SPEC, NONE),
    "zero-tap": _node("", TAP, NONE),
    "skipped": _node(SKIPPED, SPEC, {"skipped": 2}),
    "skipped-tap": _node(SKIPPED, TAP, {"skipped": 2}),
    "broken": _node("broken(", SPEC, {"failed": 1}),
    "exits": _node(EXITS, SPEC, {"passed": 1}),
    "aborts-tap": _node(ABORTS, TAP, {"failed": 1}),
    "killed": _node(KILLED_ABOVE, SPEC, None),
}
