"""What a test expects to be told."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from memprove.ledger.problems import Problem


@contextmanager
def problem(code: str, text: str = "") -> Iterator[None]:
    """Check that what is inside raises the Problem *code*, with *text* in what it says."""
    with pytest.raises(Problem) as caught:
        yield
    assert caught.value.code == code
    assert text in str(caught.value)
