"""How things stand on the ledger now: the newest entry that the index has of each."""

from contracts.proto.state_pb2 import Delivery, Lot, Transformation, Trip
from gateway.index.store import IndexStore


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


def transformation_entry(
    index: IndexStore, transformation_id: str
) -> tuple[Transformation, str] | None:
    """Return what was made from what, and the id of the transaction that says so."""
    rows = index.query(
        "SELECT entry, transaction_id FROM transformations WHERE transformation_id = ?",
        transformation_id,
    )
    return (Transformation.FromString(rows[0][0]), rows[0][1]) if rows else None


def _newest(index: IndexStore, question: str, *values: str) -> bytes | None:
    rows = index.query(f"{question} ORDER BY rowid DESC LIMIT 1", *values)
    return rows[0][0] if rows else None
