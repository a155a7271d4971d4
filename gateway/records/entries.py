"""Single records by name: starts of trips, and the newest state entry of each kind."""

from dataclasses import dataclass
from typing import Self

from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.state_pb2 import Delivery, Lot, Transformation, Trip
from gateway.index.store import IndexStore


@dataclass(frozen=True, slots=True)
class TransformationRecord:
    """Lots made from lots, and the transaction that says so."""

    entry: Transformation
    transaction_id: str

    @classmethod
    def from_row(cls, wire: bytes, transaction_id: str) -> Self:
        """Build it from the columns `entry, transaction_id`."""
        return cls(Transformation.FromString(wire), transaction_id)


def delivery_entry(index: IndexStore, delivery_id: str) -> Delivery | None:
    """Return a delivery as it stands."""
    wire = _newest(index, "SELECT entry FROM deliveries WHERE delivery_id = ?", delivery_id)
    return None if wire is None else Delivery.FromString(wire)


def lot_entry(index: IndexStore, gtin: str, lot: str) -> Lot | None:
    """Return a lot that was made or used, as it stands."""
    wire = _newest(index, "SELECT entry FROM lot_entries WHERE gtin = ? AND lot = ?", gtin, lot)
    return None if wire is None else Lot.FromString(wire)


def trip_entry(index: IndexStore, trip_id: str) -> Trip | None:
    """Return a trip as it stands."""
    wire = _newest(index, "SELECT entry FROM trip_entries WHERE trip_id = ?", trip_id)
    return None if wire is None else Trip.FromString(wire)


def trip_start(index: IndexStore, trip_id: str) -> StartTrip | None:
    """Return a trip as its device started it."""
    rows = index.query("SELECT start FROM trips WHERE trip_id = ?", trip_id)
    return StartTrip.FromString(rows[0][0]) if rows else None


def transformation_record(index: IndexStore, transformation_id: str) -> TransformationRecord | None:
    """Return a transformation."""
    rows = index.query(
        "SELECT entry, transaction_id FROM transformations WHERE transformation_id = ?",
        transformation_id,
    )
    return TransformationRecord.from_row(*rows[0]) if rows else None


def _newest(index: IndexStore, question: str, *values: str) -> bytes | None:
    rows = index.query(f"{question} ORDER BY rowid DESC LIMIT 1", *values)
    return rows[0][0] if rows else None
