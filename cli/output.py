"""What goes to standard output and to standard error, as bytes and whatever the locale is.

Answers go to stdout as UTF-8. Notes and Problems go to stderr, one line each, behind ``memprove:``.
Text from elsewhere is escaped by who makes the line; what is not valid Unicode even then is written
as a question mark, never an error.
"""

import os
import select
import sys
import time
from typing import BinaryIO, TextIO

from memprove.cli import github
from memprove.ledger.problems import OUTPUT_UNWRITABLE


class Output:
    """Both streams of this process. *gone*: nobody reads stdout (any more)."""

    def __init__(self) -> None:
        self.gone = _binary(sys.stdout) is None

    def write(self, data: bytes) -> None:
        """Write *data* to stdout now. A reader who left is no failure, a full disk is a Problem."""
        stream = _binary(sys.stdout)
        if self.gone or stream is None:
            return
        try:
            stream.write(data)
            stream.flush()
        except BrokenPipeError:
            self.gone = True
            _let_go(stream)
        except OSError as error:
            _let_go(stream)
            raise OUTPUT_UNWRITABLE(error.strerror) from None

    def print(self, *lines: str) -> None:
        """Write *lines* to stdout."""
        told = github.defused(lines) if github.here() else lines
        self.write("".join(f"{line}\n" for line in told).encode("utf-8", "replace"))

    def finish(self) -> bool:
        """Write out what others left in stdout's buffer, or Python has the last word about it.

        Tell whether that could be done.
        """
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError:
            _let_go(sys.stdout.buffer)
            return False
        return True

    def wait(self, seconds: float) -> None:
        """Wait *seconds*, less if the reader of stdout leaves meanwhile."""
        stream = _binary(sys.stdout)
        if stream is None or not hasattr(select, "poll"):
            time.sleep(seconds)
            return
        poll = select.poll()
        poll.register(stream.fileno(), 0)  # no event: the end of the reader is told unasked
        self.gone = self.gone or bool(poll.poll(seconds * 1000))

    def say(self, *lines: str) -> None:
        """Write each of *lines* to stderr, behind our name."""
        told = github.defused(lines) if github.here() else lines
        self.trace("".join(f"memprove: {line}\n" for line in told))

    def trace(self, text: str) -> None:
        """Write *text* to stderr as it is; if nobody can read it, that is no failure."""
        stream = _binary(sys.stderr)
        if stream is None:
            return
        try:
            stream.write(text.encode("utf-8", "replace"))
            stream.flush()
        except OSError:
            _let_go(stream)


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a person is at *stream*."""
    return stream is not None and stream.isatty()


def draws(stream: TextIO | None) -> bool:
    """Tell whether *stream* is a terminal that takes more than plain lines."""
    return is_terminal(stream) and os.environ.get("TERM", "dumb") != "dumb"


def _binary(stream: TextIO | None) -> BinaryIO | None:
    """Return the bytes behind *stream*: None if it was closed before we started."""
    return getattr(stream, "buffer", None)


def _let_go(stream: BinaryIO) -> None:
    """Point *stream* nowhere: Python's last flush must not fail on what its buffer holds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
