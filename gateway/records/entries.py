"""Single records by name: starts of trips, and the newest state entry of each kind."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.state_pb2 import Delivery, Lot, Transformation, Trip
from gateway.index.store import IndexStore
from gateway.records.tracing import LotId, asked_lots


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


def delivery_entries(index: IndexStore, delivery_ids: Iterable[str]) -> dict[str, Delivery]:
    """Return deliveries as they stand, in the order of their ids here; unknown ids are left out."""
    names = list(delivery_ids)
    rows = index.query(
        "SELECT delivery_id, entry FROM deliveries WHERE rowid IN (SELECT max(rowid)"
        " FROM deliveries WHERE delivery_id IN (SELECT value FROM json_each(?))"
        " GROUP BY delivery_id)",
        json.dumps(names),
    )
    found = dict(rows)
    return {name: Delivery.FromString(found[name]) for name in names if name in found}


def lot_entries(index: IndexStore, lots: Iterable[LotId]) -> dict[LotId, Lot]:
    """Return those of the lots that were made or used, as they stand."""
    rows = index.query(
        "SELECT gtin, lot, entry FROM lot_entries WHERE rowid IN (SELECT max(made.rowid)"
        " FROM json_each(?) AS asked CROSS JOIN lot_entries AS made"
        " WHERE made.gtin = asked.value ->> 0 AND made.lot = asked.value ->> 1"
        " GROUP BY made.gtin, made.lot)",
        asked_lots(lots),
    )
    return {LotId(gtin, lot): Lot.FromString(entry) for gtin, lot, entry in rows}


def transformation_records(
    index: IndexStore, transformation_ids: Iterable[str]
) -> list[TransformationRecord]:
    """Return transformations in the order of their ids here; unknown ids are left out."""
    rows = index.query(
        "SELECT entry, transaction_id FROM json_each(?) AS asked CROSS JOIN transformations"
        " WHERE transformation_id = asked.value ORDER BY asked.key",
        json.dumps(list(transformation_ids)),
    )
    return [TransformationRecord.from_row(*row) for row in rows]


def _newest(index: IndexStore, question: str, *values: str) -> bytes | None:
    rows = index.query(f"{question} ORDER BY rowid DESC LIMIT 1", *values)
    return rows[0][0] if rows else None
