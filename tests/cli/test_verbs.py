"""Each verb's answer, and the Problems that it can meet."""

import json

import pytest
from support.command_line import Desk, Inside
from support.ledgers import Project

from memprove.cli.statement import MOST

LONG = "x" * 2001


def test_init_again_changes_nothing(inside: Inside) -> None:
    size = inside("verify", "--json").json["size"]
    again = inside("init", "--json")
    assert (again.code, again.json["created"], again.json["workspace"]["seq"]) == (0, False, 0)
    assert inside("verify", "--json").json["size"] == size


def test_a_task_from_begin_to_complete(inside: Inside) -> None:
    begun = inside("begin", "Fix it", "--agent", "fixer", "--role", "dev")
    assert begun.out == "Session 1 begun by fixer (dev) · new Task 1 “Fix it”\n"
    inside("run", "--kind", "build", "sort", "nosuch.txt")
    assert inside("complete").problem == "run_failed"
    inside("run", "--kind", "build", "sort", "a.txt")
    stated = inside(
        *("checkpoint", "--fact", "it breaks [!r1]", "--fact", "it builds [r2]"),
        *("--open", "Windows", "--next", "ship"),
    )
    assert stated.out == "c1 c2 o1 recorded · next action recorded\n"
    closed = inside("checkpoint", "--close", "o1", "--reaffirm", "c2", "--withdraw", "c1")
    assert closed.out == "o1 closed · c2 reaffirmed · c1 withdrawn\n"
    assert inside("complete", "r2").problem == "run_failed"
    accepted = inside("complete", "--accept-stale", "the first was meant to")
    assert accepted.problem == "run_failed"
    assert inside("end", "--note", "enough").out == "Session 1 ended · Task 1 is in_progress\n"


def test_complete_names_the_runs_it_rests_on(inside: Inside) -> None:
    inside("begin", "Fix it")
    inside("run", "--kind", "build", "sort", "a.txt")
    assert inside("complete").out == "Task 1 completed “Fix it” · r1 passed\n"
    assert "completed" in inside("resume", "--pack").out
    assert inside("checkpoint", "--fact", "late").code in (0, 1)


def test_a_retry_says_that_it_is_one(inside: Inside) -> None:
    inside("begin", "try it")
    first = inside("checkpoint", "--fact", "so", "--json")
    again = inside("checkpoint", "--fact", "so", "--json")
    assert (first.json["replayed"], again.json["replayed"]) == (False, True)
    assert first.json["seq"] == again.json["seq"]
    assert again.err == (
        "memprove: the same request was recorded before; this is its answer again\n"
    )


def test_the_pack_alone_and_behind_its_opening_statement(inside: Inside) -> None:
    inside("begin", "try it")
    alone, whole = inside("resume", "--pack"), inside("resume")
    assert alone.out.startswith("Task 1 · in_progress · “try it”\n")
    assert whole.out.endswith(f"\n\n{alone.out}")
    assert inside("resume", "--json").json["pack"] == alone.out
    assert inside("resume", "--budget", "199").problem == "budget_invalid"


def test_a_session_is_joined_named_and_abandoned(inside: Inside) -> None:
    inside("begin", "try it")
    inside("end")
    joined = inside("begin", "--task", "1", "--agent", "two")
    assert joined.out == "Session 2 begun by two · Task 1 “try it”\n"
    child = inside("begin", "--task", "1", "--parent", "2")
    assert child.out.endswith("· under Session 2\n")
    assert "use Session 3" in child.err
    assert inside("complete", "--session", "3").problem == "role_forbidden"
    gone = inside("end", "--abandoned", "3")
    assert gone.out == "Session 3 ended as abandoned · Task 1 is in_progress\n"


def test_tasks_are_added_listed_shown_and_moved(inside: Inside) -> None:
    assert inside("tasks").out == "no Tasks\n"
    added = inside("task", "add", "First", "--description", "two\nlines")
    assert added.out == "Task 1 pending “First”\n"
    inside("task", "add", "Second", "--backlog")
    assert inside("task", "set", "1", "in_progress").out == "Task 1 in_progress “First”\n"
    listed = inside("tasks")
    assert [line.split()[:2] for line in listed.out.splitlines()] == [
        ["Task", "State"],
        ["1", "in_progress"],
        ["2", "backlog"],
    ]
    page = inside("tasks", "--limit", "1")
    assert page.err == "memprove: more follow: memprove tasks --after 1\n"
    only = inside("tasks", "--status", "backlog", "--json").json
    assert [task["number"] for task in only["tasks"]] == [2]
    shown = inside("task", "show", "1")
    assert "  description “two\\nlines”\n" in shown.out
    assert inside("task", "show", "1", "--json").json["title"] == "First"
    assert inside("task", "set", "2", "completed").problem == "transition_forbidden"
    assert inside("task", "set", "1", "completed").problem == "no_passed_run"
    assert inside("task", "show", "3").problem == "task_unknown"
    assert inside("tasks", "--limit", "101").problem == "argument_invalid"


def test_decisions_are_proposed_accepted_and_superseded(inside: Inside) -> None:
    inside("begin", "try it")
    one = ("decide", "lexer", "--choice", "by hand", "--rationale", "speed")
    assert inside(*one, "--alternative", "PLY").out == "d1 proposed\n"
    assert inside("decisions", "accept", "d1", "--comment", "yes").out == "d1 accepted\n"
    two = ("decide", "lexer again", "--choice", "PLY", "--rationale", "size", "--supersedes", "d1")
    assert inside(*two).out == "d2 proposed\n"
    assert inside("decisions", "accept", "d2", "--json").json["state"] == "accepted"
    listed = inside("decisions", "list").out.splitlines()
    assert listed[0].startswith("d1 superseded · “lexer”: “by hand” because “speed”, not “PLY”")
    assert listed[1].startswith("d2 accepted · ")
    assert inside("decisions", "reject", "d1").problem == "decision_decided"
    assert inside("decisions", "reject", "d9").problem == "label_unknown"
    assert "accepted because “yes”" not in inside("show", "d1").out


def test_show_tells_what_each_label_names(inside: Inside) -> None:
    inside("begin", "try it")
    inside("run", "sh", "-c", "echo out; echo err >&2; exit 1")
    inside("checkpoint", "--fact", "it fails [!r1]", "--open", "later")
    run = inside("show", "r1").out
    for line in ("  verdict failed: exit code 1\n", "    | out\n", "    | err\n"):
        assert line in run
    assert inside("show", "r1", "--json").json["verdict"] == "failed"
    assert "proof observed" in inside("show", "c1").out
    assert inside("show", "c1", "--json").json["proof"] == "observed"
    assert inside("show", "o1").out.startswith("o1 “later”\n")
    event = inside("show", "5")
    assert event.out.startswith("event 5 task.created t1\n")
    assert "  title “try it”\n" in event.out
    assert inside("show", "5", "--json").json["payload"]["title"] == "try it"
    assert inside("show", "c1", "--output").problem == "argument_invalid"
    assert inside("show", "999").problem == "label_unknown"


def test_claims_are_printed_with_their_history(inside: Inside) -> None:
    inside("begin", "try it")
    inside("checkpoint", "--fact", "so")
    assert inside("claims").out.splitlines()[:2] == ["c1 “so”", "  proof asserted"]
    assert inside("claims", "--stale").out == "no such claims\n"
    assert inside("claims", "1", "--json").json["claims"][0]["proof"] == "asserted"
    assert inside("claims", "c2").problem == "label_unknown"


def test_the_log_is_listed_and_followed(desk: Desk) -> None:
    desk.begin()
    listed = desk.memprove("log").out.splitlines()
    assert listed[0].split() == ["Event", "Time", "Kind", "Labels", "By", "Session"]
    assert listed[-1].split()[2] == "task.moved"
    assert len(desk.memprove("log", "--task", "1", "--limit", "2", "--json").json["events"]) == 2
    followed = desk.shell("memprove log --follow --json --limit 2 | head -n 2")
    assert [json.loads(line)["seq"] for line in followed.out.splitlines()] == [6, 7]
    assert followed.err == ""


def test_verify_finds_what_was_changed_and_exits_with_3(desk: Desk) -> None:
    good = desk.memprove("verify", "--full")
    assert (good.code, good.out.splitlines()[0]) == (0, "ok     store")
    github = desk.memprove("verify", "--format", "github").out
    assert github.startswith("::notice title=memprove verify::4 events verified")
    ledger = Project(desk.folder, desk.config, desk.data, desk.env)
    ledger.tamper("UPDATE event SET kind = 'token.revoked' WHERE seq = 2")
    assert "1–4 not re-read" in desk.memprove("verify").out  # it claims no more than it looked at
    bad = desk.memprove("verify", "--full", "--json")
    assert (bad.code, bad.json["ok"], bad.json["findings"][0]["check"]) == (3, False, "leaves")
    text = desk.memprove("verify")  # what was found takes the verified head away
    assert (text.code, "FAILED leaves" in text.out) == (3, True)
    errors = desk.memprove("verify", "--format", "github")
    assert (errors.code, errors.out.startswith("::error title=memprove verify::")) == (3, True)
    assert desk.memprove("log").code == 1


def test_workspaces_are_listed_and_attached(desk: Desk) -> None:
    moved = desk.folder.rename(desk.base / "moved")
    (moved / ".memprove" / "workspace").unlink()
    lost = desk.memprove("tasks", cwd=moved)
    attached = desk.memprove("workspace", "attach", "1", cwd=moved)
    assert lost.problem == "workspace_unregistered"
    assert attached.out == f"Workspace 1 attached: `{moved}`\n"
    assert desk.memprove("tasks", cwd=moved).code == 0
    listed = desk.memprove("workspace", "list", "--json", cwd=moved).json["workspaces"]
    assert [told["root"] for told in listed] == [str(moved)]
    assert desk.memprove("workspace", "attach", "7", cwd=moved).code == 1


def test_the_context_is_read_without_a_ledger(desk: Desk) -> None:
    nowhere = {"MEMPROVE_DATA_DIR": "/nowhere", "MEMPROVE_CONFIG_DIR": "/nowhere"}
    told = desk.memprove("context", env=nowhere)
    assert told.out == "local files, not checked: no context of shell here\n"
    desk.begin()
    first, second, ids = desk.memprove("context", env=nowhere).out.splitlines()
    assert first == "local files, not checked: context of shell"
    assert (second, ids[:7]) == ("Task 1, Session 1, unnamed", "  Task ")
    assert desk.memprove("context", "--json", env=nowhere).json["context"]["task_number"] == 1


def test_a_statement_is_read_from_stdin_and_from_a_file(desk: Desk, inside: Inside) -> None:
    inside("begin", "try it")
    inside("run", "true")
    text = json.dumps(
        {
            "facts": [{"text": "one", "evidence": ["r1"], "paths": ["a.txt"]}, "two [r1]"],
            "open_items": ["later"],
            "next_action": "ship",
        }
    )
    read = inside("checkpoint", "--from", "-", "--fact", "three", stdin=text.encode())
    assert read.out == "c1 c2 c3 o1 recorded · c3 asserted: no Run cited · next action recorded\n"
    file = desk.base / "statement.json"
    file.write_text('{"closed_items": ["o1"], "reaffirm": [1], "withdraw": ["c2"], "session": 1}')
    assert inside("checkpoint", "--from", str(file)).out.startswith("o1 closed · c1 ")
    claim = inside("claims", "c1", "--json").json["claims"][0]
    assert (claim["evidence"], claim["paths"]) == (["r1"], ["a.txt"])


@pytest.mark.parametrize(
    "statement",
    [
        b"",
        b"not json",
        b"[]",
        b'{"facts": "one"}',
        b'{"facts": [1]}',
        b'{"fact": ["one"]}',
        b'{"facts": [{"text": "one", "extra": 1}]}',
        b'{"withdraw": [0]}',
        b'{"facts": ["\xff"]}',
        b'{"facts": ["\\ud800"]}',
        b"[" * 100_000,
        b'{"a\x1b": 1}',
    ],
)
def test_a_statement_that_is_not_one_is_refused(inside: Inside, statement: bytes) -> None:
    inside("begin", "try it")
    done = inside("checkpoint", "--from", "-", stdin=statement)
    assert done.problem in ("argument_invalid", "text_invalid")
    assert "\x1b" not in done.err
    assert inside("claims").out == "no such claims\n"


def test_ten_megabytes_on_stdin_are_refused(desk: Desk) -> None:
    desk.begin()
    huge = b'{"next_action": "' + b"x" * 10_000_000 + b'"}'
    assert desk.memprove("checkpoint", "--from", "-", stdin=huge).problem == "text_too_long"
    large = b'{"next_action": "' + b"x" * (MOST - 100) + b'"}'
    assert desk.memprove("checkpoint", "--from", "-", stdin=large).problem == "text_too_long"
    assert desk.memprove("checkpoint", "--from", "/nowhere").problem == "argument_invalid"
    assert desk.memprove("checkpoint", "--from", "/").problem == "argument_invalid"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("begin", "x" * 201), "text_too_long"),
        (("begin", "t", "--description", "x" * 8001), "text_too_long"),
        (("begin", "t", "--agent", "x" * 101), "text_too_long"),
        (("begin", "t", "--role", "x" * 101), "text_too_long"),
        (("begin", " "), "argument_missing"),
        (("begin",), "argument_missing"),
        (("begin", "t", "--task", "1"), "argument_missing"),
        (("begin", "--task", "9"), "task_unknown"),
        (("begin", "t", "--parent", "9"), "session_unknown"),
        (("checkpoint",), "argument_missing"),
        (("checkpoint", "--fact", LONG), "text_too_long"),
        (("checkpoint", "--open", LONG), "text_too_long"),
        (("checkpoint", "--next", LONG), "text_too_long"),
        (("checkpoint", *("--open", "x") * 51), "too_many"),
        (("checkpoint", "--fact", "so [r9]"), "label_unknown"),
        (("checkpoint", "--close", "o9"), "label_unknown"),
        (("checkpoint", "--close", "c1"), "label_invalid"),
        (("checkpoint", "--withdraw", "c9"), "label_unknown"),
        (("checkpoint", "--reaffirm", "zz"), "label_invalid"),
        (("checkpoint", "--fact", "so", "--session", "9"), "session_unknown"),
        (("decide", "t", "--choice", "x" * 8001, "--rationale", "r"), "text_too_long"),
        (("decide", "t", "--choice", "c", "--rationale", "r", "--cites", "r9"), "label_unknown"),
        (("end", "--note", LONG), "text_too_long"),
        (("end", "--abandoned", "9"), "session_unknown"),
        (("complete",), "no_passed_run"),
        (("complete", "r9"), "label_unknown"),
        (("complete", "--accept-untested", LONG), "text_too_long"),
        (("task", "add", "x" * 201), "text_too_long"),
        (("task", "set", "1", "blocked", "--comment", LONG), "text_too_long"),
    ],
)
def test_what_is_not_valid_is_refused_and_nothing_recorded(
    inside: Inside, arguments: tuple[str, ...], problem: str
) -> None:
    inside("begin", "try it")
    before = inside("log", "--json").json["size"]
    assert inside(*arguments).problem == problem
    assert inside("log", "--json").json["size"] == before


def test_a_label_of_another_task_is_not_one_of_this(inside: Inside) -> None:
    inside("begin", "one")
    inside("run", "true")
    inside("begin", "two")
    assert inside("checkpoint", "--fact", "so [r1]").problem == "label_unknown"
    assert inside("show", "r1").problem == "label_unknown"
    assert inside("show", "r1", "--task", "1").code == 0


def test_a_fact_with_brackets_that_are_no_labels_keeps_them(inside: Inside) -> None:
    inside("begin", "try it")
    inside("checkpoint", "--fact", "a list [1, 2]")
    assert inside("claims", "--json").json["claims"][0]["text"] == "a list [1, 2]"
