"""A chain, its snapshot and its chunks, and an application that takes them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.snapshots import partition
from contracts.ledger.cometbft.snapshots.offering import Offering
from contracts.proto.abci_pb2 import (
    Snapshot,
)
from support.ledgers.heights import FOUNDER, Heights, first_batches, heights, tx
from support.ledgers.nodes import intkey_batch
from support.ledgers.snapshots import (
    BLOCKS,
    POWERS,
    Taker,
    chunks_of,
    offering,
    taker,
)


@pytest.fixture(scope="module")
def founding() -> Founding:
    return Founding(first_batches())


@pytest.fixture(scope="module")
def given(founding: Founding, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heights]:
    """A chain of which each second height is empty, as with the real engine."""
    with heights(tmp_path_factory.mktemp("given") / "data") as made:
        made.begin_as(founding, POWERS)
        for number in range(BLOCKS):
            made.decide([tx(intkey_batch(FOUNDER, number))])
            made.decide([])
        yield made


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "CHUNK_BLOCKS", 3)


@pytest.fixture
def giver(given: Heights) -> Offering:
    return offering(given)


@pytest.fixture
def snapshot(giver: Offering) -> Snapshot:
    return giver.list_snapshots(None).snapshots[0]


@pytest.fixture
def chunks(giver: Offering, snapshot: Snapshot) -> list[bytes]:
    return chunks_of(giver, snapshot)


@pytest.fixture
def taking(founding: Founding, tmp_path: Path) -> Iterator[Taker]:
    with taker(tmp_path / "data", founding) as made:
        yield made
