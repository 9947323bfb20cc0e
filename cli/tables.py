"""Lists of like things: a Rich table on a terminal, aligned plain text in a pipe.

Cells are escaped text already. They reach Rich as ``Text``, which reads no markup in them.
"""

import os
import sys
import unicodedata
from collections.abc import Sequence

from memprove.cli.output import Output, draws

_COLOURS = {
    "ok": "green",
    "passed": "green",
    "completed": "green",
    "accepted": "green",
    "fault": "red",
    "failed": "red",
    "revoked": "red",
    "in_progress": "cyan",
    "warning": "yellow",
    "blocked": "yellow",
    "proposed": "yellow",
}


def show(output: Output, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print *rows* under the headings *columns*."""
    if draws(sys.stdout):
        _show_rich(output, columns, rows)
    else:
        output.print(*_plain(columns, rows))


def _plain(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose columns are two spaces apart, the last one ragged."""
    table = [columns, *rows]
    widths = [max(_width(row[index]) for row in table) for index in range(len(columns) - 1)]
    return [
        "  ".join(
            [
                *(
                    cell + " " * (width - _width(cell))
                    for cell, width in zip(row, widths, strict=False)
                ),
                row[-1],
            ]
        ).rstrip()
        for row in table
    ]


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def _show_rich(output: Output, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from io import StringIO

    from rich.console import Console  # late: 50 ms, and only a terminal needs it
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
    drawn = StringIO()
    console = Console(
        file=drawn,
        force_terminal=True,
        no_color=bool(os.environ.get("NO_COLOR")),
        width=os.get_terminal_size(sys.stdout.fileno()).columns or 80,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(table)
    output.write(drawn.getvalue().encode("utf-8", "replace"))
