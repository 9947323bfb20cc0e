"""The ``console`` blocks of a document: commands as typed, what they print, how they end.

A line that begins with ``$`` is a command, lines behind it that begin with ``>`` belong to it, and
the rest is its output. ``# exit 1`` at the end of a command is its exit code, if that is not 0.
Without any output shown, nothing is said about it. A line ``...`` stands for any lines.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
_COMMAND = re.compile(r"^\$ (.*\n(?:> ?.*\n)*)((?:(?!\$ ).*\n)*)", re.M)
_CODE = re.compile(r"\s+# exit (\d+)$")
_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
    (re.compile(r"\b\d+\.\d+ ?s\b"), "<duration>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b(?=[a-f]*[0-9])[0-9a-f]{7,64}\b"), "<hex>"),
    (re.compile(r"[ \t]+$", re.M), ""),
)
_ANY_LINES = "..."


@dataclass(frozen=True, slots=True)
class Typed:
    """One command of a document."""

    command: str
    code: int = 0
    output: str = ""


def read_console(page: str) -> Iterator[Typed]:
    """Yield what is typed in the blocks of *page*, in order."""
    for block in _BLOCK.findall(page):
        assert block.startswith("$ "), block
        for lines, output in _COMMAND.findall(block):
            command = re.sub(r"^> ?", "", lines, flags=re.M).rstrip("\n")
            code = _CODE.search(command)
            yield Typed(command, int(code[1]) if code else 0, output)


def run_typed(typed: Typed, folder: Path, env: Mapping[str, str]) -> None:
    """Run *typed* in *folder*; fail unless it ends and prints as it says.

    The home directory is printed as ``~``.
    """
    done = subprocess.run(
        ["sh", "-c", typed.command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    printed = done.stdout.decode().replace(env["HOME"], "~")
    assert done.returncode == typed.code, f"$ {typed.command}\n{printed}[exit {done.returncode}]"
    if typed.output:
        assert is_as_shown(printed, typed.output), f"$ {typed.command}\n{printed}"


def is_as_shown(printed: str, shown: str) -> bool:
    """Tell whether *printed* is what *shown* shows, but for times, durations, ids and digests."""
    lines = (
        r"(?:.*\n)*?" if line == _ANY_LINES else re.escape(line) + r"\n"
        for line in constant(shown).splitlines()
    )
    return re.fullmatch("".join(lines), constant(printed)) is not None


def constant(text: str) -> str:
    """Return *text* with a name in place of everything that differs from one time to the next."""
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text
