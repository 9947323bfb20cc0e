"""config.toml: two lists of patterns, and nothing that could switch evidence off."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger import problems
from memprove.ledger.workspace import config
from memprove.ledger.workspace.config import WorkspaceConfig

INVALID = r"^workspace_config_invalid: "


def ignoring(*patterns: str) -> WorkspaceConfig:
    listed = ", ".join(f"'''{pattern}'''" for pattern in patterns)
    return config.parse_config(f"[evidence]\nignore = [{listed}]\n".encode())


def refused(document: str, naming: str) -> None:
    with pytest.raises(problems.Problem, match=INVALID) as caught:
        config.parse_config(document.encode())
    assert naming in caught.value.detail


def test_an_absent_file_ignores_nothing(tmp_path: Path) -> None:
    found = config.read_config(tmp_path)
    assert found == WorkspaceConfig((), ())
    assert not found.ignores("README.md")
    assert not found.is_output("README.md")


def test_the_two_lists_are_read_and_are_separate(tmp_path: Path) -> None:
    (tmp_path / ".memprove").mkdir()
    (tmp_path / ".memprove" / "config.toml").write_text(
        '[evidence]\nignore = ["docs/", "*.md", "!KEEP.md"]\noutputs = ["**/*.snap"]\n'
    )
    found = config.read_config(tmp_path)
    assert found == WorkspaceConfig(("docs/", "*.md", "!KEEP.md"), ("**/*.snap",))
    assert [path for path in PATHS if found.ignores(path)] == ["docs/a.py", "a/docs/b", "x/R.md"]
    assert [path for path in PATHS if found.is_output(path)] == ["t/__snapshots__/a.snap"]


PATHS = ["docs/a.py", "a/docs/b", "x/R.md", "KEEP.md", "docs", "src/a.py", "t/__snapshots__/a.snap"]


@pytest.mark.parametrize("document", ["", "# nothing\n", "[evidence]\n", "evidence = {}\n"])
def test_an_empty_document_is_an_empty_configuration(document: str) -> None:
    assert config.parse_config(document.encode()) == WorkspaceConfig()


def test_a_linked_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".memprove").mkdir()
    (tmp_path / "other").write_text("")
    (tmp_path / ".memprove" / "config.toml").symlink_to(tmp_path / "other")
    with pytest.raises(problems.Problem, match=r"^path_unsafe: "):
        config.read_config(tmp_path)


@pytest.mark.parametrize(
    ("document", "naming"),
    [
        ("run = 'rm'", "unknown key 'run'"),
        ("[hooks]\na = 1", "unknown key 'hooks'"),
        ("[evidence]\nignored = []", "unknown key evidence.'ignored'"),
        ("[evidence.ignore]\na = []", "evidence.ignore"),
        ("[[evidence]]", "evidence is no table"),
        ("evidence = 1", "evidence is no table"),
        ("[evidence]\nignore = 'docs/'", "evidence.ignore is no list"),
        ("[evidence]\noutputs = [1]", "evidence.outputs"),
        ("[evidence]\noutputs = [['a']]", "evidence.outputs"),
        ("[evidence]\nignore = ['a']\nignore = ['b']", "not TOML"),
        ("[evidence", "not TOML"),
        ("a = " + "[" * 20_000, "not TOML"),
        ("a = 1" + "0" * 5000, ""),
        ("[evidence]\nignore = [" + "'a'," * 101 + "]", "over 100 patterns"),
        ("[evidence]\nignore = ['" + "a" * 201 + "']", "longer than 200"),
        ('"\\u001b[2J" = 1', r"unknown key '\x1b[2J'"),
    ],
)
def test_what_is_not_known_is_refused_by_name(document: str, naming: str) -> None:
    refused(document, naming)


def test_bytes_that_are_no_utf8_are_refused() -> None:
    with pytest.raises(problems.Problem, match=INVALID):
        config.parse_config(b"[evidence]\nignore = ['\xff']\n")


@pytest.mark.parametrize(
    "pattern",
    [
        *("*", "**", "***", "/*", "/**", "**/*", "/**/*", "*/", "**/", "*/*", "*/**", "?*", "*?"),
        *(
            "*.*",
            "[!x]*",
            "[a-z]*",
            "/[a-z]*",
            "*.[a-z]*",
            "[a-zA-Z0-9._-]*",
            "*[!~]",
            "\\",
            "!",
            "/",
            "",
            " ",
            "# a",
        ),
        *("../x", "a/../b", "!../x", "a\tb", "a\u202eb", "[a", "a//", "a\\"),
    ],
)
def test_a_pattern_that_matches_everything_or_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(problems.Problem, match=INVALID + r".*evidence\.ignore"):
        ignoring(pattern)


@pytest.mark.parametrize(
    "patterns",
    [
        ("[a-m]*", "[n-z]*", "[A-Z0-9]*"),
        ("[a-m]*", "[n-z]*", "[A-Z0-9]*", "!src/"),
        ("!src/", "*"),
        ("*", "!src/"),
        ("*", "!*"),
    ],
)
def test_a_list_that_matches_everything_is_refused(patterns: tuple[str, ...]) -> None:
    with pytest.raises(problems.Problem, match=INVALID + r".*matches everything"):
        ignoring(*patterns)


def test_outputs_that_match_everything_are_refused() -> None:
    refused("[evidence]\noutputs = ['*']", "evidence.outputs")


@pytest.mark.parametrize(
    "pattern",
    [
        *("docs/", "*.md", "/CHANGELOG", "**/__snapshots__/**/*.snap", ".*", "a?c", "[ab].txt"),
        *(
            "!keep",
            "\\!important",
            "\\#a",
            "é/",
            "*.lock",
            "a b/c d",
            "*.?",
            "?/",
            "[A-Z]*",
            "*_*",
            "!*",
            "*a*b*c*d*",
        ),
    ],
)
def test_ordinary_patterns_are_taken(pattern: str) -> None:
    assert ignoring(pattern).ignore == (pattern,)


def test_a_very_long_path_is_ignored_too() -> None:
    assert ignoring("docs/").ignores("docs/" + "a/" * 500 + "b")


def test_file_names_that_are_no_unicode_are_matched() -> None:
    assert ignoring("docs/").ignores("docs/\udcff")


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_a_configuration_or_invalid(data: bytes) -> None:
    try:
        config.parse_config(data)
    except problems.Problem as problem:
        code = problem.code
    else:
        code = ""
    assert code in ("", "workspace_config_invalid")


SOURCES = [f"{a}{b}/{b}{a}.{a}{b}" for a in "aeq7Zs" for b in "mnK_1u"]


@given(st.lists(st.text(string.ascii_letters + "*?[]!/\\.-# ", max_size=12), max_size=6))
def test_arbitrary_patterns_never_switch_evidence_off(patterns: list[str]) -> None:
    try:
        found = ignoring(*patterns)
    except problems.Problem as problem:
        found = WorkspaceConfig()
        code = problem.code
    else:
        code = ""
    assert code in ("", "workspace_config_invalid")
    assert not all(found.ignores(path) for path in SOURCES)
