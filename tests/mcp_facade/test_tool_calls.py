"""What calls do to the ledger, and what they do not: retries, sub-agents, local files."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.git_repository import git
from support.ledgers import Project, new_project
from support.texts import HOSTILE
from support.tools import Served, Told

from memprove.ledger.domain import printing
from memprove.ledger.operations.packs import ReadClaims
from memprove.ledger.problems import LABEL_INVALID
from memprove.ledger.scopes import Role
from memprove.ledger.workspace.context import decode_context, encode_context
from memprove.mcp_facade.tool import refusal

TEXTS = ("".join(HOSTILE[:4]), "".join(HOSTILE[4:8]), "".join(HOSTILE[8:11]), HOSTILE[11])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path, repository=True)


@pytest.fixture
def served(project: Project) -> Served:
    return Served(project.folder, dict(project.env))


def change_context(project: Project, **changes: Any) -> None:
    """Write the context anew as somebody does who edits it."""
    file = project.context_file()
    context = decode_context(file.read_bytes())
    file.write_bytes(encode_context(msgspec.structs.replace(context, **changes)))


# Who calls


def test_what_is_recorded_names_the_face_and_the_role(project: Project, served: Served) -> None:
    served.env["CLAUDECODE"] = "1"
    served.done("begin", new_task="t")
    actor = project.records()[-1].leaf.actor
    assert (actor.face, actor.role, actor.agent_env) == ("mcp", "agent", True)


def test_what_only_the_owner_may_do_cannot_be_asked_for(project: Project, served: Served) -> None:
    served.env["MEMPROVE_TOKEN_FILE"] = str(project.config_dir / "owner-token")
    served.done("begin", new_task="t")
    assert project.records()[-1].leaf.actor.role == Role.OWNER
    told = served.call(
        "complete", accept_stale="because", accept_untested="because", from_agent=True
    )
    assert told.code == "no_passed_run"
    assert served.done("decide", title="a", choice="b", rationale="c", state="accepted").text == (
        "d1 proposed"
    )


def test_variables_that_a_client_left_unexpanded_count_as_unset(served: Served) -> None:
    for name in ("TOKEN", "TOKEN_FILE", "SESSION", "PARENT_SESSION", "AGENT_NAME", "CONTEXT"):
        served.env[f"MEMPROVE_{name}"] = f"${{MEMPROVE_{name}}}"
    begun = served.done("begin", new_task="t")
    assert (begun.structured["agent"], begun.structured["parent"]) == ("unnamed", None)
    served.env |= dict.fromkeys((name for name in served.env if name.endswith("SESSION")), "")
    served.done("checkpoint", next_action="on")


def test_the_configuration_may_be_the_servers_own_option(project: Project, served: Served) -> None:
    served.env["MEMPROVE_CONFIG_DIR"] = "/nowhere"
    assert served.call("tasks").is_error
    served.config_dir = project.config_dir
    served.done("tasks")


def test_a_secret_in_an_argument_is_neither_stored_nor_told_again(
    project: Project, served: Served
) -> None:
    secret = "ghp_" + "a1B2" * 9
    served.done("begin", new_task=f"use {secret}")
    refused = served.call("checkpoint", facts=[{"text": "so", "evidence": [secret]}])
    assert refused.code == "label_invalid"
    shown = [served.call("pack"), served.call("tasks"), refused]
    assert not any(secret in f"{told.text}{told.structured}" for told in shown)
    assert secret.encode() not in project.everything_stored()


# Retries


def again(served: Served, size: Callable[[], int], *calls: tuple[str, dict[str, Any]]) -> None:
    """Check that each of *calls* is the first one again."""
    first = served.done(calls[0][0], **calls[0][1])
    before = size()
    for name, arguments in calls:
        told = served.done(name, **arguments)
        assert told.structured == {**first.structured, "replayed": True}
        assert "recorded before; this is its answer again" in told.text
    assert size() == before


def test_a_begin_that_is_sent_again_begins_nothing_twice(project: Project, served: Served) -> None:
    once = {"new_task": "t", "agent_name": "a"}
    again(served, project.size, ("begin", once), ("begin", {**once, "description": None, "x": 1}))
    assert len(served.done("tasks").structured["tasks"]) == 1


def test_a_checkpoint_that_is_sent_again_states_nothing_twice(
    project: Project, served: Served
) -> None:
    served.done("begin", new_task="t")
    once: dict[str, Any] = {"facts": ["so"], "open_items": ["o"], "session": 1}
    other = {"facts": '[{"text": "so"}]', "open_items": "o", "session": "1.0"}
    again(served, project.size, ("checkpoint", once), ("checkpoint", other))
    assert [c.claim for c in project.execute(ReadClaims()).told.claims] == ["c1"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("decide", {"title": "a", "choice": "b", "rationale": "c"}), ("end", {"note": "x"})],
)
def test_other_writes_too(
    project: Project, served: Served, name: str, arguments: dict[str, Any]
) -> None:
    served.done("begin", new_task="t")
    again(served, project.size, (name, arguments), (name, arguments))


# Sub-agents


def test_five_sub_agents_share_one_server(project: Project, served: Served) -> None:
    served.done("begin", new_task="t", agent_name="parent")
    begun = served.calls(
        *(("begin", {"task": 1, "parent_session": 1, "agent_name": f"sub-{n}"}) for n in range(5)),
        at_once=True,
    )
    agents = {told.structured["session"]: told.structured["agent"] for told in begun}
    assert sorted(agents) == [2, 3, 4, 5, 6]
    for told in begun:
        assert f"use session {told.structured['session']} " in told.text
        assert told.structured["parent"] == 1
    stated = served.calls(
        *(
            ("checkpoint", {"facts": [f"{name} saw it"], "session": n})
            for n, name in agents.items()
        ),
        at_once=True,
    )
    assert {told.structured["session"] for told in stated} == set(agents)
    for claim in project.execute(ReadClaims()).told.claims:
        assert claim.session is not None
        assert claim.text == f"{agents[claim.session]} saw it"
    assert served.done("checkpoint", facts=["the parent saw it"]).structured["session"] == 1
    assert decode_context(project.context_file().read_bytes()).session_number == 1
    project.check_green()


def test_sub_agents_that_begin_alike_are_told_apart_by_the_clients_tool_use(
    project: Project, served: Served
) -> None:
    served.done("begin", new_task="t", agent_name="parent")
    alike = {"task": 1, "parent_session": 1, "agent_name": "reviewer"}
    uses = [served.done("begin", tool_use=use, **alike) for use in ("one", "two", "two")]
    assert [told.structured["session"] for told in uses] == [2, 3, 3]
    assert [told.structured["replayed"] for told in uses] == [False, False, True]
    assert "in a shell `memprove run --session 3 -- COMMAND`" in uses[1].text
    project.check_green()


def test_a_new_task_is_made_once_whatever_tool_use_asks_for_it(
    project: Project, served: Served
) -> None:
    served.done("begin", new_task="t", tool_use="one")
    assert served.done("begin", new_task="t", tool_use="two").structured["replayed"] is True
    under = {"new_task": "u", "parent_session": 1}
    served.done("begin", tool_use="three", **under)
    assert served.done("begin", tool_use="four", **under).structured["replayed"] is True
    assert len(served.done("tasks").structured["tasks"]) == 2


def test_each_write_takes_the_session_that_is_meant(project: Project, served: Served) -> None:
    served.done("begin", new_task="t")
    served.done("begin", new_task="u", parent_session=1, agent_name="sub")
    decision = {"title": "a", "choice": "b", "rationale": "c"}
    assert served.done("checkpoint", next_action="x", session="2").structured["task"] == 2
    assert served.done("decide", **decision, session=2).structured["task"] == 2
    assert served.call("complete", session=2).code == "role_forbidden"
    assert served.done("end", session=2).structured["session"] == 2
    assert served.call("end", session=2).structured["replayed"] is True
    assert served.call("checkpoint", next_action="y", session=2).code == "session_ended"
    assert served.call("checkpoint", next_action="y", session=9).code == "session_unknown"
    assert served.done("checkpoint", next_action="y").structured["session"] == 1


# Local files


def answers(served: Served) -> list[Told]:
    """Return all that can be read, without the time of day."""
    told = [
        served.call("pack"),
        served.call("claims", claims=["c1", "c2"]),
        served.call("tasks"),
        served.call("ledger_verify", full=True),
    ]
    return [Told(re.sub(r"time is \S+", "", t.text), {}, t.is_error) for t in told]


def test_an_edited_context_changes_no_fact_no_run_and_no_verdict(
    project: Project, served: Served
) -> None:
    served.done("begin", new_task="t", agent_name="honest")
    project.run("pytest", "-q", exit=1, failed=1)
    served.done("checkpoint", facts=["broken [!r1]", "said"])
    before = answers(served)
    runs = (("r1", "passed"), ("r7", "passed"))
    change_context(project, runs=runs, agent="forged", role="owner")
    assert answers(served) == before
    assert served.call("complete").code == "run_failed"
    assert served.call("complete", runs=["r7"]).is_error
    change_context(project, runs=runs, agent="forged")
    told = served.done("context")
    assert "forged" in told.text
    assert told.structured["runs"] == [
        {"run": "r1", "verdict": "passed"},
        {"run": "r7", "verdict": "passed"},
    ]


def test_an_edited_context_moves_the_pointer_to_what_the_ledger_has_or_is_invalid(
    project: Project, served: Served
) -> None:
    first = served.done("begin", new_task="one").structured
    served.done("begin", new_task="two")
    assert served.done("pack").structured["task"] == 2
    there = {
        "task": first["task_id"],
        "task_number": 1,
        "session": first["session_id"],
        "session_number": 1,
    }
    change_context(project, **there)
    assert served.done("pack").structured["task"] == 1
    change_context(project, session_number=2)
    for told in (served.call("pack"), served.call("checkpoint", next_action="x")):
        assert told.code == "context_invalid"


def test_context_reads_local_files_only_and_says_that_nobody_checked_them(
    project: Project, served: Served
) -> None:
    begun = served.done("begin", new_task="t", agent_name="claude").structured
    served.env |= {
        "MEMPROVE_TOKEN": "no token",
        "MEMPROVE_DATA_DIR": "/nowhere",
        "MEMPROVE_CONFIG_DIR": "/nowhere",
    }
    told = served.done("context")
    assert told.text.splitlines()[0] == "local files, not checked: context of shell"
    assert "Task 1, Session 1, claude" in told.text
    assert begun["task_id"] in told.text
    assert told.structured["checked"] is False
    assert told.structured["session_id"] == begun["session_id"]
    project.context_file().write_bytes(b"{}")
    assert served.call("context").code == "context_invalid"
    assert project.context_file().read_bytes() == b"{}"
    project.context_file().unlink()
    assert "no context of shell here" in served.done("context").text


def test_a_context_that_cannot_be_read_is_told_beside_the_answer(
    project: Project, served: Served
) -> None:
    served.done("begin", new_task="t")
    project.context_file().write_bytes(b"{}")
    told = served.done("checkpoint", next_action="on")
    assert "\nnote: context_invalid: " in told.text
    assert told.structured["notes"][0].startswith("context_invalid: ")


# The work tree


def test_todays_tree_is_that_of_the_work_tree_in_which_the_session_runs_its_tests(
    project: Project, served: Served, tmp_path: Path
) -> None:
    served.done("begin", new_task="t")
    linked = tmp_path / "linked"
    git(project.folder, "worktree", "add", "--quiet", "--detach", str(linked))
    (linked / "a.txt").write_text("other\n")
    project.at(linked).run("pytest", "-q", session=1)
    served.done("checkpoint", facts=["so [r1]"])
    (project.folder / "a.txt").write_text("nobody asks\n")
    assert "Proven (1)" in served.done("pack").text
    (linked / "a.txt").write_text("again\n")
    assert "then `a.txt` changed" in served.done("claims", claims=["c1"]).text
    assert served.call("complete").code == "evidence_stale"
    project.at(linked).run("pytest", "-q", session=1)
    served.done("complete")
    git(project.folder, "worktree", "remove", "--force", str(linked))
    assert "Stale (1)" in served.done("pack").text


# Stored text


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_stored_text_forges_nothing_in_any_answer(served: Served, text: str) -> None:
    said = f"{text} \x1b[2J\u202e"
    title, name = said[:190], said[:90]
    begun = served.done("begin", new_task=title, agent_name=name, agent_role=name)
    written = [
        begun,
        served.done("checkpoint", facts=[said], open_items=[said], next_action=said),
        served.done("decide", title=title, choice=said, rationale=said, alternatives=[said]),
        served.call("checkpoint", facts=[{"text": "so", "evidence": [said]}]),
        served.call("decide", title="t", choice="c", rationale="r", supersedes=said),
        *(served.call(tool) for tool in ("pack", "context", "tasks", "complete")),
        served.call("claims", claims=["c1"]),
        served.call("end", note=said),
    ]
    for told in written:
        shown = [told.text, *_texts(told.structured)]
        assert not set(filter(printing.is_hidden, "".join(shown))) - {"\n", "\u200d", "\ufe0f"}
    lines = served.done("pack").text.splitlines()
    assert sum(line.startswith("Next (") for line in lines) == 1
    assert sum(line.startswith("Asserted (1)") for line in lines) == 1
    assert not any(
        line.startswith(("## ", "Proven (", "Runs (", "[12]", "</pack>")) for line in lines
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def test_what_a_problem_quotes_is_cut_where_it_is_long() -> None:
    told = refusal(LABEL_INVALID("\x1b" + "x" * 5_000))
    assert told.is_error
    assert told.text.startswith(
        "label_invalid: not a label; labels are r3, r3:test, !r3, c7, o4, d1: \\x1b"
    )
    assert told.text.endswith("x…")
    assert len(told.text) < 2_200
