"""Remarks that wait for a reading."""

import pytest

from device.live.remarks import Remarks
from support.trucks.telling import at


@pytest.fixture
def remarks() -> Remarks:
    return Remarks(lambda: at(0))
