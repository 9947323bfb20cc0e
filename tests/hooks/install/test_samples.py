"""Files as clients' users have them: the right result, or a refusal and nothing written."""

import json
from pathlib import Path

import pytest
from support.client_files import FILES, LOCAL, SERVER, Desk, new_client_desk
from support.expected import problem
from support.git_repository import isolate

SAMPLES = Path(__file__).with_name("samples")
PLACES = {"server": SERVER, "settings": LOCAL}

# Why a sample is refused, as `.mcp.json` and as settings; None: it is edited.
NO_JSON = ("a value is missing", "a value is missing")
COMMENT = ("a comment", "a comment")
TABLE: dict[str, tuple[str | None, str | None]] = {
    "AGENTS_half_block_INVALID.md": NO_JSON,
    "CLAUDE_crlf_no_newline.md": NO_JSON,
    "CLAUDE_import_only.md": NO_JSON,
    "claude_settings_hooks_as_array_INVALID.json": (None, "hooks is no object"),
    "claude_settings_hooks_null.json": (None, "hooks.SessionStart is no list"),
    "claude_settings_rich.json": (None, None),
    "claude_settings_shared_group.json": (None, None),
    "codex_config_comment_only.toml": NO_JSON,
    "codex_config_dotted_inline.toml": NO_JSON,
    "codex_hooks.json": (None, None),
    "continue_server.yaml": NO_JSON,
    "cursor_hooks.json": (None, None),
    "cursor_mcp.json": COMMENT,
    "mcp_array_root.json": ("it holds no object", "it holds no object"),
    "mcp_bom.json": (None, None),
    "mcp_crlf_4space.json": (None, None),
    "mcp_duplicate_keys.json": ("for the second time", "for the second time"),
    "mcp_empty_servers.json": (None, None),
    "mcp_escapes_numbers.json": (None, None),
    "mcp_jsonc_comments_INVALID_for_claude.json": COMMENT,
    "mcp_minified_one_line.json": (None, None),
    "mcp_servers_null.json": ("mcpServers is no object", None),
    "mcp_tabs_no_final_newline.json": (None, None),
    "mcp_zero_bytes.json": (None, None),
    "opencode.jsonc": COMMENT,
    "windsurf_mcp_config.json": (None, None),
    "zed_settings.json": COMMENT,
}
CASES = [
    (name, place, why)
    for name, reasons in TABLE.items()
    for place, why in zip(PLACES, reasons, strict=True)
]
EDITED = [(name, place) for name, place, why in CASES if why is None]
REFUSED = [(name, place, why) for name, place, why in CASES if why is not None]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return new_client_desk(tmp_path)


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def plain(data: bytes) -> dict[str, object]:
    document: dict[str, object] = json.loads(data.decode("utf-8-sig") or "{}")
    return document


def test_every_sample_is_in_the_table() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == set(TABLE)


@pytest.mark.parametrize(("name", "place"), EDITED)
def test_a_sample_is_edited_once_and_then_as_it_was(desk: Desk, name: str, place: str) -> None:
    file = desk.write(PLACES[place], sample(name))
    before = desk.bytes()
    desk.install()
    installed = desk.state()
    desk.install()
    again = desk.state()
    edited = file.read_bytes()
    desk.uninstall()

    assert again == installed, "nothing was written, no time has changed"
    assert desk.bytes() == before
    left, right = plain(sample(name)), plain(edited)
    key = "mcpServers" if place == "server" else "hooks"
    left.pop(key, None)
    right.pop(key)
    assert left == right, "nothing else is said"


@pytest.mark.parametrize(("name", "place", "why"), REFUSED)
def test_a_sample_is_refused_and_nothing_is_written(
    desk: Desk, name: str, place: str, why: str
) -> None:
    desk.write(PLACES[place], sample(name))
    before = desk.state()
    with problem("client_file_invalid", why):
        desk.install()
    assert desk.state() == before
    assert not list(desk.config.iterdir())


@pytest.mark.parametrize(("name", "place"), EDITED)
def test_only_lines_of_ours_are_added(desk: Desk, name: str, place: str) -> None:
    """Of a text on several lines; a comma behind the line before ours is ours."""
    file = desk.write(PLACES[place], sample(name))
    desk.install()
    old = [line.rstrip(b",\r\n") for line in sample(name).splitlines(keepends=True)]
    new = iter([line.rstrip(b",\r\n") for line in file.read_bytes().splitlines(keepends=True)])
    old_verb = b'"args": ["hook", "session-start"]'
    if len(old) > 1:
        assert all(line in new for line in old if old_verb not in line or place == "server")


def test_an_old_verb_of_ours_is_replaced_and_its_neighbours_stay(desk: Desk) -> None:
    file = desk.write(LOCAL, sample("claude_settings_shared_group.json"))
    desk.install()
    text = file.read_text()
    first, second = json.loads(text)["hooks"]["SessionStart"]
    assert "session-start" not in text
    assert [hook["command"][:6] for hook in first["hooks"]] == ["echo t", "direnv"]
    assert first["matcher"] == "startup|resume|clear|compact"
    assert second["matcher"] == "startup|resume|clear|compact|fork"
    assert second["hooks"][0]["args"] == ["hook", "SessionStart"]


@pytest.mark.parametrize("name", ["CLAUDE_crlf_no_newline.md", "CLAUDE_import_only.md"])
@pytest.mark.parametrize("place", ["AGENTS.md", "CLAUDE.md"])
def test_a_document_gets_its_block_and_is_as_it_was_again(
    desk: Desk, name: str, place: str
) -> None:
    file = desk.write(place, sample(name))
    before = desk.bytes()
    desk.install(instructions=True)
    installed = desk.state()
    desk.install(instructions=True)
    with_block = file.read_bytes()
    again = desk.state()
    desk.uninstall()

    assert again == installed
    assert desk.bytes() == before
    imports = name == "CLAUDE_import_only.md" and place == "CLAUDE.md"
    assert (b"BEGIN MEMPROVE" in with_block) != imports
    assert with_block.count(b"\r\n") in (0, with_block.count(b"\n"))
    assert with_block.startswith(sample(name))


@pytest.mark.parametrize("place", ["AGENTS.md", "CLAUDE.md"])
def test_half_a_block_is_refused_and_nothing_is_written(desk: Desk, place: str) -> None:
    desk.write(place, sample("AGENTS_half_block_INVALID.md"))
    before = desk.state()
    with problem("client_file_invalid", f"{place}: line 2: the marks of memprove"):
        desk.install(instructions=True)
    with problem("client_file_invalid", f"{place}: line 2: the marks of memprove"):
        desk.uninstall()
    assert desk.state() == before
    assert set(FILES) & set(desk.files()) == {place, ".git/info/exclude"}
