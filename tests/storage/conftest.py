from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from support.stores import MemoryPlace, Place, SqlitePlace

from memprove.ledger.storage.interface import Store


@pytest.fixture(params=[MemoryPlace, SqlitePlace])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    kind: Callable[[Path], Place] = request.param
    return kind(tmp_path)


@pytest.fixture
def open_store(place: Place) -> Iterator[Callable[[], Store]]:
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(place.open()))


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()
