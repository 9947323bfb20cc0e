"""Where an export goes: a file that appears whole or not at all, or standard output."""

import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from memprove.cli.output import Output, is_terminal
from memprove.ledger.problems import ARGUMENT_INVALID, FILE_UNWRITABLE, Problem, at_file

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
STDOUT: Final = "-"


@contextmanager
def destination(path: str | None, output: Output) -> Iterator[Callable[[bytes], None]]:
    """Give the function that writes to *path*, to stdout if it is ``-`` or none.

    What a file of that name held is there until the new content is, whole and on disk. A terminal
    is refused: what others wrote could steer it.
    """
    if path in (None, STDOUT):
        if is_terminal(sys.stdout):
            raise ARGUMENT_INVALID("this is not for a terminal; name a file with -o, or use a pipe")
        yield output.write
        return
    try:
        file = Path(os.path.realpath(str(path)))
    except (OSError, ValueError) as error:
        raise _failure(Path(str(path)), error) from None
    with _replaced(file) as write:
        yield write


@contextmanager
def _replaced(file: Path) -> Iterator[Callable[[bytes], None]]:
    beside = file.with_name(f".{file.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        _check(file)
        descriptor = os.open(beside, _CREATE, 0o666)
    except (OSError, ValueError) as error:
        raise _failure(file, error) from None
    try:
        with os.fdopen(descriptor, "wb") as opened:

            def write(data: bytes) -> None:
                try:
                    opened.write(data)
                except OSError as error:
                    raise _failure(file, error) from None

            yield write
            try:
                opened.flush()
                os.fsync(descriptor)
                os.replace(beside, file)
            except OSError as error:
                raise _failure(file, error) from None
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _check(file: Path) -> None:
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise FILE_UNWRITABLE(f"{file} is no regular file")


def _failure(file: Path, error: OSError | ValueError) -> Problem:
    if isinstance(error, OSError):
        return at_file(error, file, FILE_UNWRITABLE)
    return FILE_UNWRITABLE(f"{file}: {error}")
