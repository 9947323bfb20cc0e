"""Draw ``docs/pictures/*.svg``: what a terminal shows in the story of ``examples/demo.py``.

The commands really run, each in a terminal of its own. A picture holds times and hashes of that
moment, so it is drawn when the look of an answer changes, not at every ``make docs``.
"""

import os
import pty
import re
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "examples"))

import demo  # noqa: E402  (it is beside, in no package)

COLUMNS = 100


def main(arguments: list[str]) -> int:
    """Draw all pictures into the folder named, or into ``docs/pictures``."""
    folder = Path(arguments[0]) if arguments else DOCS / "pictures"
    with tempfile.TemporaryDirectory(prefix="memprove-pictures-") as home:
        stage = demo.set_stage(Path(home).resolve())
        for name, drawn in draw(stage).items():
            (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
    return 0


def draw(stage: demo.Stage) -> dict[str, str]:
    """Go through the story; return the pictures by their names."""
    demo.set_up(stage)
    demo.reproduce(stage)
    demo.mend(stage)
    demo.go_stale(stage)
    stale = picture(stage, "memprove resume", "memprove complete")
    demo.complete(stage)
    log = picture(stage, "memprove tasks", "memprove log --limit 8", "memprove verify --full")
    run = picture(
        stage,
        'memprove begin "Read line ends" --agent claude-code',
        "memprove run -- pytest -q",
        'memprove checkpoint --fact "the tests pass [r1]" --next "write one for line ends"',
    )
    return {"run": run, "stale": stale, "log": log}


def picture(stage: demo.Stage, *commands: str) -> str:
    """Return an SVG of a terminal in which *commands* were typed."""
    console = Console(record=True, file=StringIO(), width=COLUMNS, force_terminal=True)
    for command in commands:
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(typed(stage, command)))
    drawn = console.export_svg(title=stage.project.name, font_aspect_ratio=0.61)
    # The fonts would be fetched from elsewhere: the reader's own will do.
    return re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.S)


def typed(stage: demo.Stage, command: str) -> str:
    """Return what *command* shows on a terminal of its own."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(stage.project)
        env = {**stage.env, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
        os.execvpe("sh", ["sh", "-c", f"stty cols {COLUMNS} rows 50; {command}"], env)
    shown = b"".join(iter(lambda: _read(terminal), b""))
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode("utf-8").replace("\r\n", "\n").rstrip("\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the last one who held the other end has left
        return b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
