"""What can be told from a command alone: its kind, and whether its exit code can be trusted.

What it cannot look into (a script, a makefile, a program's own configuration) it takes at its word.
"""

from collections.abc import Iterator, Sequence

from memprove.ledger.capture import masking, shell
from memprove.ledger.capture.shell_tokens import DEEPEST, Unreadable
from memprove.ledger.capture.tools import Kind, builds, kind_of, only_tells, program, strongest
from memprove.ledger.capture.wrappers import shell_script, stages, unwrapped


def classify(argv: Sequence[str], *, counted: bool = True) -> Kind:
    """Return the kind of the command *argv*.

    Kind ``test`` needs test counts: with *counted* false a test command is what it is without them,
    ``build`` if it builds what it tests, else ``other``.
    """
    return strongest(_kind(words, counted) for words in _commands(argv))


def is_no_op(argv: Sequence[str]) -> bool:
    """Return whether *argv* surely builds and lints nothing, whatever its caller says of it."""
    return all(program(words[0]) in NO_OPS or only_tells(words) for words in _commands(argv))


def mask(argv: Sequence[str]) -> str:
    """Return why the exit code of *argv* cannot be trusted; empty if it can."""
    return masking.reason(argv)


def tests_unrecorded(script: str) -> bool:
    """Return whether the shell text *script* surely runs tests outside ``memprove run``."""
    return any(_tests_unrecorded(words, 0) for words in _plain(script))


def _tests_unrecorded(argv: Sequence[str], depth: int) -> bool:
    words: list[str] = []
    for words in stages(argv):
        if words and program(words[0]) in ("memprove", "memprove.cli"):
            return False
    inner = shell_script(words)
    if inner is not None and depth <= DEEPEST:
        return any(_tests_unrecorded(each, depth + 1) for each in _plain(inner.text))
    return bool(words) and kind_of(words) == "test"


def _plain(script: str) -> list[tuple[str, ...]]:
    try:
        return list(shell.commands(shell.parse(script)))
    except Unreadable:
        return []


NO_OPS = masking.HARMLESS | frozenset(
    (
        *("false", "exit", "return", "break", "continue", "wait", "trap", "alias", "read", "let"),
        *("env", "printenv", "id", "whoami", "uname", "hostname", "tty", "nproc", "history"),
        *("ls", "head", "tail", "wc", "stat", "file", "seq", "basename", "dirname", "touch"),
        *("clear", "sync", "time", "jobs", "help", "logout"),
    )
)
"""Commands that set up, show or ask something, and no more."""


def _kind(words: Sequence[str], counted: bool) -> Kind:
    kind = kind_of(words)
    if kind != "test" or counted:
        return kind
    return "build" if builds(words) else "other"


def _commands(argv: Sequence[str], depth: int = 0) -> Iterator[list[str]]:
    """Yield the plain commands that *argv* runs, wrappers and shells taken off."""
    words = unwrapped(argv)
    script = shell_script(words)
    if script is None or depth > DEEPEST:
        if words:
            yield words
        return
    try:
        tree = shell.parse(script.text)
    except Unreadable:
        yield words
        return
    for inner in shell.commands(tree):
        yield from _commands(inner, depth + 1)
