"""A trace bounds the deliveries and trips that it lists, and says what it leaves out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.proto.payload_pb2 import OpenDelivery
from contracts.proto.state_pb2 import Delivery
from gateway.api.tracing import TraceSide, trace_side
from gateway.index.projection import LotRole, Row
from gateway.index.store import IndexStore
from gateway.records.lots import TRACE_DELIVERIES_MAX, TRACE_TRIPS_MAX, Lots
from gateway.records.tracing import Direction
from support.gateways.indexed_lots import Made, add_made, lot
from support.network.world import GTIN


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    store = IndexStore(tmp_path / "index.db")
    yield store
    store.close()


def deliver(index: IndexStore, name: str, delivery_ids: Sequence[str]) -> None:
    """Put a lot into deliveries, each signed by both sides."""
    terms = [OpenDelivery(delivery_id=delivery_id) for delivery_id in delivery_ids]
    named: list[Row] = [(GTIN, name, LotRole.DELIVERY, each, 0) for each in delivery_ids]
    entries: list[Row] = [
        (each.delivery_id, canonical(Delivery(terms=each, status=status)), 0)
        for status in (Delivery.OFFERED, Delivery.OPEN)
        for each in terms
    ]
    index.add({"lots": named * 2, "deliveries": entries})


def carry(index: IndexStore, delivery_id: str, trip_ids: Sequence[str]) -> None:
    rows: list[Row] = [(delivery_id, trip_id, 0) for trip_id in trip_ids]
    index.add({"trip_deliveries": rows})


def trace_of_milk(index: IndexStore) -> TraceSide:
    return trace_side(Lots(index).trace(lot("milk"), Direction.FORWARD, 10))


def test_a_delivery_signed_by_both_is_told_once_as_it_stands(index: IndexStore) -> None:
    add_made(index, [Made(["milk"], ["curd"])])
    deliver(index, "milk", ["D1", "D2"])
    deliver(index, "curd", ["D2"])
    side = trace_of_milk(index)
    assert [(each.lot, each.delivery_ids) for each in side.lots] == [
        ("milk", ["D1", "D2"]),
        ("curd", ["D2"]),
    ]
    assert [(each.delivery_id, each.status) for each in side.deliveries] == [
        ("D1", "open"),
        ("D2", "open"),
    ]
    assert side.complete


def test_too_many_deliveries_are_left_out_and_told(index: IndexStore) -> None:
    deliver(index, "milk", [f"D{at}" for at in range(TRACE_DELIVERIES_MAX)])
    assert trace_of_milk(index).complete
    deliver(index, "milk", ["one-more"])
    side = trace_of_milk(index)
    assert (side.complete, side.left_out) == (False, ["deliveries"])
    assert len(side.deliveries) == TRACE_DELIVERIES_MAX


def test_too_many_trips_are_left_out_and_told(index: IndexStore) -> None:
    deliver(index, "milk", ["D1", "D2"])
    carry(index, "D1", [f"T{at}" for at in range(TRACE_TRIPS_MAX - 1)])
    carry(index, "D2", ["a"])
    assert trace_of_milk(index).complete
    carry(index, "D2", ["b"])
    side = trace_of_milk(index)
    assert (side.complete, side.left_out) == (False, ["trips"])
    assert [len(each.trips) for each in side.deliveries] == [TRACE_TRIPS_MAX - 1, 1]
