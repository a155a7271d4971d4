"""A store of recordings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.storage.house import House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()
