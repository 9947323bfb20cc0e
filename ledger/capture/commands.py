"""What can be told from a command alone: its kind, and whether its exit code can be trusted.

``mask`` errs to one side: where it cannot see that a failure would reach the exit code, it says so.
What it cannot look into (a script, a makefile, a program's own configuration) it takes at its word.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memprove.ledger.capture import shell
from memprove.ledger.capture.tools import Kind, builds, kind_of, program, strongest
from memprove.ledger.capture.wrappers import Script, is_assignment, shell_script, unwrapped


def classify(argv: Sequence[str], *, counted: bool = True) -> Kind:
    """Return the kind of the command *argv*.

    Kind ``test`` needs test counts: with *counted* false a test command is what it is without them,
    ``build`` if it builds what it tests, else ``other``.
    """
    return strongest(_kind(words, counted) for words in _commands(argv))


def mask(argv: Sequence[str]) -> str:
    """Return why the exit code of *argv* cannot be trusted; empty if it can."""
    return _mask(argv, depth=0)


def _kind(words: Sequence[str], counted: bool) -> Kind:
    kind = kind_of(words)
    if kind != "test" or counted:
        return kind
    return "build" if builds(words) else "other"


def _commands(argv: Sequence[str], depth: int = 0) -> Iterator[list[str]]:
    """Yield the plain commands that *argv* runs, wrappers and shells taken off."""
    words = unwrapped(argv)
    script = shell_script(words)
    if script is None or depth > shell.DEEPEST:
        if words:
            yield words
        return
    try:
        for inner in shell.commands(shell.parse(script.text)):
            yield from _commands(inner, depth + 1)
    except shell.Unreadable:
        return


HARMLESS = frozenset(
    (
        *("cd", "pushd", "popd", "export", "set", "unset", "source", ".", "umask", "ulimit"),
        *("alias", "shopt", "local", "declare", "readonly", "hash", "mkdir"),
        *("echo", "printf", ":", "true", "pwd", "sleep", "date", "cat", "yes"),
        *("type", "command", "which", "test", "["),
    )
)
"""Commands that set up, show or ask something: that they fail is no news."""


def _mask(argv: Sequence[str], depth: int) -> str:
    words = unwrapped(argv)
    if not words:
        return ""
    script = shell_script(words)
    if script is not None:
        return _mask_of_script(script, depth)
    if program(words[0]) == "make" and _make_ignores_errors(words):
        return "make goes on after errors"
    if "--dry-run" in words and kind_of(words) == "test":
        return "--dry-run runs no test"  # rspec and mocha report all tests as passed
    ignoring = next((word for word in words if word in ALWAYS_ZERO), "")
    return f"{ignoring} makes the exit code 0" if ignoring else ""


ALWAYS_ZERO = ("--exit-zero", "--issues-exit-code=0")  # ruff, flake8, pylint; golangci-lint


def _make_ignores_errors(words: Sequence[str]) -> bool:
    is_value = False
    for word in words[1:]:
        letters = word[1:] if word.startswith("-") and not word.startswith("--") else ""
        flags = re.split("[CfIoWEO]", letters)[0]  # the rest is the value of that letter
        if not is_value and ("i" in flags or "k" in flags or word in GOING_ON):
            return True
        is_value = not is_value and letters[len(flags) :] in tuple("CfIoWE")
    return False


GOING_ON = ("--ignore-errors", "--keep-going")


def _mask_of_script(script: Script, depth: int) -> str:
    if depth > shell.DEEPEST:
        return "shells are nested too deeply to be followed"
    try:
        return _Judge(script, depth).sequence(shell.parse(script.text))
    except shell.Unreadable:
        return "the shell text cannot be followed"


@dataclass(frozen=True, slots=True)
class _Judge:
    """Find the first place in a shell text where a failure is lost."""

    script: Script
    depth: int

    def sequence(self, tree: shell.Sequence) -> str:
        for at, item in enumerate(tree.items):
            last = at == len(tree.items) - 1
            self._follow_set(item)
            reason = self._lost_after(item, last) or self._and_or(item)
            if reason:
                return reason
        return ""

    def _follow_set(self, item: shell.AndOr) -> None:
        for pipeline in item.pipelines:
            for command in pipeline.commands:
                if isinstance(command, shell.Simple) and command.words[:1] == ("set",):
                    self.script.set(command.words[1:])

    def _lost_after(self, item: shell.AndOr, last: bool) -> str:
        if all(map(_is_harmless, item.pipelines)) or _leaves_on_failure(item):
            return ""
        if item.in_background:
            return "a command in the background (&)"
        checked = self.script.errexit and len(item.pipelines) == 1
        return "" if last or checked else "a command whose failure is not looked at (;)"

    def _and_or(self, item: shell.AndOr) -> str:
        for at, operator in enumerate(item.operators):
            before, after = item.pipelines[: at + 1], item.pipelines[at + 1]
            if operator == "||" and not (all(map(_is_harmless, before)) or _surely_fails(after)):
                return "a failure is caught (||)"
        return next(filter(None, map(self._pipeline, item.pipelines)), "")

    def _pipeline(self, pipeline: shell.Pipeline) -> str:
        if pipeline.inverted:
            return "the exit code is turned around (!)"
        hidden = pipeline.commands[:-1]
        if not self.script.pipefail and not all(map(_is_harmless_command, hidden)):
            return "a pipe without pipefail"
        return next(filter(None, map(self._command, pipeline.commands)), "")

    def _command(self, command: shell.Command) -> str:
        match command:
            case shell.Simple(words=words):
                return _mask(words, self.depth + 1)
            case shell.Group(body=body):
                return _Judge(replace(self.script), self.depth + 1).sequence(body)
            case shell.Unclear(word=word):
                return f"the exit code depends on {word}"


def _is_harmless(pipeline: shell.Pipeline) -> bool:
    return all(map(_is_harmless_command, pipeline.commands))


def _is_harmless_command(command: shell.Command) -> bool:
    match command:
        case shell.Simple(words=words):
            plain = [word for word in words if not is_assignment(word)]
            if plain:
                return plain[0] in HARMLESS
            return not any("$(" in word or "`" in word for word in words)
        case shell.Group(body=body):
            return all(_is_harmless(line) for item in body.items for line in item.pipelines)
        case shell.Unclear():
            return False


def _leaves_on_failure(item: shell.AndOr) -> bool:
    """Return whether *item* ends in ``|| exit 1``, so that what follows it need not look."""
    return item.operators[-1:] == ("||",) and _surely_fails(item.pipelines[-1], leaving=True)


def _surely_fails(pipeline: shell.Pipeline, *, leaving: bool = False) -> bool:
    """Return whether what follows ``||`` hands the failure on; *leaving*: and ends the script."""
    match pipeline:
        case shell.Pipeline(commands=(shell.Simple(words=words),), inverted=False):
            handed_on = _fails(words) or words in (("exit",), ("exit", "$?"))
            return handed_on and (words[0] == "exit" or not leaving)
        case shell.Pipeline(commands=(shell.Group() as group,), inverted=False):
            last = group.body.items[-1] if group.body.items else None
            if last is None or last.operators or last.in_background:
                return False
            match last.pipelines[0]:
                case shell.Pipeline(commands=(shell.Simple(words=words),), inverted=False):
                    leaves = words[0] == "exit" and not group.in_subshell
                    return _fails(words) and (leaves or not leaving)
    return False


def _fails(words: tuple[str, ...]) -> bool:
    match words:
        case ("false",):
            return True
        case ("exit", code):
            return code.isdecimal() and len(code) < 4 and int(code) % 256 != 0
        case _:
            return False
