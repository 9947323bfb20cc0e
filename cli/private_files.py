"""Files for their owner's eyes: made before what goes into them, gone if that fails."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memprove.ledger.problems import ARGUMENT_INVALID, CONFIG_UNREADABLE, at_file

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def new_file(file: Path) -> Iterator[Callable[[str], None]]:
    """Make *file* (0600), which must not exist; give the function that writes it, durably."""
    with _made(file, file) as write:
        yield write


@contextmanager
def replacement(file: Path) -> Iterator[Callable[[str], None]]:
    """Do the same beside *file*, and put it in its place, whole, when it is written."""
    beside = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    with _made(beside, file) as write:
        yield write
        try:
            os.replace(beside, file)
        except OSError as error:
            raise at_file(error, file, CONFIG_UNREADABLE) from None


@contextmanager
def _made(file: Path, named: Path) -> Iterator[Callable[[str], None]]:
    try:
        descriptor = os.open(file, _FLAGS, 0o600)
    except FileExistsError:
        raise ARGUMENT_INVALID(f"{named} exists already; nothing was changed") from None
    except OSError as error:
        raise at_file(error, named, CONFIG_UNREADABLE) from None
    except ValueError as error:
        raise CONFIG_UNREADABLE(f"{named}: {error}") from None

    def write(text: str) -> None:
        try:
            os.write(descriptor, text.encode())
            os.fsync(descriptor)
        except OSError as error:
            raise at_file(error, named, CONFIG_UNREADABLE) from None

    try:
        yield write
    except BaseException:
        with suppress(OSError):
            file.unlink()
        raise
    finally:
        os.close(descriptor)
