"""Cases for rspec, phpunit, prove and programs that write TAP themselves."""

from collections.abc import Mapping

from capture.corpus.case import Case

NONE: dict[str, int] = {}
THREE = {"passed": 3}

RSPEC_PASSING = """
  it("one") {}
  it("two") {}
  it("three") {}
"""
RSPEC_MIXED = """
  it("passes") { puts "99 examples, 0 failures" }
  it("fails") { expect(1 + 1).to eq(3) }
  it("has an error") { raise "9 examples, 0 failures\\n\\n9 examples, 0 failures" }
  xit("is skipped") {}
  it("is still to be written")
"""
RSPEC_SKIPPED = """
  xit("one") {}
  xit("two") {}
"""
RSPEC_ENDS = """
  it("passes") {}
  it("ends") { END }
"""


def _rspec(
    examples: str, arguments: str, counts: Mapping[str, int] | None, terminal: bool = False
) -> Case:
    source = f'RSpec.describe "it" do{examples}end\n' if examples else ""
    command = f"rspec {arguments}".strip()
    return Case({"spec/it_spec.rb": source}, command, counts, terminal=terminal)


RSPEC_SORTS = {"passed": 1, "failed": 2, "skipped": 2}
RSPEC = {
    "passing": _rspec(RSPEC_PASSING, "", THREE),
    "passing-colour": _rspec(RSPEC_PASSING, "--force-color -fd", THREE),
    "passing-terminal": _rspec(RSPEC_PASSING, "", THREE, terminal=True),
    "passing-profile": _rspec(RSPEC_PASSING, "--profile 1 --order random", THREE),
    "failing": _rspec(RSPEC_MIXED, "", RSPEC_SORTS),
    "failing-colour": _rspec(RSPEC_MIXED, "--force-color", RSPEC_SORTS),
    "failing-terminal": _rspec(RSPEC_MIXED, "-fd", RSPEC_SORTS, terminal=True),
    "failing-fast": _rspec(RSPEC_MIXED, "--fail-fast", {"passed": 1, "failed": 1}),
    "zero": _rspec("", "", NONE),
    "filtered": _rspec(RSPEC_PASSING, "-e nothing", NONE),
    "skipped": _rspec(RSPEC_SKIPPED, "", {"skipped": 2}),
    "skipped-colour": _rspec(RSPEC_SKIPPED, "--force-color", {"skipped": 2}),
    "broken": _rspec("broken(", "", {"errors": 1}),
    "exits": _rspec(RSPEC_ENDS.replace("END", "exit! 0"), "", None),
    "crashes": _rspec(RSPEC_ENDS.replace("END", "Process.kill(:ABRT, $$); sleep"), "", None),
    "killed": _rspec(RSPEC_ENDS.replace("END", "Process.kill(:KILL, $$)"), "-fd", None),
}

PHP_HEAD = """<?php
use PHPUnit\\Framework\\TestCase;

final class ItTest extends TestCase
{"""
PHP_PASSING = """
    public function testOne(): void { $this->assertTrue(true); }
    public function testTwo(): void { $this->assertTrue(true); }
    public function testThree(): void { $this->assertTrue(true); }
"""
PHP_MIXED = """
    public function testPasses(): void { $this->assertTrue(true); }
    public function testFails(): void { $this->fail("\\nOK (99 tests, 99 assertions)\\n"); }
    public function testHasAnError(): void { throw new RuntimeException("no"); }
    public function testIsSkipped(): void { $this->markTestSkipped("not here"); }
    public function testIsIncomplete(): void { $this->markTestIncomplete(); }
    public function testIsRisky(): void { }
"""
PHP_SKIPPED = """
    public function testOne(): void { $this->markTestSkipped(); }
    public function testTwo(): void { $this->markTestIncomplete(); }
"""
PHP_SOME_SKIPPED = (
    PHP_SKIPPED
    + """
    public function testThree(): void { $this->assertTrue(true); }
"""
)
PHP_ENDS = """
    public function testPasses(): void { $this->assertTrue(true); }
    public function testEnds(): void { END }
"""


def _phpunit(
    tests: str, arguments: str, counts: Mapping[str, int] | None, terminal: bool = False
) -> Case:
    files = {"tests/ItTest.php": PHP_HEAD + tests + "}\n"} if tests else {"tests/none": ""}
    return Case(files, f"phpunit {arguments} tests".replace("  ", " "), counts, terminal=terminal)


PHP_SORTS = {"passed": 2, "failed": 1, "errors": 1, "skipped": 2}
PHPUNIT = {
    "passing": _phpunit(PHP_PASSING, "", THREE),
    "passing-colour": _phpunit(PHP_PASSING, "--colors=always --testdox", THREE),
    "passing-terminal": _phpunit(PHP_PASSING, "--colors=auto", THREE, terminal=True),
    "failing": _phpunit(PHP_MIXED, "", PHP_SORTS),
    "failing-colour": _phpunit(PHP_MIXED, "--colors=always", PHP_SORTS),
    "failing-verbose": _phpunit(PHP_MIXED, "--verbose", PHP_SORTS),
    "failing-terminal": _phpunit(PHP_MIXED, "--colors=auto", PHP_SORTS, terminal=True),
    "errors": _phpunit(
        PHP_ENDS.replace("END", "nowhere();"), "--stop-on-error", {"passed": 1, "errors": 1}
    ),
    "zero": _phpunit("", "", NONE),
    "empty": _phpunit("\n", "", {"skipped": 1}),  # its one test is a warning that there is none
    "filtered": _phpunit(PHP_PASSING, "--filter nothing", NONE),
    "skipped": _phpunit(PHP_SKIPPED, "", {"skipped": 2}),
    "skipped-colour": _phpunit(PHP_SKIPPED, "--colors=always", {"skipped": 2}),
    "some-skipped": _phpunit(PHP_SOME_SKIPPED, "", {"passed": 1, "skipped": 2}),
    "broken": _phpunit("broken(", "", None),
    "exits": _phpunit(PHP_ENDS.replace("END", "exit(0);"), "", None),
    "crashes": _phpunit(PHP_ENDS.replace("END", "posix_kill(getmypid(), 6);"), "", None),
    "killed": _phpunit(PHP_ENDS.replace("END", "posix_kill(getmypid(), 9);"), "", None),
}

PERL_PASSING = """use Test::More tests => 3;
ok(1, "one"); ok(1, "two"); subtest "three" => sub { plan tests => 2; ok(1); ok(1) };
"""
PERL_MIXED = """use Test::More;
ok(1, "passes");
diag("Files=9, Tests=99,  0 wallclock secs");
is(1 + 1, 3, "fails");
subtest "fails too" => sub { ok(1); ok(0) };
SKIP: { skip "not here", 1; ok(1) }
TODO: { local $TODO = "later"; ok(0, "is still to be written") }
done_testing;
"""
PERL_SKIPPED = """use Test::More skip_all => "not here";
"""
PERL_SKIPS = """use Test::More tests => 2;
SKIP: { skip "not here", 2 }
"""
PERL_SHORT = """use Test::More tests => 3;
ok(1, "one");
"""
PERL_BAILS = """use Test::More tests => 3;
ok(1, "one");
BAIL_OUT("no use");
"""


def _prove(
    arguments: str, counts: Mapping[str, int] | None, terminal: bool = False, **tests: str
) -> Case:
    files = {f"t/{name}.t": source for name, source in tests.items()} or {"t/none": ""}
    return Case(files, f"prove {arguments}".strip(), counts, terminal=terminal)


# Without -v, prove names the tests that failed and passes over those that were skipped.
PROVE = {
    "passing": _prove("", THREE, a=PERL_PASSING),
    "passing-v": _prove("-v", THREE, a=PERL_PASSING),
    "passing-colour": _prove("--color -j2", {"passed": 6}, a=PERL_PASSING, b=PERL_PASSING),
    "passing-terminal": _prove("", {"passed": 6}, True, a=PERL_PASSING, b=PERL_PASSING),
    "failing": _prove("", {"passed": 6, "failed": 2}, a=PERL_PASSING, b=PERL_MIXED),
    "failing-colour": _prove("--color", {"passed": 3, "failed": 2}, b=PERL_MIXED),
    "failing-v": _prove("-v", {"passed": 1, "failed": 2, "skipped": 2}, b=PERL_MIXED),
    "failing-terminal": _prove("", {"passed": 6, "failed": 2}, True, a=PERL_PASSING, b=PERL_MIXED),
    "short": _prove("", {"passed": 4, "errors": 1}, a=PERL_PASSING, b=PERL_SHORT),
    "dies": _prove("", {"passed": 3, "errors": 1}, a=PERL_PASSING, b="die;"),
    "bails": _prove("", {"passed": 4, "errors": 1}, a=PERL_PASSING, b=PERL_BAILS),
    "zero": _prove("", NONE),
    "skipped-file": _prove("", {"skipped": 1}, a=PERL_SKIPPED),
    "skipped-file-v": _prove("-v", {"skipped": 1}, a=PERL_SKIPPED),
    "skipped": _prove("", {"passed": 2}, a=PERL_SKIPS),
    "skipped-v-colour": _prove("-v --color", {"skipped": 2}, a=PERL_SKIPS),
    "crashes": _prove("", {"errors": 1}, a="kill 11, $$; sleep 1;"),
    "killed": _prove("", None, a=PERL_PASSING, b="kill 9, getppid; sleep 1;"),
}


def _tap(source: str, counts: Mapping[str, int] | None) -> Case:
    return Case({"it.t": source}, "perl it.t", counts)


TAP = {
    "passing": _tap(PERL_PASSING, THREE),
    "failing": _tap(PERL_MIXED, {"passed": 1, "failed": 2, "skipped": 2}),
    "two": Case(
        {"a.t": PERL_PASSING, "b.t": PERL_SKIPPED}, "perl a.t && perl b.t", THREE | {"skipped": 1}
    ),
    "zero": _tap("use Test::More; done_testing;", NONE),
    "skipped": _tap(PERL_SKIPS, {"skipped": 2}),
    "skipped-file": _tap(PERL_SKIPPED, {"skipped": 1}),
    "short": _tap(PERL_SHORT, {"passed": 1, "errors": 2}),
    "bails": _tap(PERL_BAILS, {"passed": 1, "errors": 2}),
    "killed": _tap('$| = 1; print "ok 1 - one\\n"; kill 9, $$;', None),
}
