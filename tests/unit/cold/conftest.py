"""What tests of cold files share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gateways.coldtrips import ColdTrips, cold_trips


@pytest.fixture
def made(tmp_path: Path) -> Iterator[ColdTrips]:
    with cold_trips(tmp_path) as found:
        yield found
