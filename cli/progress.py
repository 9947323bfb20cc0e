"""How far long work is: one line on the stderr of a terminal, gone when the work is done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memprove.cli.output import Output, draws

_CLEAR = "\r\x1b[K"


@contextmanager
def shown(what: str, output: Output) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to tell how many of how many were done; None where nobody would see it."""
    if not draws(sys.stderr):
        yield None
        return

    def tell(done: int, of: int) -> None:
        output.trace(f"{_CLEAR}{what} {done} of {of}")

    try:
        yield tell
    finally:
        output.trace(_CLEAR)
