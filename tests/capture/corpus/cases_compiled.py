"""Cases for go test, cargo test, cargo nextest and ctest."""

from collections.abc import Mapping

from capture.corpus.case import Case

NONE: dict[str, int] = {}

GO_HEAD = """package {package}

import (
	"os"
	"syscall"
	"testing"
)

var _, _ = os.Exit, syscall.Kill
"""
GO_PASSING = """
func TestOne(t *testing.T)   {}
func TestTwo(t *testing.T)   { t.Run("part", func(t *testing.T) {}) }
"""
GO_FAILING = """
func TestPasses(t *testing.T) {}
func TestFails(t *testing.T)  { t.Run("part", func(t *testing.T) { t.Error("no") }) }
func TestSkips(t *testing.T)  { t.Skip("not here") }
"""
GO_SKIPPED = """
func TestOne(t *testing.T) { t.Skip("not here") }
"""
GO_ENDS = """
func TestPasses(t *testing.T) {}
func TestEnds(t *testing.T)   { END }
"""
GO_PANICS = GO_ENDS.replace("END", 'panic("no more")')
GO_EXITS = GO_ENDS.replace("END", "os.Exit(0)")
GO_KILLED = GO_ENDS.replace("END", "syscall.Kill(os.Getppid(), syscall.SIGKILL)")


def _go(arguments: str, counts: Mapping[str, int] | None, **tests: str) -> Case:
    files = {"go.mod": "module example.com/project\n"}
    for package, source in tests.items():
        files[f"{package}/{package}.go"] = f"package {package}\n"
        if source:
            files[f"{package}/{package}_test.go"] = GO_HEAD.format(package=package) + source
    return Case(files, f"go test {arguments}".strip(), counts)


# Without -v or -json, go test names packages and no tests: a package is what is counted.
GO = {
    "passing": _go("./...", {"passed": 2}, a=GO_PASSING, b=GO_SKIPPED, c=""),
    "passing-v": _go("-v ./...", {"passed": 3, "skipped": 1}, a=GO_PASSING, b=GO_SKIPPED, c=""),
    "passing-json": _go("-json ./...", {"passed": 3, "skipped": 1}, a=GO_PASSING, b=GO_SKIPPED),
    "passing-cover": _go("-cover ./...", {"passed": 1}, a=GO_PASSING, c=""),
    "failing": _go("./...", {"passed": 1, "failed": 1}, a=GO_PASSING, b=GO_FAILING),
    "failing-v": _go(
        "-v ./...", {"passed": 4, "failed": 2, "skipped": 1}, a=GO_PASSING, b=GO_FAILING
    ),
    "failing-json": _go(
        "-json ./...", {"passed": 4, "failed": 2, "skipped": 1}, a=GO_PASSING, b=GO_FAILING
    ),
    "broken": _go("./...", {"passed": 1, "errors": 1}, a=GO_PASSING, b="broken"),
    "broken-v": _go("-v ./...", {"passed": 3, "errors": 1}, a=GO_PASSING, b="broken"),
    "broken-json": _go("-json ./...", {"passed": 3, "errors": 1}, a=GO_PASSING, b="broken"),
    "zero": _go("./...", NONE, a="", b=""),
    "zero-json": _go("-json ./...", NONE, a="", b=""),
    "filtered": _go("-run Nothing ./...", NONE, a=GO_PASSING, b=GO_FAILING),
    "filtered-v": _go("-v -run Nothing ./...", NONE, a=GO_PASSING, b=GO_FAILING),
    "filtered-json": _go("-json -run Nothing ./...", NONE, a=GO_PASSING),
    "skipped-v": _go("-v ./...", {"skipped": 1}, b=GO_SKIPPED),
    "skipped-json": _go("-json ./...", {"skipped": 1}, b=GO_SKIPPED),
    "panics": _go("./...", {"passed": 1, "failed": 1}, a=GO_PASSING, b=GO_PANICS),
    "panics-v": _go("-v ./...", {"passed": 4, "failed": 1}, a=GO_PASSING, b=GO_PANICS),
    "panics-json": _go("-json ./...", {"passed": 4, "failed": 1}, a=GO_PASSING, b=GO_PANICS),
    "exits-v": _go("-v ./...", {"passed": 1, "failed": 1}, b=GO_EXITS),
    "killed": _go("./...", None, b=GO_KILLED),
    "killed-v": _go("-v ./...", None, b=GO_KILLED),
}

RUST_PASSING = """
#[test] fn one() {}
#[test] fn two() {}
#[test] fn three() {}
"""
RUST_MIXED = """
#[test] fn passes() { println!("test result: ok. 99 passed; 0 failed"); }
#[test] fn fails() { assert_eq!(1 + 1, 3); }
#[test] fn fails_too() { panic!("test result: ok. 9 passed; 0 failed; 0 ignored"); }
#[test] #[ignore] fn is_ignored() {}
#[test] #[should_panic] fn panics_as_expected() { panic!(); }
"""
RUST_IGNORED = """
#[test] #[ignore] fn one() {}
#[test] #[ignore] fn two() {}
"""
RUST_ENDS = """
#[test] fn a_passes() {}
#[test] fn b_ends() { std::thread::sleep(std::time::Duration::from_millis(300)); END }
"""
RUST_ABORTS = RUST_ENDS.replace("END", "std::process::abort();")
RUST_EXITS = RUST_ENDS.replace("END", "std::process::exit(0);")
RUST_KILLED = RUST_ENDS.replace(
    "END",
    'std::process::Command::new("sh").args(["-c", "kill -9 $0", &std::os::unix::process::'
    "parent_id().to_string()]).status().unwrap();",
)
RUST_DOCUMENTED = """
/// ```
/// assert!(true);
/// ```
pub fn documented() {}
"""


def _cargo(
    command: str, counts: Mapping[str, int] | None, lib: str, terminal: bool = False, **tests: str
) -> Case:
    package = '[package]\nname = "project"\nversion = "0.1.0"\nedition = "2021"\n'
    files = {"Cargo.toml": package, "src/lib.rs": lib}
    files |= {f"tests/{name}.rs": source for name, source in tests.items()}
    return Case(files, f"cargo {command}", counts, terminal=terminal)


RUST_SORTS = {"passed": 2, "failed": 2, "skipped": 1}
CARGO = {
    "passing": _cargo("test", {"passed": 5}, RUST_DOCUMENTED, a=RUST_PASSING, b="#[test]fn x(){}"),
    "passing-q": _cargo("test -q", {"passed": 3}, "", a=RUST_PASSING),
    "passing-colour": _cargo("test --color=always -- --color=always", {"passed": 3}, RUST_PASSING),
    "failing": _cargo("test", RUST_SORTS, "", a=RUST_MIXED, b=RUST_PASSING),
    "failing-no-fail-fast": _cargo(
        "test --no-fail-fast", {"passed": 5, "failed": 2, "skipped": 1}, RUST_MIXED, b=RUST_PASSING
    ),
    "failing-colour": _cargo("test --color=always -- --color=always", RUST_SORTS, RUST_MIXED),
    "failing-terminal": _cargo("test --lib", RUST_SORTS, RUST_MIXED, terminal=True),
    "failing-q": _cargo("test -q --lib", RUST_SORTS, RUST_MIXED),
    "broken": _cargo("test", None, "broken"),
    "zero": _cargo("test", NONE, ""),
    "filtered": _cargo("test nothing", {"deselected": 3}, RUST_PASSING),
    "ignored": _cargo("test", {"skipped": 2}, RUST_IGNORED),
    "ignored-colour": _cargo("test --color=always -- --color=always", {"skipped": 2}, RUST_IGNORED),
    "aborts": _cargo("test --lib", {"errors": 1}, RUST_ABORTS),
    "exits": _cargo("test", {"passed": 3, "errors": 1}, RUST_PASSING, a=RUST_EXITS),
    "killed": _cargo("test --lib --color=always", {"passed": 2}, RUST_KILLED),
}

NEXTEST = {
    "passing": _cargo("nextest run", {"passed": 3}, "", a=RUST_PASSING),
    "passing-colour": _cargo("nextest run --color=always", {"passed": 3}, "", a=RUST_PASSING),
    "passing-terminal": _cargo("nextest run", {"passed": 3}, "", True, a=RUST_PASSING),
    "failing": _cargo(
        "nextest run --no-fail-fast",
        {"passed": 5, "failed": 2, "skipped": 1},
        RUST_MIXED,
        a=RUST_PASSING,
    ),
    "failing-colour": _cargo("nextest run --no-fail-fast --color=always", RUST_SORTS, RUST_MIXED),
    "failing-fast": _cargo("nextest run -j1", {"failed": 1, "skipped": 1}, RUST_MIXED),
    "zero": _cargo("nextest run", NONE, ""),
    "zero-allowed": _cargo("nextest run --no-tests=pass", NONE, ""),
    "filtered": _cargo("nextest run nothing", {"skipped": 3}, RUST_PASSING),
    "ignored": _cargo("nextest run", {"skipped": 2}, RUST_IGNORED),
    "ignored-colour": _cargo("nextest run --color=always", {"skipped": 2}, RUST_IGNORED),
    "aborts": _cargo("nextest run", {"passed": 1, "failed": 1}, RUST_ABORTS),
    "exits": _cargo("nextest run", {"passed": 2}, RUST_EXITS),
    "killed": _cargo("nextest run", None, RUST_KILLED),
}

CTEST_PASSING = """
add_test(NAME one COMMAND true)
add_test(NAME two COMMAND true)
"""
CTEST_MIXED = """
add_test(NAME passes COMMAND echo "100% tests passed, 0 tests failed out of 99")
add_test(NAME fails COMMAND false)
add_test(NAME is_missing COMMAND ./nowhere)
add_test(NAME crashes COMMAND sh -c "kill -11 $$")
add_test(NAME is_slow COMMAND sleep 20)
set_tests_properties(is_slow PROPERTIES TIMEOUT 1)
add_test(NAME is_skipped COMMAND sh -c "exit 77")
set_tests_properties(is_skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME is_disabled COMMAND false)
set_tests_properties(is_disabled PROPERTIES DISABLED TRUE)
"""
CTEST_SKIPPED = """
add_test(NAME one COMMAND sh -c "exit 77")
add_test(NAME two COMMAND sh -c "exit 77")
set_tests_properties(one two PROPERTIES SKIP_RETURN_CODE 77)
"""
CTEST_KILLED = """
add_test(NAME ends COMMAND sh -c "kill -9 $PPID")
"""


def _ctest(
    tests: str, arguments: str, counts: Mapping[str, int] | None, terminal: bool = False
) -> Case:
    head = "cmake_minimum_required(VERSION 3.13)\nproject(it NONE)\nenable_testing()\n"
    command = f"cmake -S . -B b >cmake.log 2>&1 && cd b && ctest {arguments}".strip()
    return Case({"CMakeLists.txt": head + tests}, command, counts, terminal=terminal)


CTEST_SORTS = {"passed": 1, "failed": 4, "skipped": 2}
CTEST = {
    "passing": _ctest(CTEST_PASSING, "", {"passed": 2}),
    "passing-v": _ctest(CTEST_PASSING, "-V", {"passed": 2}),
    "passing-terminal": _ctest(CTEST_PASSING, "--progress", {"passed": 2}, terminal=True),
    "failing": _ctest(CTEST_MIXED, "", CTEST_SORTS),
    "failing-output": _ctest(CTEST_MIXED, "--output-on-failure -j2", CTEST_SORTS),
    "failing-terminal": _ctest(CTEST_MIXED, "--progress", CTEST_SORTS, terminal=True),
    "failing-q": _ctest(CTEST_MIXED, "-Q", None),
    "zero": _ctest("", "", NONE),
    "zero-error": _ctest("", "--no-tests=error", NONE),
    "filtered": _ctest(CTEST_PASSING, "-R nothing", NONE),
    "listed": _ctest(CTEST_PASSING, "-N", None),
    "skipped": _ctest(CTEST_SKIPPED, "", {"skipped": 2}),
    "skipped-terminal": _ctest(CTEST_SKIPPED, "", {"skipped": 2}, terminal=True),
    "killed": _ctest(CTEST_KILLED, "", None),
}
