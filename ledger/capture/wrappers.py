"""Commands that run other commands: ``env``, ``timeout``, ``uv run``, ``python -m``, ``sh -c``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memprove.ledger.capture.tools import program

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash"))


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A program that runs another: its options that take a value, its operands before that one."""

    valued: frozenset[str] = frozenset()
    operands: int = 0


def _wrapper(valued: str = "", operands: int = 0) -> _Wrapper:
    return _Wrapper(frozenset(valued.split()), operands)


_UV_RUN = _wrapper(
    "--with --with-editable --with-requirements --extra --group --only-group --no-group --python -p"
    " --env-file --package --project --directory --index --default-index --cache-dir --config-file"
)
_NPX = _wrapper("-p --package -w --workspace --prefix")

WRAPPERS: dict[tuple[str, ...], _Wrapper] = {
    ("bundle", "exec"): _wrapper(),
    ("builtin",): _wrapper(),
    ("bunx",): _NPX,
    ("busybox",): _wrapper(),
    ("caffeinate",): _wrapper("-t -w"),
    ("command",): _wrapper(),
    ("coverage", "run"): _wrapper("--rcfile --source --data-file --include --omit --context"),
    ("env",): _wrapper("-u --unset -C --chdir"),
    ("exec",): _wrapper("-a"),
    ("hatch", "run"): _wrapper(),
    ("ionice",): _wrapper("-c -n"),
    ("memprove", "run"): _wrapper("--junit --kind --timeout --session -C --config-dir"),
    ("nice",): _wrapper("-n --adjustment"),
    ("nohup",): _wrapper(),
    ("npm", "exec"): _NPX,
    ("npx",): _NPX,
    ("pdm", "run"): _wrapper("-p"),
    ("pipenv", "run"): _wrapper(),
    ("pnpm", "dlx"): _NPX,
    ("pnpm", "exec"): _NPX,
    ("poetry", "run"): _wrapper("-C -P --directory --project"),
    ("rye", "run"): _wrapper(),
    ("setsid",): _wrapper(),
    ("stdbuf",): _wrapper("-i -o -e"),
    ("sudo",): _wrapper("-u -g -C -D -h -p"),
    ("time",): _wrapper("-f --format -o --output"),
    ("timeout",): _wrapper("-k --kill-after -s --signal", operands=1),
    ("uv", "run"): _UV_RUN,
    ("uv", "tool", "run"): _UV_RUN,
    ("uvx",): _wrapper("--from --with --python -p"),
    ("xvfb-run",): _wrapper("-e -f -n -p -s -w"),
    ("yarn", "dlx"): _NPX,
    ("yarn", "exec"): _NPX,
}

_PYTHON = _wrapper("-W -X")


def unwrapped(argv: Sequence[str]) -> list[str]:
    """Return the command in *argv* without ``NAME=value``, ``env``, ``uv run``, ``python -m``."""
    *_, words = stages(argv)
    return words


def stages(argv: Sequence[str]) -> Iterator[list[str]]:
    """Yield *argv*, then what is left of it as each wrapper is taken off."""
    words = list(argv)
    yield words
    while words:
        shorter = _without_wrapper(words)
        if shorter is None or len(shorter) >= len(words):
            return
        words = shorter
        yield words


def _without_wrapper(words: list[str]) -> list[str] | None:
    if is_assignment(words[0]):
        return words[1:]
    name = program(words[0])
    if name in ("python", "pypy"):
        rest, module = _after_options(words[1:], _PYTHON)
        return rest if module else None
    for length in (3, 2, 1):
        wrapper = WRAPPERS.get((name, *words[1:length])) if length <= len(words) else None
        if wrapper is not None:
            rest, _ = _after_options(words[length:], wrapper)
            return rest[wrapper.operands :]
    return None


def _after_options(words: list[str], wrapper: _Wrapper) -> tuple[list[str], bool]:
    """Return what follows the options, and whether an option ``-m`` introduced it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] in wrapper.valued:
            at += 2
            continue
        if words[at] in ("-m", "--module"):
            return words[at + 1 :], True
        if words[at] == "--":
            return words[at + 1 :], False
        at += 1
    return words[at:], False


def is_assignment(word: str) -> bool:
    """Return whether *word* sets a variable for the command that follows it."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").partition("[")[0].isidentifier()


@dataclass(slots=True)
class Script:
    """The text of a ``sh -c`` and the options that decide which failures end it.

    *shell*: its plain name; *stopped*: the option that keeps it from running anything.
    """

    text: str
    shell: str
    errexit: bool = False
    pipefail: bool = False
    stopped: str = ""

    def set(self, options: Sequence[str]) -> None:
        """Follow ``set`` with *options*, or the options of the shell itself.

        What cannot be told leaves nothing sure.
        """
        left = iter(options)
        for option in left:
            if _is_open(option):
                return self.forget()
            if option in ("-", "--") or option[:1] not in ("-", "+"):
                break  # the positional parameters
            letters = option[1:]
            if not (letters.isascii() and letters.isalpha()) or "o" in letters[:-1]:
                return self.forget()
            name = next(left, "") if _takes_a_name(option) else ""
            if letters[-1] == "o" and name and name not in _NAMES:
                return self.forget()
            self._switch(letters, name, on=option[0] == "-")
        return None

    def forget(self) -> None:
        """Trust no option: they may have been changed in a way that cannot be followed."""
        self.errexit = self.pipefail = False

    def _switch(self, letters: str, name: str, *, on: bool) -> None:
        if name == "pipefail":
            self.pipefail = on
        if name == "errexit" or "e" in letters:
            self.errexit = on
        stopping = set(letters) & _STOPPING
        if on and (stopping or name in ("noexec", "onecmd")):
            self.stopped = self.stopped or name or f"-{min(stopping)}"


_NAMES = frozenset(
    (
        *("allexport", "braceexpand", "errexit", "errtrace", "functrace", "hashall", "histexpand"),
        *("monitor", "noclobber", "noexec", "noglob", "nounset", "onecmd", "physical", "pipefail"),
        *("posix", "verbose", "xtrace"),
    )
)
_STOPPING = frozenset("Dnt")
"""Options of a shell that let it read without running, or run one command only."""
_LONG = {"--login": 1, "--norc": 1, "--noprofile": 1, "--posix": 1, "--verbose": 1} | {
    "--rcfile": 2,
    "--init-file": 2,
}
"""Long options of a shell that change nothing here, and how many words each is."""


def shell_script(words: Sequence[str]) -> Script | None:
    """Return the text that the command *words* gives to a shell to run, if it does."""
    if not words:
        return None
    shell = program(words[0])
    if words[0] == "eval":
        return Script(" ".join(words[1:]), shell)
    if shell not in SHELLS:
        return None
    options, stopped, at = list[str](), "", 1
    while at < len(words) and words[at][:1] in ("-", "+") and words[at] not in ("-", "--"):
        length = _LONG.get(words[at]) or (2 if _takes_a_name(words[at]) else 1)
        if words[at].startswith("--"):
            stopped = stopped or ("" if words[at] in _LONG else words[at])
        else:
            options += words[at : at + length]
        at += length
    if not any(option.startswith("-") and "c" in option for option in options):
        return None
    text = words[at:] if words[at : at + 1] not in (["-"], ["--"]) else words[at + 1 :]
    script = Script(text[0] if text else "", shell, stopped=stopped)
    script.set(options)
    return script


def _is_open(word: str) -> bool:
    """Return whether a shell may make another word, or several, of *word*."""
    return any(letter in word for letter in "$`*?[{~")


def _is_cluster(option: str) -> bool:
    return option[:1] in ("-", "+") and not option.startswith("--")


def _takes_a_name(option: str) -> bool:
    return _is_cluster(option) and option[-1] in "oO"
