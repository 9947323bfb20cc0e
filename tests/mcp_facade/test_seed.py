"""What the ten tools are published to do, sentence by sentence, through the real server."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from operations import seed_table
from support.command_line import Desk
from support.tools import UUID, Served

from memprove.ledger import scopes
from memprove.ledger.domain import printing
from memprove.mcp_facade.tools import OPERATIONS, TOOLS

READS = ("pack", "claims", "context", "tasks", "ledger_verify")
WRITES = ("begin", "checkpoint", "decide", "end", "complete")
PASSING = ("run", "-q", "--kind", "test", "--", "sh", "-c", "echo '1 passed in 0.01s'")

DECISION = {"title": "cache", "choice": "none", "rationale": "fast enough"}
EVERY_CALL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("pack", {}),
    ("claims", {"claims": ["c1"]}),
    ("context", {}),
    ("tasks", {}),
    ("ledger_verify", {}),
    ("begin", {"new_task": "t"}),
    ("checkpoint", {"next_action": "go on"}),
    ("decide", DECISION),
    ("complete", {}),
    ("end", {}),
)


def owner(desk: Desk, *arguments: str) -> dict[str, str]:
    """Let the owner run ``memprove token …``; return the document."""
    done = desk.memprove("token", *arguments, "--json")
    assert done.code == 0, done.err
    document: dict[str, str] = done.json
    return document


def token_id(desk: Desk) -> str:
    return (desk.config / "token").read_text().split("_")[1]


# The table


def test_there_are_ten_tools_and_five_read_and_five_write(served: Served) -> None:
    listed = served.listed()
    assert [tool.name for tool in listed] == [*READS, *WRITES]
    hints = {tool.name: tool.annotations and tool.annotations.read_only_hint for tool in listed}
    assert hints == dict.fromkeys(READS, True) | dict.fromkeys(WRITES, False)


def test_each_tool_sends_the_operations_of_the_table_and_needs_their_scope() -> None:
    assert [tool.name for tool in TOOLS] == list(seed_table.tools()) == list(OPERATIONS)
    for name, (kind, sends, scope) in seed_table.tools().items():
        operation = OPERATIONS[name]
        assert set(operation.sends) == sends, name
        assert ("write" if scopes.writes(operation.sends) else "read") == kind
        needed = scopes.needed(operation.sends)
        assert needed <= {scopes.Scope.READ, scopes.Scope.WRITE}
        assert {"none"} if not needed else scope in needed


def test_parameters_are_numbers_and_labels_never_a_uuid(served: Served) -> None:
    begun = served.done("begin", new_task="t").structured
    for tool in TOOLS:
        assert "uuid" not in json.dumps(tool.schema).lower()
        for name in tool.schema["properties"]:
            assert not name.endswith("_id")
    assert served.call("pack", task=begun["task_id"]).code == "argument_invalid"
    assert served.call("end", session=begun["session_id"]).code == "argument_invalid"


def test_no_tool_runs_a_command() -> None:
    assert not any("recordRun" in operation.sends for operation in OPERATIONS.values())


def test_labels_of_runs_in_the_shell_are_cited_through_the_tools(
    served: Served, desk: Desk
) -> None:
    served.done("begin", new_task="t")
    assert desk.memprove("run", "--kind", "test", "--", "false").code == 1
    assert desk.memprove(*PASSING).code == 0
    told = served.done("checkpoint", facts=["it was broken [!r1]", "it holds [r2]"])
    assert told.structured["claims"] == ["c1", "c2"]
    pack = served.done("pack").text
    assert "Proven (1)\n  c2 r2 " in pack
    assert "Observed (1)\n  c1 !r1 " in pack


# pack, claims


def test_pack_is_an_opening_statement_and_then_the_bytes_of_resume_pack(
    served: Served, desk: Desk
) -> None:
    served.done("begin", new_task="Näh “it”", agent_name="claude")
    served.done("checkpoint", facts=["\x1b[2J so", "é 😀"], open_items=["one", "two"])
    told = served.done("pack")
    opening, blank, pack = told.text.partition("\n\n")
    assert pack.encode() == desk.memprove("resume", "--pack").stdout
    assert blank
    assert "\n" not in opening
    assert told.structured["opening"] == opening
    assert told.structured["pack"] == pack


def test_the_opening_tells_task_time_agent_and_open_items(served: Served) -> None:
    served.done("begin", new_task="Fix it", agent_name="claude")
    served.done("checkpoint", open_items=["one", "two"])
    opening = served.done("pack").structured["opening"]
    time = re.search(r"The time is (\S+Z)\.", opening)
    assert time is not None
    then = datetime.fromisoformat(time[1])
    assert abs((datetime.now(UTC) - then).total_seconds()) < 60
    assert opening.startswith("Task 1 “Fix it” is in_progress. The time is ")
    assert "You are claude; this is Session 1. The Task has 2 open items. What facts" in opening


def test_the_opening_names_the_servers_agent(served: Served) -> None:
    served.done("begin", new_task="t", agent_name="claude")
    served.env["MEMPROVE_AGENT_NAME"] = "the-server"
    assert "You are the-server; this is Session 1." in served.done("pack").text


def test_the_default_budget_of_pack_is_6000_utf16_units(served: Served) -> None:
    served.done("begin", new_task="t")
    for turn in range(4):
        served.done("checkpoint", facts=[f"{'😀' * 200} {turn} {n}" for n in range(20)])
    whole = served.done("pack").structured["pack"]
    assert whole == served.done("pack", budget=6_000).structured["pack"]
    assert 5_000 < printing.utf16_len(whole) <= 6_000
    assert whole != served.done("pack", budget=6_500).structured["pack"]


def test_query_selects_as_the_query_of_resume_does(served: Served, desk: Desk) -> None:
    served.done("begin", new_task="t")
    served.done("checkpoint", facts=[f"fact {n} about topic{n}" for n in range(40)])
    told = served.done("pack", query="topic3 c7", budget=400).structured["pack"]
    typed = desk.memprove("resume", "--pack", "--query", "topic3 c7", "--budget", "400")
    assert told.encode() == typed.stdout
    assert "topic3”" in told


def test_manifest_adds_nothing(served: Served) -> None:
    served.done("begin", new_task="t")
    plain = served.done("pack").structured["pack"]
    assert served.done("pack", manifest=True).structured["pack"] == plain


def test_claims_gives_the_full_lines_of_named_claims(served: Served, desk: Desk) -> None:
    served.done("begin", new_task="t")
    desk.memprove(*PASSING)
    served.done("checkpoint", facts=[f"{'long ' * 300}[r1]", "short", "other"])
    served.done("checkpoint", reaffirm=["c1"])
    told = served.done("claims", claims=["c1", 2])
    assert told.text.encode() + b"\n" == desk.memprove("claims", "c1", "c2").stdout
    assert ("long " * 300).strip() in told.text
    assert "reaffirmed" in told.text
    assert [claim["claim"] for claim in told.structured["claims"]] == ["c1", "c2"]


# begin, checkpoint, decide, end, complete


def test_begin_takes_a_task_of_tasks_or_a_new_one(served: Served) -> None:
    served.done("begin", new_task="first")
    [row] = served.done("tasks").structured["tasks"]
    again = served.done("begin", task=row["number"]).structured
    assert (again["task"], again["session"], again["created"]) == (1, 2, False)
    both = served.call("begin", task=1, new_task="x")
    assert both.code == served.call("begin").code == "argument_missing"


def test_begin_names_its_agent_from_the_argument_the_environment_the_context(
    served: Served,
) -> None:
    served.env |= {"MEMPROVE_AGENT_NAME": "from-env", "MEMPROVE_AGENT_ROLE": "env-role"}
    given = served.done("begin", new_task="a", agent_name="given", agent_role="tester")
    assert "begun by given (tester)" in given.text
    env = served.done("begin", new_task="b").structured
    assert (env["agent"], env["role"]) == ("from-env", "env-role")
    served.env |= {"MEMPROVE_AGENT_NAME": "${AGENT}", "MEMPROVE_AGENT_ROLE": ""}
    context = served.done("begin", new_task="c").structured
    assert (context["agent"], context["role"]) == ("from-env", "env-role")


def test_begin_takes_the_parent_from_the_argument_or_the_environment(served: Served) -> None:
    served.done("begin", new_task="t")
    served.done("begin", new_task="u")
    served.env["MEMPROVE_PARENT_SESSION"] = "1"
    assert served.done("begin", task=1, agent_name="a").structured["parent"] == 1
    told = served.done("begin", task=1, agent_name="b", parent_session="2").structured
    assert told["parent"] == 2


def test_checkpoint_takes_facts_items_reaffirmations_withdrawals_and_a_next_action(
    served: Served, desk: Desk
) -> None:
    served.done("begin", new_task="t")
    desk.memprove(*PASSING)
    first = served.done(
        "checkpoint",
        facts=[{"text": "a", "evidence": ["r1"], "paths": ["a.txt"]}, "b"],
        open_items=["x", "y"],
        next_action="go",
    ).structured
    assert (first["claims"], first["open_items"]) == (["c1", "c2"], ["o1", "o2"])
    then = served.done("checkpoint", reaffirm=[1], withdraw=["c2"], closed_items=["o1"]).structured
    assert (then["reaffirmed"], then["withdrawn"], then["closed"]) == (["c1"], ["c2"], ["o1"])
    told = served.done("claims", claims=["c1"]).structured["claims"][0]
    assert (told["proof"], told["evidence"], told["paths"]) == ("proven", ["r1"], ["a.txt"])


def test_decide_records_a_decision(served: Served) -> None:
    served.done("begin", new_task="t")
    assert served.done("decide", **DECISION, alternatives=["LRU"]).text == "d1 proposed"
    assert served.done("decide", **DECISION, supersedes="d1").structured["decision"] == "d2"
    assert "d1 proposed · “cache”: “none” because “fast enough”" in served.done("pack").text


def test_end_ends_the_contexts_session_or_with_abandoned_another(served: Served) -> None:
    served.done("begin", new_task="t")
    served.env["MEMPROVE_CONTEXT"] = "other"
    served.done("begin", task=1)
    ended = served.done("end", note="done")
    assert (ended.structured["session"], ended.structured["abandoned"]) == (2, False)
    left = served.done("end", abandoned=1).structured
    assert (left["session"], left["abandoned"]) == (1, True)


def test_complete_completes_the_task_on_its_passed_runs(served: Served, desk: Desk) -> None:
    served.done("begin", new_task="t")
    assert served.call("complete").code == "no_passed_run"
    desk.memprove(*PASSING)
    done = served.done("complete", runs=["r1"]).structured
    assert (done["task"], done["state"], done["judged"][0]["run"]) == (1, "completed", "r1")
    assert served.call("complete", runs="r1").structured["replayed"] is True


# Results


def test_every_results_object_begins_with_task_id_and_session_id(served: Served) -> None:
    for name, arguments in EVERY_CALL:
        for told in (served.call(name, **arguments), served.call(name, **arguments, x=1)):
            ids = list(told.structured.items())[:2]
            assert [key for key, _ in ids] == ["task_id", "session_id"]
            for _, value in ids:
                assert value is None or re.fullmatch(UUID, value)


def test_an_error_begins_with_the_code_of_the_problem_and_a_fixed_sentence(
    served: Served, desk: Desk
) -> None:
    read = owner(desk, "issue", "reader", "--scope", "mcp-read")["file"]
    served.env["MEMPROVE_TOKEN_FILE"] = read
    told = served.call("begin", new_task="t")
    assert told.code == "role_forbidden"
    assert told.text.startswith("role_forbidden: not allowed here; use the scope, or the Session, ")
    assert told.text.endswith(": mcp-write")


# Token, data directory, Workspace


def test_the_token_is_of_the_environment_else_of_the_file_else_of_the_configuration(
    served: Served, desk: Desk
) -> None:
    kept = desk.config / "token"
    elsewhere = desk.base / "elsewhere"
    kept.rename(elsewhere)
    assert served.call("tasks").code == "token_missing"
    served.env["MEMPROVE_TOKEN_FILE"] = str(elsewhere)
    served.done("tasks")
    served.env["MEMPROVE_TOKEN"] = "${MEMPROVE_TOKEN}"
    served.done("tasks")
    served.env["MEMPROVE_TOKEN"] = "mpv_0000000000000000_" + "0" * 43
    assert served.call("tasks").is_error
    served.env |= {"MEMPROVE_TOKEN": "", "MEMPROVE_TOKEN_FILE": str(desk.base / "nowhere")}
    assert served.call("tasks").code == "token_unreadable"


def test_the_data_directory_is_of_the_environment_else_the_one_line_of_the_file(
    served: Served, desk: Desk
) -> None:
    served.env["MEMPROVE_DATA_DIR"] = ""
    served.done("tasks")
    (desk.config / "data-dir").write_text("${HOME}\n")
    assert served.call("tasks").code == "data_dir_unreadable"
    (desk.config / "data-dir").unlink()
    assert served.call("tasks").code == "data_dir_missing"
    served.env["MEMPROVE_DATA_DIR"] = str(desk.data)
    served.done("tasks")


def test_a_rotated_token_takes_effect_on_the_next_call(served: Served, desk: Desk) -> None:
    old = (desk.config / "token").read_text().strip()
    served.env["MEMPROVE_TOKEN_FILE"] = str(desk.config / "token")
    served.done("begin", new_task="t")
    owner(desk, "rotate", token_id(desk))
    assert (desk.config / "token").read_text().strip() != old
    served.done("checkpoint", next_action="on")
    served.env["MEMPROVE_TOKEN"] = old
    assert served.call("pack").code == "token_revoked"


def test_a_revoked_token_takes_effect_on_the_next_call(served: Served, desk: Desk) -> None:
    served.done("begin", new_task="t")
    assert desk.memprove("token", "revoke", token_id(desk)).code == 0
    codes = {name: served.call(name, **arguments) for name, arguments in EVERY_CALL}
    assert not codes.pop("context").is_error
    assert {told.code for told in codes.values()} == {"token_revoked"}


def test_a_scope_that_is_taken_away_takes_effect_on_the_next_call(
    served: Served, desk: Desk
) -> None:
    served.done("begin", new_task="t")
    fewer = owner(desk, "issue", "fewer", "--scope", "mcp-read")["file"]
    (desk.config / "token").write_bytes(Path(fewer).read_bytes())
    assert served.call("checkpoint", next_action="on").code == "role_forbidden"
    served.done("pack")


def test_another_data_directory_takes_effect_on_the_next_call(
    served: Served, desk: Desk, tmp_path: Path
) -> None:
    served.env["MEMPROVE_DATA_DIR"] = ""
    served.done("begin", new_task="t")
    moved = tmp_path / "moved"
    desk.data.rename(moved)
    assert served.call("tasks").code == "data_dir_unreadable"
    (desk.config / "data-dir").write_text(f"{moved}\n")
    assert len(served.done("tasks").structured["tasks"]) == 1


@pytest.mark.parametrize(
    ("scope", "allowed"), [("mcp-read", READS), ("mcp-write", ()), ("mcp:read", READS)]
)
def test_reads_need_mcp_read_and_writes_both(
    served: Served, desk: Desk, scope: str, allowed: tuple[str, ...]
) -> None:
    served.done("begin", new_task="t")
    served.done("checkpoint", facts=["so"])
    served.env["MEMPROVE_TOKEN_FILE"] = owner(desk, "issue", "one", "--scope", scope)["file"]
    for name, arguments in EVERY_CALL:
        told = served.call(name, **arguments)
        if name in allowed or name == "context":
            assert not told.is_error, told.text
        else:
            assert told.code == "role_forbidden"


def test_the_agents_token_carries_both_scopes(served: Served, desk: Desk) -> None:
    listed = desk.memprove("token", "list", "--json").json["tokens"]
    agents = next(token for token in listed if token["id"] == token_id(desk))
    assert agents["scopes"] == ["mcp-read", "mcp-write"]


def test_the_workspace_is_that_of_claude_project_dir_else_of_the_working_directory(
    served: Served, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.env["CLAUDE_PROJECT_DIR"] = str(desk.folder / "dir")
    served.done("tasks")
    served.env["CLAUDE_PROJECT_DIR"] = str(desk.base)
    assert served.call("tasks").code == "workspace_unregistered"
    for unset in ("", "${CLAUDE_PROJECT_DIR}"):
        served.env["CLAUDE_PROJECT_DIR"] = unset
        monkeypatch.chdir(desk.folder / "dir")
        served.done("tasks")
        monkeypatch.chdir(desk.base)
        assert served.call("tasks").code == "workspace_unregistered"


def test_a_run_in_the_shell_and_a_checkpoint_through_the_tool_see_each_other(
    served: Served, desk: Desk
) -> None:
    served.done("begin", new_task="t")
    assert served.call("checkpoint", facts=["so [r1]"]).code == "label_unknown"
    desk.memprove(*PASSING)
    assert served.done("checkpoint", facts=["so [r1]"]).structured["claims"] == ["c1"]
    assert "“so”" in desk.memprove("claims", "c1").out
    desk.memprove("checkpoint", "--withdraw", "c1")
    assert served.call("checkpoint", reaffirm=["c1"]).code == "claim_withdrawn"
