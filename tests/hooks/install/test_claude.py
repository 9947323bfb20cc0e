"""Our entries among others' in the files of Claude Code."""

import json
from typing import Any

import pytest

from memprove.hooks.install import claude
from memprove.hooks.install.claude import Foreign, Unfit
from memprove.hooks.install.entries import EVENTS, Program

PROGRAM = Program("/opt/bin/memprove", "/home/a/.config/memprove", default_config=True)
ENTRY = PROGRAM.server(portable=False)
START = {"SessionStart": PROGRAM.hook("SessionStart", portable=False)}


def server(data: bytes | None) -> dict[str, Any]:
    return dict(json.loads(claude.with_server(data, ENTRY).data)["mcpServers"]["memprove"])


def hooks(document: Any) -> Any:
    data = json.dumps(document, indent=2).encode()
    return json.loads(claude.with_hooks(data, START).data)["hooks"]


def ours(*verb: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": "/old/memprove", "args": ["hook", *verb], **more}


def group(*handlers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**more, "hooks": list(handlers)}


# The server


@pytest.mark.parametrize("data", [None, b"", b"\n \r\n", b"\xef\xbb\xbf", b"{}", b"{ }\n"])
def test_a_file_that_says_nothing_gets_the_entry(data: bytes | None) -> None:
    assert server(data) == ENTRY


def test_what_a_user_added_to_our_entry_stays() -> None:
    entry = {
        "command": "/old/memprove",
        "args": ["mcp", "serve", "--config-dir", "/old", "--more"],
        "env": {"MEMPROVE_CONFIG_DIR": "/old", "TZ": "UTC"},
        "alwaysLoad": True,
        "timeout": 6e4,
    }
    assert server(json.dumps({"mcpServers": {"memprove": entry}}).encode()) == {
        **entry,
        "command": ENTRY["command"],
        "args": [*ENTRY["args"], "--more"],
        "env": {**ENTRY["env"], "TZ": "UTC"},
    }


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["memprove"]},
        {"command": "/opt/bin/memprove", "args": ["serve"]},
        {"command": "/opt/bin/memprove2", "args": ["mcp", "serve"]},
        {"command": "sh", "args": ["-c", "memprove mcp serve"]},
        {"type": "http", "url": "https://example.com/memprove"},
        {},
    ],
)
def test_something_else_under_our_name_is_refused(entry: dict[str, Any]) -> None:
    data = json.dumps({"mcpServers": {"memprove": entry}}).encode()
    with pytest.raises(Foreign):
        claude.with_server(data, ENTRY)
    assert claude.without_server(data, ("mcpServers",)) == data


def test_a_windows_path_is_ours_as_well() -> None:
    entry = {"command": "C:\\a b\\memprove.exe", "args": ["mcp", "serve"]}
    assert server(json.dumps({"mcpServers": {"memprove": entry}}).encode()) == ENTRY


@pytest.mark.parametrize(
    "data",
    [b'{"mcpServers": []}', b'{"mcpServers": {"memprove": 1}}', b"\xff\xfe{", b'{"a": "\xe9"}'],
)
def test_what_is_not_what_it_should_be_is_refused(data: bytes) -> None:
    with pytest.raises((Unfit, Foreign)):
        claude.with_server(data, ENTRY)


def test_a_portable_entry_holds_nothing_of_this_machine() -> None:
    text = json.dumps(PROGRAM.server(portable=True)) + json.dumps(
        [PROGRAM.hook(event, portable=True) for event in EVENTS]
    )
    assert "/" not in text
    assert PROGRAM.server(portable=True)["command"] == "${MEMPROVE_BIN:-memprove}"
    assert PROGRAM.server(portable=True)["env"] == {
        "MEMPROVE_CONFIG_DIR": "${MEMPROVE_CONFIG_DIR:-}"
    }


def test_only_our_server_is_taken_out_and_what_was_made_for_it() -> None:
    data = b'{"mcpServers": {"a": {}}, "b": 1}'
    added = claude.with_server(data, ENTRY)
    assert claude.without_server(added.data, added.made) == data
    alone = claude.with_server(b'{"b": 1}', ENTRY)
    assert alone.made == ("mcpServers",)
    assert claude.without_server(alone.data, alone.made) == b'{"b": 1}'
    assert claude.without_server(alone.data, ()) == b'{"b": 1, "mcpServers": {}}'


# Hooks


def test_the_hook_is_called_on_every_source_without_a_shell_and_with_a_time_limit() -> None:
    assert hooks({})["SessionStart"] == [
        {
            "matcher": "startup|resume|clear|compact|fork",
            "hooks": [
                {
                    "type": "command",
                    "command": "/opt/bin/memprove",
                    "args": ["hook", "SessionStart"],
                    "timeout": 10,
                }
            ],
        }
    ]


@pytest.mark.parametrize("event", EVENTS)
def test_every_handler_has_a_time_limit_in_seconds(event: str) -> None:
    assert 1 <= PROGRAM.hook(event, portable=False)["timeout"] <= 10


def test_a_configuration_that_is_not_found_by_itself_is_named() -> None:
    there = Program("/opt/bin/memprove", "/elsewhere", default_config=False)
    assert there.hook("SessionStart", portable=False)["args"] == [
        *("hook", "SessionStart", "--config-dir", "/elsewhere")
    ]
    assert there.hook("SessionStart", portable=True)["args"] == ["hook", "SessionStart"]


def test_our_handler_is_updated_in_the_group_it_is_in() -> None:
    shared = group({"type": "command", "command": "echo"}, ours("SessionStart"), matcher="startup")
    (after,) = hooks({"hooks": {"SessionStart": [shared]}})["SessionStart"]
    assert after["matcher"] == "startup", "the user narrowed it"
    assert after["hooks"] == [shared["hooks"][0], START["SessionStart"]]


def test_what_a_user_added_to_our_handler_stays() -> None:
    mine = ours("SessionStart", timeout=3, statusMessage="Loading")
    (after,) = hooks({"hooks": {"SessionStart": [group(mine)]}})["SessionStart"]
    assert after["hooks"] == [{**START["SessionStart"], "timeout": 3, "statusMessage": "Loading"}]


@pytest.mark.parametrize("matcher", ["", "*", "fork,clear | resume|compact|startup"])
def test_an_old_verb_in_a_group_that_is_called_often_enough_is_updated_there(
    matcher: str,
) -> None:
    (after,) = hooks({"hooks": {"SessionStart": [group(ours("start"), matcher=matcher)]}})[
        "SessionStart"
    ]
    assert after == group({**START["SessionStart"]}, matcher=matcher)


@pytest.mark.parametrize(
    "handler",
    [
        ours("start"),
        {"type": "command", "command": "memprove hook start"},
        {"type": "command", "command": "'/a b/memprove' hook SessionStart"},
        ours("SessionStart", *("--config-dir", "/x")),
    ],
)
def test_every_form_of_our_handler_is_known(handler: dict[str, Any]) -> None:
    assert hooks({"hooks": {"SessionStart": [group(handler, matcher="*")]}})["SessionStart"] == [
        group(START["SessionStart"], matcher="*")
    ]


@pytest.mark.parametrize(
    "handler",
    [
        {"type": "command", "command": "memprove hook start || true"},
        {"type": "command", "command": "echo memprove hook start"},
        {"type": "command", "command": "memprove 'hook"},
        {"type": "command", "command": "memprove", "args": ["hook"]},
        {"type": "command", "command": "memprove", "args": ["run", "hook"]},
        {"type": "command", "command": "/opt/memprove-wrapper", "args": ["hook", "x"]},
        {"type": "http", "command": "memprove", "args": ["hook", "x"]},
        {"command": "memprove", "args": ["hook", "x"]},
        {"type": "command"},
    ],
)
def test_what_only_resembles_ours_is_left_alone(handler: dict[str, Any]) -> None:
    before = {"hooks": {"SessionStart": [group(handler)]}}
    after = hooks(before)["SessionStart"]
    assert after[0] == group(handler)
    assert len(after) == 2
    data = json.dumps(before).encode()
    assert claude.without_hooks(data, ("hooks", "hooks.SessionStart")) == data


def test_doubles_and_handlers_at_events_that_are_none_of_ours_go() -> None:
    before = {
        "hooks": {
            "SessionStart": [group(ours("SessionStart")), group(ours("start"), ours("start"))],
            "Stop": [group(ours("stop"), {"type": "command", "command": "echo"})],
        }
    }
    assert hooks(before) == {
        "SessionStart": [group(START["SessionStart"])],
        "Stop": [group({"type": "command", "command": "echo"})],
    }


def test_odd_neighbours_are_left_alone() -> None:
    odd = [1, None, {}, {"hooks": None}, {"hooks": [1, None, {"type": 1, "command": 2}]}]
    after = hooks({"hooks": {"SessionStart": odd, "Stop": None, "Other": 3}})
    assert after["SessionStart"][:-1] == odd
    assert (after["Stop"], after["Other"]) == (None, 3)


@pytest.mark.parametrize(
    ("settings", "is_on"),
    [
        ({"enabledPlugins": {"memprove@somewhere": True}}, True),
        ({"enabledPlugins": {"memprove": True}}, True),
        ({"enabledPlugins": {"memprove@somewhere": False}}, False),
        ({"enabledPlugins": {"memprove-other@somewhere": True}}, False),
        ({"enabledPlugins": []}, False),
        ({}, False),
    ],
)
def test_a_plugin_that_is_on_is_seen(settings: dict[str, Any], is_on: bool) -> None:
    assert claude.enables_plugin(json.dumps(settings).encode()) is is_on


def test_settings_that_are_not_loaded_turn_nothing_on() -> None:
    assert not claude.enables_plugin(b'{"enabledPlugins": {"memprove@a": true},}')
