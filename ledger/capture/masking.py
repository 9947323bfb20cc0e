"""Whether a failure reaches the exit code of a command: ``reason`` says why not.

It errs to one side: where it cannot see that a failure would get there, it says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memprove.ledger.capture import make_options, shell
from memprove.ledger.capture.shell_tokens import DEEPEST, Unreadable, substitutions, tokens
from memprove.ledger.capture.tools import kind_of, program, program_kind
from memprove.ledger.capture.wrappers import (
    SHELLS,
    Script,
    is_assignment,
    shell_script,
    unwrapped,
)


def reason(argv: Sequence[str]) -> str:
    """Return why the exit code of *argv* cannot be trusted; empty if it can."""
    return _mask(argv, depth=0)


HARMLESS = frozenset(
    (
        *("cd", "pushd", "popd", "export", "set", "unset", "umask", "ulimit"),
        *("shopt", "local", "declare", "readonly", "mkdir"),
        *("echo", "printf", ":", "true", "pwd", "sleep", "date", "cat", "yes"),
        *("type", "which", "test", "["),
    )
)
"""Commands that set up, show or ask something: that they fail is no news."""
ASKING = frozenset(
    (
        *("awk", "basename", "cut", "dirname", "find", "getconf", "git", "go", "grep", "head"),
        *("hostname", "id", "ls", "mktemp", "nproc", "readlink", "realpath", "sed", "seq", "sort"),
        *("sysctl", "tail", "tee", "tr", "uname", "uniq", "wc", "whoami"),
    )
)
"""More commands whose failure is no news where only their output is used."""
ALWAYS_ZERO = (
    *("--exit-zero", "--issues-exit-code=0"),  # ruff, flake8, pylint; golangci-lint
    *("--if-present", "--fail-never"),  # npm; mvn
)
ZERO_BY = {"mvn": "-fn", "ruff": "-[nqsvw]*e[a-z]*"}
"""The short forms of such options, by program."""

_PREFIXES = frozenset(("builtin", "command", "time", "noglob", "nocorrect"))
_LEAVING = frozenset(("exit", "return", "eval", "logout", "break", "continue", "suspend"))
_STEERING = frozenset(("set", "shopt", "eval"))
_UNSURE = frozenset(
    ("alias", "coproc", "disable", "emulate", "enable", "hash", "setopt", "trap", "unsetopt")
)
_RESERVED = shell.COMPOUND | frozenset(
    ("then", "elif", "else", "fi", "do", "done", "esac", "in", "!", "{", "}", "repeat", "foreach")
)
_SETTINGS = re.compile(
    r"(activate|env|nvm|profile|setup|setvars)(\.\w+)?|\.\w*(rc|env|profile)(\.\w+)?"
)
"""Files that a shell reads to set up an environment."""


def _mask(argv: Sequence[str], depth: int) -> str:
    words = unwrapped(argv)
    script = _script(words)
    for word in argv:
        if _steers(word) and not (script and script.text == word):
            return f"{word.partition('=')[0].lstrip('-')} may hide failures"
    wrappers = [program(word) for word in argv[: len(argv) - len(words)]]
    if "setsid" in wrappers and not {"-w", "--wait"} & set(wrappers):
        return "setsid may not wait"
    if script is not None:
        return _mask_of_script(script, depth)
    return _mask_of_program(words) if words else ""


def _script(words: Sequence[str]) -> Script | None:
    """Return the text for a shell, also behind a program that is no wrapper we know."""
    for at, word in enumerate(words):
        script = shell_script(words[at:]) if at == 0 or word != "eval" else None
        if script is not None:
            return script
    return None


def _steers(word: str) -> bool:
    """Return whether *word* may change what shells or ``make`` do below it."""
    name, equals, value = word.partition("=")
    if equals and name == "SHELL":  # which may be make's
        return program(value) not in SHELLS
    if (equals and name in ("SHELLOPTS", "BASHOPTS", "BASH_ENV")) or word in ("noexec", "onecmd"):
        return True
    return make_options.sets_flags(word)


def _mask_of_program(words: Sequence[str]) -> str:
    name = program(words[0])
    if name == "make" and make_options.goes_on(words):
        return "make goes on after errors"
    if "--dry-run" in words and program_kind(words) == "test":
        return "--dry-run runs no test"  # rspec and mocha report all tests as passed
    if name == "find" and {"-exec", "-execdir"} & set(words) and ";" in words:
        return "find passes over the failures of -exec … ;"
    if name == "script" and not any(re.fullmatch(r"-[a-z]*e[a-z]*|--return", w) for w in words):
        return "script without --return makes the exit code 0"
    ignoring = next((word for word in words if _makes_zero(name, word)), "")
    return f"{ignoring} makes the exit code 0" if ignoring else ""


def _makes_zero(name: str, word: str) -> bool:
    return word in ALWAYS_ZERO or re.fullmatch(ZERO_BY.get(name, "(?!)"), word) is not None


def _mask_of_script(script: Script, depth: int) -> str:
    if depth > DEEPEST:
        return "shells are nested too deeply to be followed"
    if script.stopped:
        return f"{script.shell} {script.stopped} does not run all of it"
    if depth and ("$" in script.text or "`" in script.text):
        return f"the text of {script.shell} is put together when it runs"
    try:
        tree = shell.parse(script.text)
        return _Judge(script, depth).sequence(tree) or _substituted(script)
    except Unreadable:
        return "the shell text cannot be followed"


def _substituted(script: Script) -> str:
    """Return whether the failure of a substituted command, or of ``&>``, is lost."""
    for token in tokens(script.text):
        if token.is_operator and token.text.startswith("&>"):
            if script.shell not in ("bash", "zsh"):  # the others read & and >
                return "a command in the background (&)"
        elif not all(map(_only_asks, substitutions(token.raw))):
            return "the failure of a command in a substitution is lost ($(…))"
    return ""


def _only_asks(text: str, depth: int = 0) -> bool:
    inner = (text for token in tokens(text) for text in substitutions(token.raw))
    if depth > DEEPEST or not all(_only_asks(text, depth + 1) for text in inner):
        return False
    commands = map(_plain, shell.commands(shell.parse(text)))
    return all(
        _is_harmless_word(words) or (words[0] in ASKING and kind_of(words) == "other")
        for words in commands
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """Find the first place in a shell text where a failure is lost.

    *unheard*: before ``&&`` or ``||`` the shell ignores errexit, also inside of groups.
    """

    script: Script
    depth: int
    unheard: bool = False

    def sequence(self, tree: shell.Sequence) -> str:
        for at, item in enumerate(tree.items):
            last = at == len(tree.items) - 1
            self._follow_options(item)
            if self.script.stopped:
                return f"set {self.script.stopped} keeps what follows from running"
            found = "" if _hands_on(tree.items[at:]) else self._lost_after(item, last)
            found = found or self._and_or(item, last)
            if found:
                return found
        return ""

    def _follow_options(self, item: shell.AndOr) -> None:
        """Follow a ``set`` that surely runs, here; after any other no option is sure."""
        first, *others = item.pipelines
        match first.commands:
            case (shell.Simple(words=("set", *options)),) if not item.in_background:
                self.script.set(options)
            case _:
                others = [first, *others]
        for words in map(_plain, _words(others)):
            if words[:1] == ("set",):
                self.script.set(words[1:])
            if words and (words[0] in _STEERING or _is_open(words[0])):
                self.script.forget()

    def _lost_after(self, item: shell.AndOr, last: bool) -> str:
        if all(map(_is_harmless, item.pipelines)):
            return ""
        if item.in_background:
            return "a command in the background (&)"
        if _leaves_on_failure(item):
            return ""
        checked = self.script.errexit and not self.unheard and _is_checked(item)
        return "" if last or checked else "a command whose failure is not looked at (;)"

    def _and_or(self, item: shell.AndOr, last: bool) -> str:
        for at, pipeline in enumerate(item.pipelines):
            ends = at == len(item.operators)
            caught = at > 0 and item.operators[at - 1] == "||"
            if caught and not _is_fit_to_catch(item.pipelines[:at], pipeline):
                return "a failure is caught (||)"
            handed_on = caught and _surely_fails(pipeline)
            if not (last and ends) and not handed_on and (word := _may_leave(pipeline)):
                return f"what follows {word} may not be run"
            found = replace(self, unheard=self.unheard or not ends)._pipeline(pipeline)
            if found:
                return found
        return ""

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
                first = next(iter(_plain(words)), "")
                if first in _RESERVED:
                    return f"the exit code depends on {first}"
                if first in _UNSURE:
                    return f"{first} may change what the exit code says"
                return _mask(words, self.depth + 1)
            case shell.Group(body=body):
                inner = replace(self, script=replace(self.script), depth=self.depth + 1)
                return inner.sequence(body)
            case shell.Unclear(word=word):
                return f"the exit code depends on {word}"


def _is_checked(item: shell.AndOr) -> bool:
    """Return whether errexit looks at *item* as a whole: not at what ``&&`` or braces hold."""
    return len(item.pipelines) == 1 and not any(
        isinstance(command, shell.Group) and not command.in_subshell
        for command in item.pipelines[0].commands
    )


def _words(pipelines: Sequence[shell.Pipeline]) -> list[tuple[str, ...]]:
    """Return the words of all commands in *pipelines*."""
    item = shell.AndOr(tuple(pipelines), (), in_background=False)
    return list(shell.commands(shell.Sequence((item,))))


def _plain(words: Sequence[str]) -> Sequence[str]:
    """Return a command without assignments, and without ``command`` or ``time`` before it."""
    while words and (is_assignment(words[0]) or words[0] in _PREFIXES):
        if words[0] == "command" and words[1:2] and words[1] in ("-v", "-V"):
            return words
        is_prefix, words = words[0] in _PREFIXES, words[1:]
        while is_prefix and words and words[0].startswith("-"):
            words = words[1:]
    return words


def _is_open(word: str) -> bool:
    """Return whether the shell may make another command of the *word* that begins one."""
    return any(letter in word for letter in "$`{*?[") and word not in ("[", "[[", "{")


def _may_leave(pipeline: shell.Pipeline) -> str:
    """Return the word by which *pipeline* may end the script, or skip what follows it."""
    for command in pipeline.commands:
        match command:
            case shell.Simple(words=words):
                plain = _plain(words)
                if plain and _is_leaving(plain):
                    return plain[0]
            case shell.Group(body=body, in_subshell=False):
                inner = (line for item in body.items for line in item.pipelines)
                if word := next(filter(None, map(_may_leave, inner)), ""):
                    return word
    return ""


def _is_leaving(words: Sequence[str]) -> bool:
    if words[0] in ("source", ".", "exec"):
        return not _is_harmless_word(words)
    return words[0] in _LEAVING or _is_open(words[0])


def _is_harmless(pipeline: shell.Pipeline) -> bool:
    return all(map(_is_harmless_command, pipeline.commands))


def _is_harmless_command(command: shell.Command) -> bool:
    match command:
        case shell.Simple(words=words):
            return _is_harmless_word(words)
        case shell.Group(body=body):
            return all(_is_harmless(line) for item in body.items for line in item.pipelines)
        case shell.Unclear():
            return False


def _is_harmless_word(words: Sequence[str]) -> bool:
    match list(_plain(words)):
        case [] | ["command", *_] | ["exec"]:
            return True
        case ["source" | ".", file, *_]:
            return _SETTINGS.fullmatch(file.rpartition("/")[2]) is not None
        case [first, *_]:
            return first in HARMLESS
        case _:
            return False


def _hands_on(items: Sequence[shell.AndOr]) -> bool:
    """Return whether the exit code of the first of *items* is what the last one exits with.

    That is ``…; exit $?``, or ``…; rc=$?; echo done; exit $rc`` with nothing that touches ``rc``.
    """
    if items[0].in_background or len(items) < 2:
        return False
    first, *others = (_one_command(item) for item in items[1:])
    if not others:
        return first in (("exit",), ("exit", "$?"))
    kept = re.fullmatch(r"([a-z][a-z0-9_]*)=\$\?", first[0]) if len(first) == 1 else None
    if kept is None or others[-1] not in (("exit", f"${kept[1]}"), ("exit", f"${{{kept[1]}}}")):
        return False
    read = re.compile(rf"\${kept[1]}\b|\$\{{{kept[1]}\}}")
    words = (word for words in others[:-1] for word in (words or (kept[1],)))
    return all(map(_is_harmless, [line for item in items[2:-1] for line in item.pipelines])) and (
        not any(re.search(rf"\b{kept[1]}\b", read.sub("", word)) for word in words)
    )


def _one_command(item: shell.AndOr) -> tuple[str, ...]:
    """Return the words of *item* if it is one plain command, else none."""
    match item:
        case shell.AndOr(
            pipelines=(shell.Pipeline(commands=(shell.Simple(words=words),), inverted=False),),
            in_background=False,
        ):
            return words
    return ()


def _is_fit_to_catch(before: Sequence[shell.Pipeline], after: shell.Pipeline) -> bool:
    """Return whether ``before || after`` hides no failure, and keeps nothing from being run."""
    return _surely_fails(after) or (all(map(_is_harmless, before)) and _is_harmless(after))


def _leaves_on_failure(item: shell.AndOr) -> bool:
    """Return whether *item* ends in ``|| exit 1``, so that what follows it need not look."""
    return item.operators[-1:] == ("||",) and _surely_fails(item.pipelines[-1], leaving=True)


def _surely_fails(pipeline: shell.Pipeline, *, leaving: bool = False) -> bool:
    """Return whether what follows ``||`` hands the failure on; *leaving*: and ends the script."""
    match pipeline:
        case shell.Pipeline(commands=(shell.Simple(words=words),), inverted=False):
            handed_on = _fails(words) or words in (("exit",), ("exit", "$?"))
            return handed_on and (words[0] == "exit" or not leaving)
        case shell.Pipeline(commands=(shell.Group() as group,), inverted=False) if group.body.items:
            *before, last = group.body.items
            words = _one_command(last)
            if any(_may_leave(line) for item in before for line in item.pipelines):
                return False
            return _fails(words) and (not leaving or (words[0] == "exit" and not group.in_subshell))
    return False


def _fails(words: tuple[str, ...]) -> bool:
    match words:
        case ("false",):
            return True
        case ("exit", code):
            return code.isascii() and code.isdecimal() and len(code) < 4 and int(code) % 256 != 0
        case _:
            return False
