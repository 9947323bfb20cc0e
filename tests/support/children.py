"""A child of the test's own process, for what is to die in the middle."""

import os
from collections.abc import Callable


def exit_code_of(work: Callable[[], object]) -> int:
    """Do *work* in a child and return how it ended: 0, or 1 after any exception.

    It never comes back into the test: what it goes on to do there would end it some other way.
    """
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
