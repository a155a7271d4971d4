"""Parties before a real ledger."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.ledgers.party_desk import Desk, party_desk


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    with party_desk(tmp_path, capsys) as made:
        yield made
