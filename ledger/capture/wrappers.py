"""Commands that run other commands: ``env``, ``timeout``, ``uv run``, ``python -m``, ``sh -c``."""

from collections.abc import Sequence
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
    ("bunx",): _NPX,
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
    words = list(argv)
    while words:
        shorter = _without_wrapper(words)
        if shorter is None or len(shorter) >= len(words):
            return words
        words = shorter
    return words


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
    return bool(equals) and name.isidentifier()


@dataclass(slots=True)
class Script:
    """The text of a ``sh -c`` and the options that decide which failures end it."""

    text: str
    errexit: bool = False
    pipefail: bool = False

    def set(self, options: Sequence[str]) -> None:
        """Follow ``set`` with *options*, or the options of the shell itself."""
        left = iter(options)
        for option in left:
            on = option.startswith("-")
            name = next(left, "") if _takes_a_name(option) else ""
            if name == "pipefail":
                self.pipefail = on
            if name == "errexit" or (_is_cluster(option) and "e" in option):
                self.errexit = on


def shell_script(words: Sequence[str]) -> Script | None:
    """Return the text that the command *words* gives to a shell to run, if it does."""
    if not words:
        return None
    if words[0] == "eval":
        return Script(" ".join(words[1:]))
    if program(words[0]) not in SHELLS:
        return None
    at = 1
    while at < len(words) and words[at][:1] in ("-", "+") and words[at] != "--":
        at += 2 if _takes_a_name(words[at]) or words[at] in ("--rcfile", "--init-file") else 1
    options = words[1:at]
    if not any(_is_cluster(option) and "c" in option for option in options):
        return None
    text = words[at:] if words[at : at + 1] != ["--"] else words[at + 1 :]
    script = Script(text[0] if text else "")
    script.set(options)
    return script


def _is_cluster(option: str) -> bool:
    return option[:1] in ("-", "+") and not option.startswith("--")


def _takes_a_name(option: str) -> bool:
    return _is_cluster(option) and option[-1] in "oO"
