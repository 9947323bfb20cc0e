"""``run`` and ``rerun``: transparent, whatever memprove itself meets."""

import json
import re
import sys
from pathlib import Path

import pytest
from support.command_line import Desk, Inside, without_root_rights
from support.git_repository import commit_all

PASSING = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n"
FAILING = PASSING.replace("pass\n", "self.fail()\n")
TESTS = (sys.executable, "-m", "unittest", "-q", "test_it")


def write_tests(desk: Desk, text: str) -> None:
    """Commit tests; bytecode must not be what changes."""
    (desk.folder / ".gitignore").write_text("__pycache__/\n")
    (desk.folder / "test_it.py").write_text(text)
    commit_all(desk.folder, "tests")


def last_line(err: str) -> str:
    return err.splitlines()[-1]


def test_a_run_is_recorded_and_its_streams_and_code_are_its_own(desk: Desk) -> None:
    desk.begin()
    done = desk.memprove("run", "--", "sh", "-c", "cat; echo err >&2; exit 3", stdin=b"a\xff\0")
    assert (done.code, done.stdout) == (3, b"a\xff\0")
    assert done.err.splitlines()[0] == "err"
    assert last_line(done.err).startswith("memprove: r1 failed 0.")
    assert last_line(done.err).endswith(" s")


@pytest.mark.parametrize("limit", ["nan", "inf", "-1", "soon"])
def test_a_time_limit_is_a_number_of_seconds(desk: Desk, limit: str) -> None:
    done = desk.memprove("run", "--timeout", limit, "--", "true")
    assert done.code == 125
    assert done.err.startswith("memprove: usage: ")


SWALLOWING = {
    "a script": ("run.sh", ("sh", "run.sh"), "{tests}\ntrue\n"),
    "a program": (
        "run.py",
        (sys.executable, "run.py"),
        "import subprocess\nsubprocess.run({words!r})\n",
    ),
    "a makefile": ("Makefile", ("make", "all"), "all:\n\t{tests} || true\n"),
    "make itself": ("Makefile", ("make", "all"), "all:\n\t-false\n"),
    "a make below": ("Makefile", ("make", "all"), "all:\n\t$(MAKE) one\none:\n\t-false\n"),
}


@pytest.mark.parametrize("swallowing", SWALLOWING)
def test_what_swallows_a_failure_that_its_output_shows_is_masked(
    desk: Desk, swallowing: str
) -> None:
    write_tests(desk, FAILING)
    name, command, text = SWALLOWING[swallowing]
    (desk.folder / name).write_text(text.format(tests=" ".join(TESTS), words=TESTS))
    desk.begin()
    done = desk.memprove("run", "--", *command)
    assert done.code == 0
    assert last_line(done.err).startswith("memprove: r1 masked ")
    assert desk.memprove("complete").code == 1


def test_what_passes_beside_tests_that_pass_is_not_masked(desk: Desk) -> None:
    write_tests(desk, PASSING)
    (desk.folder / "run.sh").write_text(" ".join(TESTS) + "\n")
    desk.begin()
    done = desk.memprove("run", "--", "sh", "run.sh")
    assert last_line(done.err).startswith("memprove: r1 passed ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_output_that_could_not_be_passed_on_is_told(desk: Desk) -> None:
    desk.begin()
    done = desk.shell("memprove run -- echo hi > /dev/full")
    assert "the output of r1 was not passed on to its end: No space left" in done.err


def test_options_after_the_command_are_the_commands(desk: Desk) -> None:
    desk.begin()
    done = desk.memprove("run", "-q", "--kind", "other", "echo", "-q", "--kind", "--", "-x")
    assert (done.code, done.out, done.err) == (0, "-q --kind -- -x\n", "")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("nosuch-command",), 127),
        (("./a.txt",), 126),
        (("sh", "-c", "kill -TERM $$"), 143),
        (("sh", "-c", "exit 2"), 2),
    ],
)
def test_the_exit_code_is_what_a_shell_gives(
    desk: Desk, command: tuple[str, ...], code: int
) -> None:
    desk.begin()
    done = desk.memprove("run", "--", *command)
    assert done.code == code
    assert last_line(done.err).startswith("memprove: r1 ")


def test_a_run_that_takes_too_long_is_ended_with_124(desk: Desk) -> None:
    desk.begin()
    done = desk.memprove("run", "--timeout", "0.2", "sleep", "60")
    assert done.code == 124
    assert last_line(done.err).startswith("memprove: r1 failed")


def test_a_run_outside_a_session_says_so(desk: Desk) -> None:
    done = desk.memprove("run", "true")
    assert done.code == 0
    assert done.err.endswith(" s (no Session)\n")
    assert done.err.startswith("memprove: w1 passed ")


def test_a_run_outside_a_workspace_runs_all_the_same(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = desk.memprove("run", "sh", "-c", "pwd; exit 5", cwd=elsewhere)
    assert (done.code, done.out) == (5, f"{elsewhere}\n")
    assert done.err == "memprove: not recorded: no Workspace here\n"


def test_a_run_without_any_ledger_runs_all_the_same(desk: Desk) -> None:
    env = {"MEMPROVE_CONFIG_DIR": "/nowhere", "MEMPROVE_DATA_DIR": ""}
    done = desk.memprove("run", "false", env=env)
    assert done.code == 1
    assert done.err.startswith("memprove: not recorded: data_dir_missing: ")


def test_strict_refuses_to_run_what_would_not_be_recorded(desk: Desk, tmp_path: Path) -> None:
    done = desk.memprove("run", "--strict", "touch", "ran", cwd=tmp_path)
    assert (done.code, done.out) == (125, "")
    assert done.err.startswith("memprove: workspace_unregistered: ")
    assert not (tmp_path / "ran").exists()


def test_a_ledger_that_cannot_be_written_stops_no_command(desk: Desk) -> None:
    desk.begin()
    before = without_root_rights()
    for path in (desk.data, *desk.data.iterdir()):
        path.chmod(0o500 if path.is_dir() else 0o400)
    done = desk.memprove("run", "sh", "-c", "echo ran; exit 4", before=before)
    assert (done.code, done.out) == (4, "ran\n")
    assert " is kept in .memprove/spool/ until the ledger can be written: " in done.err
    (desk.folder / ".memprove/spool/1.key").unlink()
    done = desk.memprove("run", "sh", "-c", "echo ran; exit 4", before=before)
    assert (done.code, done.out) == (4, "ran\n")
    assert done.err.startswith("memprove: not recorded: ")
    assert done.err.count("\n") == 1


def test_a_removed_working_directory_stops_no_command(desk: Desk) -> None:
    script = "mkdir gone; cd gone; rmdir ../gone; memprove run sh -c 'echo ran; exit 6'; echo $?"
    done = desk.shell(script)
    assert done.out == "ran\n6\n"
    assert last_line(done.err).startswith("memprove: not recorded: workspace_gone: ")


def test_a_run_needs_no_stderr_to_give_the_commands_code(desk: Desk) -> None:
    assert desk.shell("memprove run sh -c 'exit 7' 2>&-; echo $?").out == "7\n"
    assert desk.shell("memprove run sh -c 'exit 8' 2>/dev/full; echo $?").out == "8\n"


def test_the_command_does_not_see_the_token(desk: Desk) -> None:
    token = (desk.config / "token").read_text().strip()
    done = desk.memprove("run", "-q", "env", env={"MEMPROVE_TOKEN": token})
    assert token not in done.out
    assert f"MEMPROVE_DATA_DIR={desk.data}" in done.out


def test_a_run_acts_in_the_session_that_is_named(desk: Desk) -> None:
    desk.begin("one")
    desk.begin("two")
    done = desk.memprove("run", "--session", "1", "env")
    assert done.err.startswith("memprove: r1 ")
    assert "MEMPROVE_SESSION" not in done.out
    assert desk.memprove("show", "r1", "--task", "1", "--json").json["run"]["session"] == 1


def test_a_rerun_says_which_claims_changed(desk: Desk) -> None:
    write_tests(desk, PASSING)
    desk.begin()
    assert desk.memprove("run", *TESTS).code == 0
    assert desk.memprove("checkpoint", "--fact", "it works [r1]").code == 0
    write_tests(desk, PASSING + "# changed\n")
    asked = desk.memprove("rerun", "--stale")
    assert asked.problem == "rerun_unconfirmed"
    assert "r1 `" in asked.err
    done = desk.memprove("rerun", "--stale", "--yes")
    assert (done.code, done.out) == (0, "c1 was stale, is proven\n")
    assert done.err.startswith("memprove: r1 `")
    assert last_line(done.err).startswith("memprove: r2 passed ")
    assert desk.memprove("rerun", "--stale").out == "nothing to run again\n"


def test_a_rerun_that_fails_gives_the_commands_code_and_refutes(desk: Desk) -> None:
    write_tests(desk, PASSING)
    desk.begin()
    desk.memprove("run", *TESTS, cwd=desk.folder)
    desk.memprove("checkpoint", "--fact", "it works [r1]")
    write_tests(desk, FAILING)
    done = desk.memprove("rerun", "c1", "--json", cwd=desk.folder / "dir")
    document = done.stdout.splitlines()[-1]
    assert b'"changed":{"c1":["stale","refuted"]}' in document
    assert done.code == 1


def test_a_rerun_runs_where_the_command_ran(desk: Desk) -> None:
    deep = desk.folder / "dir"
    desk.memprove("run", "pwd", cwd=deep)
    assert desk.memprove("rerun", "w1").out == f"{deep}\n"


def test_a_rerun_of_words_that_are_not_ascii_in_the_c_locale(desk: Desk) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert desk.memprove("run", "echo", "日本", env=env).out == "日本\n"
    for variables in (env, {}):
        done = desk.memprove("rerun", "w1", env=variables)
        assert (done.code, done.out) == (0, "日本\n")


def test_what_was_cut_out_of_a_command_is_not_run_again(desk: Desk) -> None:
    secret = "ghp_" + "a1B2" * 9
    desk.memprove("run", "echo", secret)
    assert desk.memprove("rerun", "w1").problem == "command_redacted"
    assert secret not in desk.memprove("show", "w1").out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("r9",), "label_unknown"),
        (("c9",), "label_unknown"),
        (("w9",), "label_unknown"),
        (("d1",), "label_invalid"),
        (("r1", "--stale"), "argument_missing"),
        ((), "argument_missing"),
    ],
)
def test_a_rerun_of_nothing(inside: Inside, arguments: tuple[str, ...], problem: str) -> None:
    inside("begin", "try it")
    assert inside("rerun", *arguments).problem == problem


def test_a_run_that_printed_what_steers_a_terminal_is_shown_escaped(desk: Desk) -> None:
    desk.begin()
    desk.memprove("run", "printf", "\x1b[2J\r::error::x\n\u202eend\n")
    shown = desk.memprove("show", "r1")
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out
    assert "    | \\x1b[2J\\r::error::x\n" in shown.out
    kept = desk.memprove("show", "r1", "--output")
    assert kept.stdout == "\x1b[2J\r::error::x\n\u202eend\n".encode()


@pytest.mark.parametrize(
    ("command", "last_line"),
    [
        (("nosuch",), "r1 failed 0.0 s: command not found"),
        (("--kind", "test", "--", "true"), "r1 vacuous 0.0 s: no counts of tests"),
        (("sh", "-c", "kill -TERM $$"), "r1 interrupted 0.0 s: signal 15"),
        (("sh", "-c", "kill -SEGV $$"), "r1 failed 0.0 s: crashed by signal 11"),
    ],
)
def test_the_last_line_says_what_the_exit_code_does_not(
    desk: Desk, command: tuple[str, ...], last_line: str
) -> None:
    desk.begin()
    said = desk.memprove("run", *command).err.splitlines()[-1]
    assert re.sub(r"\d+\.\d s", "0.0 s", said) == f"memprove: {last_line}"


@pytest.mark.parametrize("arguments", [("r1",), ("c1",), ("--stale", "--yes")])
def test_a_rerun_that_would_prove_nothing_is_refused(
    desk: Desk, arguments: tuple[str, ...]
) -> None:
    desk.begin()
    desk.memprove("run", "--", "true")
    desk.memprove("checkpoint", "--fact", "it works [r1]")
    desk.memprove("end")
    assert desk.memprove("rerun", *arguments).problem == "session_ended"


def test_a_program_reads_the_last_line_of_stderr(desk: Desk) -> None:
    desk.begin()
    done = desk.memprove("run", "--json", "--", sys.executable, "-c", "print('out'); exit(3)")
    assert done.stdout == b"out\n"
    told = json.loads(done.err.splitlines()[-1])
    assert (told["label"], told["verdict"], told["code"], told["kind"]) == (
        "r1",
        "failed",
        3,
        "other",
    )


def test_a_claim_rests_on_one_test_of_a_report(desk: Desk) -> None:
    desk.begin()
    (desk.folder / ".gitignore").write_text("__pycache__/\n*.xml\n")
    (desk.folder / "test_it.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    report = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml", "report.xml")
    run = ("run", "--junit", "report.xml", "--", sys.executable, *report)
    assert desk.memprove(*run).code == 1
    cited = "r1:test_it.py::test_"
    assert desk.memprove("checkpoint", "--fact", f"a works [{cited}a]").code == 0
    refused = desk.memprove("checkpoint", "--fact", f"b works [{cited}b]")
    assert refused.problem == "test_unknown"
    assert "Proven (1)" in desk.memprove("resume", "--pack").out
    (desk.folder / "test_it.py").write_text("def test_a(): assert 0\ndef test_b(): pass\n")
    assert desk.memprove("rerun", "r1").code == 1
    assert "Refuted (1)" in desk.memprove("resume", "--pack").out
    assert desk.memprove("verify").code == 0


@pytest.mark.parametrize("command", [("nosuch",), ("--kind", "test", "--", "nosuch")])
def test_a_command_that_never_started_stands_in_no_way(
    desk: Desk, command: tuple[str, ...]
) -> None:
    desk.begin()
    test = (sys.executable, "-m", "unittest", "test_it")
    (desk.folder / "test_it.py").write_text(PASSING)
    (desk.folder / ".gitignore").write_text("__pycache__/\n")
    assert desk.memprove("run", "--", *test).code == 0
    assert desk.memprove("run", *command).code == 127
    assert desk.memprove("complete").code == 0


@pytest.mark.parametrize("kind", ["build", "lint"])
@pytest.mark.parametrize("command", [("true",), ("sh", "-c", "cd .; echo built"), ("make", "-n")])
def test_what_does_nothing_is_no_build_whoever_says_so(
    desk: Desk, kind: str, command: tuple[str, ...]
) -> None:
    desk.begin()
    (desk.folder / "Makefile").write_text("all:\n\ttrue\n")
    done = desk.memprove("run", "--json", "--kind", kind, "--", *command)
    assert (done.code, json.loads(done.err.splitlines()[-1])["kind"]) == (0, "other")
    assert desk.memprove("complete").problem == "no_passed_run"


@pytest.mark.parametrize("limit", ["-n 5", "-n 8", "-n 10", "-n 12", "-v 40000", "-v 60000"])
def test_a_run_under_limits_runs_all_the_same(desk: Desk, limit: str) -> None:
    desk.begin()
    done = desk.shell(f"ulimit {limit}; memprove run -- sh -c 'echo hi; exit 3'; echo $?")
    assert done.out.splitlines() == ["hi", "3"]


def test_a_run_without_descriptors_says_that_it_is_not_recorded(desk: Desk) -> None:
    done = desk.shell("ulimit -n 5; memprove run -- nosuch-command; echo $?")
    assert done.out == "127\n"
    assert done.err.startswith("memprove: not recorded: ")
    strict = desk.shell("ulimit -n 5; memprove run --strict -- touch ran; echo $?")
    assert strict.out == "125\n"
    assert not (desk.folder / "ran").exists()
