"""Arguments are UTF-8 whatever the locale is, and go back to the system as they came."""

import os

from hypothesis import given as given_by
from hypothesis import strategies as st

from memprove.cli.words import given, text


@given_by(st.binary())
def test_any_argument_comes_back_as_it_was(data: bytes) -> None:
    word = os.fsdecode(data)
    assert given(text(word)) == word
