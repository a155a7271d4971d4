"""Evidence that would become too large is refused with advice, and is never cut silently."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import address
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Lot, OpenDelivery
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.proto.state_pb2 import Delivery
from gateway.index.schema import SORT_IN_BLOCKS
from gateway.index.store import IndexStore
from gateway.records.registry import NotOnLedgerError
from gateway.records.subjects import TRANSFORMATIONS_MAX, Gathering
from support.gateways.indexed_lots import Made, add_made
from support.network.world import GTIN, Trip

TRIP = Trip()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    store = IndexStore(tmp_path / "index.db")
    terms = OpenDelivery(delivery_id="delivery-1", lots=[Lot(gtin=GTIN, lot="L0")])
    store.add(
        {
            "trips": [(TRIP.trip_id, "truck-1", canonical(TRIP.start), "transaction", 0, 0)],
            "deliveries": [("delivery-1", canonical(Delivery(terms=terms)), 0)],
            "batches": [
                (f"trip {TRIP.trip_id}", "batch", "key", 1, 0),
                ("transformation T0", "making", "key", 0, 7),
            ],
        }
    )
    yield store
    store.close()


def about(index: IndexStore, *, with_lots: bool) -> dict[tuple[int, int], str]:
    return Gathering(index, [TRIP.trip_id], with_lots=with_lots, up_to=1 << 20).places


def test_what_led_to_the_lots_comes_along_unless_told_not_to(index: IndexStore) -> None:
    add_made(index, [Made(["L1"], ["L0"])])
    assert about(index, with_lots=True) == {(0, 7): "making", (1, 0): "batch"}
    assert about(index, with_lots=False) == {(1, 0): "batch"}


def test_too_many_sources_are_refused_with_the_way_out(index: IndexStore) -> None:
    add_made(index, [Made([f"L{at + 1}"], [f"L{at}"]) for at in range(TRANSFORMATIONS_MAX + 1)])
    with pytest.raises(RejectedError, match="lots=false"):
        about(index, with_lots=True)
    assert about(index, with_lots=False) == {(1, 0): "batch"}


@pytest.mark.parametrize("number", [SORT_IN_BLOCKS, SORT_IN_BLOCKS + 1])
def test_what_a_trip_depends_on_comes_along_sorted_in_or_not(
    index: IndexStore, number: int
) -> None:
    header = canonical(BlockHeader(block_num=number, batch_ids=["needed"]))
    index.add(
        {
            "blocks": [(number, "block", header)],
            "new_transactions": [(5, number, 0)],
            "dependencies": [(0, 5, 1)],
        }
    )
    waiting = index.query("SELECT COUNT(*) FROM new_transactions")
    assert waiting == [(0 if number == SORT_IN_BLOCKS else 1,)]
    assert about(index, with_lots=False) == {(1, 0): "batch", (number, 0): "needed"}


def test_a_trip_that_is_not_there_is_named(index: IndexStore) -> None:
    with pytest.raises(NotOnLedgerError, match="'none'"):
        Gathering(index, ["none"], with_lots=True, up_to=0)


@pytest.mark.parametrize("changed", [(), ("delivery-1",)], ids=["nothing", "the delivery"])
def test_another_trip_is_told_whole_if_it_changed_the_delivery(
    index: IndexStore, changed: tuple[str, ...]
) -> None:
    header = canonical(BlockHeader(batch_ids=["start", "reading"]))
    writes = [(address.delivery(each), 2, 1) for each in changed]
    index.add(
        {
            "blocks": [(2, "block", header)],
            "writes": list(writes),
            "batches": [
                ("delivery delivery-1", "start", "key", 2, 0),
                ("trip other", "start", "key", 2, 0),
                ("trip other", "reading", "key", 2, 1),
                ("trip other", "seal", "key", 3, 0),
            ],
        }
    )
    whole = {(2, 1): "reading", (3, 0): "seal"} if changed else {}
    assert about(index, with_lots=False) == {(1, 0): "batch", (2, 0): "start", **whole}


def test_nothing_after_the_last_block_is_gathered(index: IndexStore) -> None:
    assert Gathering(index, [TRIP.trip_id], with_lots=False, up_to=0).places == {}
