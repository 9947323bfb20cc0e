"""Pipes that can never be taken for a standard stream."""

import os


def pipe() -> tuple[int, int]:
    """Return the reading and the writing end of a new pipe, both above descriptor 2.

    Where we were started with a standard stream closed, the system would give its number to the
    next file; what is copied to our stdout would then end up in that.
    """
    reading, writing = os.pipe()
    return _above_the_standard_ones(reading), _above_the_standard_ones(writing)


def widen(descriptor: int, size: int) -> None:
    """Let a pipe hold *size* bytes where the system allows it: fewer, larger copies."""
    import fcntl  # late: not on Windows

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)
        except OSError:  # over the user's quota of pipe memory
            return


def _above_the_standard_ones(descriptor: int) -> int:
    import fcntl

    if descriptor > 2:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved
