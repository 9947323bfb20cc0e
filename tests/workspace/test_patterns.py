"""gitignore patterns: as git reads them, and in linear time."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec
from support.git_repository import attempt, git, isolate

from memprove.ledger.workspace.patterns import parse_pattern, parse_patterns

Ignored = Callable[[list[bytes], list[bytes]], list[bytes]]


def ours(lines: list[bytes], paths: list[bytes]) -> list[bytes]:
    patterns = parse_patterns(b"\n".join(lines))
    return [path for path in paths if patterns.ignores(path)]


@pytest.fixture(scope="module")
def gits(tmp_path_factory: pytest.TempPathFactory) -> Ignored:
    """Return what git itself says; the repository is made once."""
    base = tmp_path_factory.mktemp("git")
    with pytest.MonkeyPatch.context() as patched:
        isolate(patched, base / "home")
        git(base, "init", "--quiet", "repository")

    def ignored(lines: list[bytes], paths: list[bytes]) -> list[bytes]:
        (base / "patterns").write_bytes(b"\n".join(lines))
        options = ("-c", f"core.excludesFile={base / 'patterns'}", "check-ignore", "--no-index")
        done = attempt(
            base / "repository", "git", *options, "-z", "--stdin", stdin=b"\0".join(paths) + b"\0"
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout.split(b"\0")[:-1]

    return ignored


NAMES = st.sampled_from(
    [b"a", b"b", b"ab", b"ba", b"aab", b"abab", b"a.b", b"a-", b"]", b"\xc3\xa9", b" ", b"*"]
)
PATHS = st.lists(
    st.lists(NAMES, min_size=1, max_size=5).map(b"/".join), min_size=1, max_size=20, unique=True
)
SEGMENTS = st.one_of(
    st.just(b"**"),
    st.lists(
        st.sampled_from(
            [
                *(b"a", b"b", b"a", b"b", b".", b"-", b"*", b"*", b"?", b"\\*", b"\\a", b" "),
                *(b"[ab]", b"[!a]", b"[^a-b]", b"[]a]", b"[a-]", b"[\\]b]", b"[[:alpha:]]"),
                *(
                    b"[b-a]",
                    b"[.-b]",
                    b"[a",
                    b"\xc3\xa9",
                    b"[[:nothing:]]",
                    b"[/a]",
                    b"[[:punct:]b]",
                ),
            ]
        ),
        min_size=1,
        max_size=5,
    )
    .map(b"".join)
    # Where git takes two asterisks in a name for any folders, we do as its manual says.
    .filter(lambda segment: b"**" not in segment),
)
LINES = st.tuples(
    st.sampled_from([b"", b"", b"", b"!", b"/", b"!/"]),
    st.lists(SEGMENTS, min_size=1, max_size=4).map(b"/".join),
    st.sampled_from([b"", b"", b"/", b"  ", b"\\ ", b"\r"]),
).map(b"".join)


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(LINES, min_size=1, max_size=5), paths=PATHS)
def test_a_path_is_ignored_where_git_ignores_it(
    gits: Ignored, lines: list[bytes], paths: list[bytes]
) -> None:
    assert ours(lines, paths) == gits(lines, paths)


PLAIN_LINES = st.lists(
    st.sampled_from(["a", "b", "ab", "*", "*a", "a*b", "[ab]", "**", "a.b"]),
    min_size=1,
    max_size=4,
).map("/".join)


@settings(max_examples=300)
@given(lines=st.lists(PLAIN_LINES, min_size=1, max_size=5), paths=PATHS)
def test_a_path_is_ignored_where_pathspec_ignores_it(lines: list[str], paths: list[bytes]) -> None:
    theirs = GitIgnoreSpec.from_lines(lines)

    assert ours([line.encode() for line in lines], paths) == [
        path for path in paths if theirs.match_file(path.decode())
    ]


@pytest.mark.parametrize(
    ("lines", "path", "ignored"),
    [
        ([b"\xef\xbb\xbf*.log"], b"x.log", True),
        ([b"# a", b"", b"  ", b"x\r"], b"x", True),
        ([b"\\#x", b"\\!y"], b"#x", True),
        ([b"\\#x", b"\\!y"], b"!y", True),
        ([b"build/", b"!build/kept"], b"build/kept", True),
        ([b"build/*", b"!build/kept"], b"build/kept", False),
        ([b"build/"], b"build", False),
        ([b"a/**"], b"a", False),
        ([b"a/**"], b"a/b/c", True),
        ([b"a/**/b"], b"a/b", True),
        ([b"**/a*b"], b"ac/ab", True),
        ([b"lib**/x"], b"lib/a/x", False),
        ([b"[", b"a\\", b"[[:none:]]", b"x"], b"x", True),
        ([b"?"], "é".encode(), False),
        ([b"caf\xe9"], b"caf\xe9", True),
        ([b"a"], b"a\n", False),
    ],
)
def test_a_path_is_ignored_or_not(lines: list[bytes], path: bytes, ignored: bool) -> None:
    assert (ours(lines, [path]) == [path]) is ignored


@pytest.mark.parametrize("line", [b"", b" ", b"#", b"!", b"# a"])
def test_a_line_may_be_no_pattern(line: bytes) -> None:
    assert parse_pattern(line) is None


@pytest.mark.parametrize("line", [b"[a", b"a\\", b"/", b"a//", b"[[:none:]]", b"!/", b"*" * 4097])
def test_a_pattern_that_can_match_nothing_is_told(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_pattern(line)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"*a" * 40 + b"b", b"a" * 4000),
        (b"**/a/" * 30 + b"*b", b"a/" * 2000 + b"a"),
        (b"**/a*a*a*b/" * 10 + b"x", b"aaaaaaa/" * 500 + b"x"),
        (b"*" + b"a" * 198 + b"b", b"a" * 4000),
        (b"[ab]*" * 40 + b"c", b"ab" * 2000),
    ],
)
def test_what_takes_a_backtracking_matcher_for_ever_ends(line: bytes, path: bytes) -> None:
    assert ours([line], [path]) == []


@settings(max_examples=2000)
@given(content=st.binary(max_size=60), path=st.binary(min_size=1, max_size=20))
def test_arbitrary_bytes_are_patterns(content: bytes, path: bytes) -> None:
    assert parse_patterns(content).ignores(path) in (True, False)
