"""gitignore patterns, matched in time linear in the path.

The patterns come from files that anyone who can push can change. A backtracking matcher, git's own
included, takes minutes for ``*a*a*a*a*b``; here each ``*`` and each ``**/`` settles for the first
place where what follows it fits, which is always as good as a later one:

- a ``*`` cannot leave its segment, and another one may take up whatever it leaves over;
- what stands between two ``**/`` is a run of whole segments, and the same holds for these.

Bytes are compared, as git does: ``?`` is one byte. One difference is meant: after a literal, as in
``lib**/x``, two asterisks are one, as gitignore(5) says and git does not always do.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

LONGEST = 4096

_TOKEN = re.compile(
    rb"(?P<anywhere>(?:(?<![^/])\*\*+/)+)|(?P<rest>(?<![^/])\*\*+\Z)|(?P<star>\*+)|(?P<any>\?)"
    rb"|\[(?P<negated>[!^]?)(?P<members>\]?+(?:\[:[^]]*:\]|\\.|[^]\\])*+)\]"
    rb"|\\(?P<escaped>.)|(?P<plain>[^\\\[])",
    re.DOTALL,
)
_MEMBER = re.compile(
    rb"\[:(?P<name>[^]]*):\]|(?P<low>\\.|[^\\])-(?P<high>\\.|[^\\])|(?P<one>\\.|[^\\])", re.DOTALL
)
_PART_ENDS = re.compile(rb"/|\Z")
_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb"\t-\r ",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}
_STAR = b"*"
_ANYWHERE = b"**"


class Pattern(msgspec.Struct, frozen=True):
    """One line that is a pattern."""

    source: bytes
    """A regular expression for it."""
    negated: bool
    anchored: bool
    """Whether it is about the whole path, not about the last name in it."""
    folders_only: bool


class Patterns:
    """A list of patterns, of which the last one that matches a path decides."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        runs = groupby(patterns, key=lambda pattern: pattern.negated)
        self._runs = [_Run(negated, list(alike)) for negated, alike in runs][::-1]
        self._folders: dict[bytes, bool] = {b"": False}

    def verdict(self, path: bytes, *, is_folder: bool = False) -> bool | None:
        """Tell whether the list ignores *path*, judged without its parents; None: it says nothing.

        The time is linear in the length of *path*, times the length of all patterns at most.
        """
        name = path[path.rfind(b"/") + 1 :]
        for run in self._runs:
            if run.matches(path, name, is_folder):
                return not run.negated
        return None

    def ignores(self, path: bytes) -> bool:
        """Tell whether the list ignores the file *path*, or a folder that it is in.

        As in git, a ``!`` takes back nothing that lies in an ignored folder.
        """
        return self._ignores_folder(path.rpartition(b"/")[0]) or bool(self.verdict(path))

    def _ignores_folder(self, path: bytes) -> bool:
        if path not in self._folders:
            for end in _PART_ENDS.finditer(path):
                part = path[: end.start()]
                if part not in self._folders:
                    self._folders[part] = bool(self.verdict(part, is_folder=True))
                if self._folders[part]:
                    return True
        return self._folders[path]


class _Run:
    """Patterns in a row that all ignore, or all take back: which of them matches is no matter."""

    def __init__(self, negated: bool, patterns: list[Pattern]) -> None:
        self.negated = negated
        self._of_folders = _joined(patterns)
        self._of_files = _joined([pattern for pattern in patterns if not pattern.folders_only])

    def matches(self, path: bytes, name: bytes, is_folder: bool) -> bool:
        of_names, of_paths = self._of_folders if is_folder else self._of_files
        return bool(of_names.fullmatch(name) or of_paths.fullmatch(path))


def parse_patterns(content: bytes) -> Patterns:
    """Return the patterns of a ``.gitignore`` that holds *content*; git ignores faulty ones too."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return Patterns(_valid(line.removesuffix(b"\r") for line in lines))


def parse_pattern(line: bytes) -> Pattern | None:
    """Return the pattern that *line* is; None: it is blank, or a comment.

    Raises ValueError where it can match nothing: a bracket that is not closed, a lone backslash;
    and where it is longer than any path.
    """
    if len(line) > LONGEST:
        raise ValueError("longer than a path")
    text = _without_trailing_spaces(line)
    if text[:1] == b"#":
        return None
    negated = text[:1] == b"!"
    text = text[negated:]
    folders_only = text[-1:] == b"/"
    text = text[: len(text) - folders_only]
    anchored = b"/" in text
    text = text.removeprefix(b"/")
    if not text and not anchored and not folders_only:
        return None
    if not text or text[-1:] == b"/":
        raise ValueError("a path that no file has")
    return Pattern(_expression(list(_tokens(text))), negated, anchored, folders_only)


def _valid(lines: Iterable[bytes]) -> Iterator[Pattern]:
    for line in lines:
        try:
            pattern = parse_pattern(line)
        except ValueError:
            continue
        if pattern is not None:
            yield pattern


def _joined(patterns: list[Pattern]) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return what matches where one of *patterns* does: last names, and whole paths."""
    of_names = [pattern.source for pattern in patterns if not pattern.anchored]
    of_paths = [pattern.source for pattern in patterns if pattern.anchored]
    return _any_of(of_names), _any_of(of_paths)


def _any_of(sources: list[bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(sources or [b"(?!)"]), re.DOTALL)


def _without_trailing_spaces(line: bytes) -> bytes:
    text = line.rstrip(b" ")
    backslashes = len(text) - len(text.rstrip(b"\\"))
    return line[: len(text) + 1] if backslashes % 2 else text


def _tokens(text: bytes) -> Iterator[bytes]:
    """Yield ``*``, ``**`` for any folders, and an expression for each byte that must be there."""
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError("a bracket that is not closed, or a backslash at the end")
        at = token.end()
        match token.lastgroup:
            case "anywhere":
                yield _ANYWHERE
            case "rest":
                yield b".+"
            case "star":
                yield _STAR
            case "any":
                yield b"[^/]"
            case "members":
                yield _class(token["negated"], token["members"])
            case _:
                yield re.escape(token["escaped"] or token["plain"])


def _class(negated: bytes, members: bytes) -> bytes:
    inside = b"".join(_member(member) for member in _MEMBER.finditer(members))
    return b"[^/%s]" % inside if negated else b"(?!/)[%s]" % inside


def _member(member: re.Match[bytes]) -> bytes:
    if member["name"] is not None:
        if member["name"] not in _CLASSES:
            raise ValueError("a class of characters that there is not")
        return _CLASSES[member["name"]]
    low = (member["low"] or member["one"])[-1:]
    high = (member["high"] or member["one"])[-1:]
    return _byte(low) if high <= low else b"%s-%s" % (_byte(low), _byte(high))  # b-a: b, as in git


def _byte(one: bytes) -> bytes:
    return b"\\x%02x" % one[0]


def _expression(tokens: list[bytes]) -> bytes:
    """Return the expression for *tokens*; it never goes back on where a wildcard ended."""
    first, *others = _split(tokens, _ANYWHERE)
    if not others:
        return _piece(first, last=True)
    *between, last = others
    pieces = b"".join(b"(?>(?:[^/]*/)*?%s)" % _piece(piece, last=False) for piece in between)
    return _piece(first, last=False) + pieces + b"(?:[^/]*/)*?" + _piece(last, last=True)


def _piece(tokens: list[bytes], *, last: bool) -> bytes:
    """Return the expression for what stands between two ``**/``."""
    first, *others = (b"".join(chunk) for chunk in _split(tokens, _STAR))
    stars = [b"(?>[^/]*?%s)" % chunk for chunk in others]
    if last and others:  # what follows the last wildcard must reach the end, not come early
        stars[-1] = b"[^/]*" + others[-1]
    return first + b"".join(stars)


def _split(tokens: list[bytes], wildcard: bytes) -> list[list[bytes]]:
    chunks: list[list[bytes]] = [[]]
    for token in tokens:
        if token == wildcard:
            chunks.append([])
        else:
            chunks[-1].append(token)
    return chunks
