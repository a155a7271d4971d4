"""What a reader with grants may see: an index that answers as if nothing else were on the ledger.

Each question is asked of tables that hold the rows of granted things alone, so no route can forget
to look whether the reader may see its answer. Parties and sites are no secret within a network.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from contracts.rules.custody import parties_of
from gateway.grants import GrantKind, Grants
from gateway.index.schema import LEVELS
from gateway.index.store import Head, IndexStore
from gateway.records.entries import delivery_entries
from gateway.records.tracing import Direction, LotId, walk

READERS_KEPT: Final = 64
"""Grants whose sight is remembered until the next block."""
TRACED_MAX: Final = 10_000
"""Transformations, and about as many lots, each way, that the grant of a lot reaches."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The ids of everything that grants let a reader see."""

    trips: frozenset[str]
    deliveries: frozenset[str]
    lots: frozenset[LotId]
    transformations: frozenset[str]
    units: frozenset[str]
    devices: frozenset[str]


def sight_of(index: IndexStore, grants: Grants) -> Sight:
    """Return what grants let a reader see by now.

    A party sees its deliveries with their trips, the trips of its devices, and its transformations.
    A granted delivery or trip brings the other, and the lots on it; a granted lot brings its trace
    both ways, with the deliveries and the trips of all lots on it.
    """
    named = {kind: {each.name for each in grants if each.kind is kind} for kind in GrantKind}
    parties, trips = named[GrantKind.PARTY], set(named[GrantKind.TRIP])
    granted = sorted(LotId(*each.lot) for each in grants if each.kind is GrantKind.LOT)
    lots: set[LotId] = set()
    made = _transformations_of(index, parties)
    for way in Direction:
        found = walk(index, granted, way, TRACED_MAX)
        made |= set(found.transformations)
        lots |= set(found.steps)
    deliveries = set(named[GrantKind.DELIVERY]) | _deliveries_of(index, parties)
    deliveries |= _column(index, "SELECT delivery_id FROM trip_deliveries", "trip_id", trips)
    for lot in lots:
        rows = index.query(
            "SELECT id FROM lots WHERE gtin = ? AND lot = ? AND role = 'delivery'", *lot
        )
        deliveries |= {name for (name,) in rows}
    trips |= _column(index, "SELECT trip_id FROM trip_deliveries", "delivery_id", deliveries)
    devices = _column(index, "SELECT device_id FROM devices", "party_id", parties)
    trips |= _column(index, "SELECT trip_id FROM trip_devices", "device_id", devices)
    devices |= _column(index, "SELECT device_id FROM trip_devices", "trip_id", trips)
    for ids in (deliveries, made):
        rows = index.query(
            "SELECT gtin, lot FROM lots WHERE id IN (SELECT value FROM json_each(?))", _json(ids)
        )
        lots |= {LotId(*row) for row in rows}
    return Sight(
        frozenset(trips),
        frozenset(deliveries),
        frozenset(lots),
        frozenset(made),
        _units_of(index, deliveries),
        frozenset(devices),
    )


def _deliveries_of(index: IndexStore, parties: Collection[str]) -> set[str]:
    """Return the deliveries whose terms, as they stand, name one of the parties."""
    may = _column(index, "SELECT delivery_id FROM delivery_parties", "party_id", parties)
    return {
        terms.delivery_id
        for terms in (entry.terms for entry in delivery_entries(index, may).values())
        if not set(parties).isdisjoint({*parties_of(terms), terms.authority_id})
    }


def _units_of(index: IndexStore, deliveries: Collection[str]) -> frozenset[str]:
    entries = delivery_entries(index, deliveries).values()
    return frozenset(sscc for entry in entries for sscc in entry.terms.units)


def _transformations_of(index: IndexStore, parties: Collection[str]) -> set[str]:
    sql = "SELECT transformation_id FROM transformation_parties"
    return _column(index, sql, "party_id", parties)


def _column(index: IndexStore, sql: str, column: str, names: Collection[str]) -> set[str]:
    if not names:
        return set()
    asked = f"{sql} WHERE {column} IN (SELECT value FROM json_each(?))"  # noqa: S608
    return {name for (name,) in index.query(asked, _json(names))}


def _json(names: Iterable[str]) -> str:
    return json.dumps(sorted(names))


_GRANTED: Final = "trip_id IN (SELECT id FROM may_trip)"
_GRANTED_READINGS: Final = f"readings AS (SELECT * FROM all_readings WHERE {_GRANTED})"  # noqa: S608


class GrantedIndex(IndexStore):
    """The index as a reader with grants may see it; for questions alone.

    Args:
        index: The whole index.
        grants: What the reader may see.
    """

    def __init__(self, index: IndexStore, grants: Grants) -> None:  # it opens no file of its own
        self._whole = index
        self._grants = grants

    def head(self) -> Head | None:
        """See `IndexStore.head`."""
        return self._whole.head()

    def block_id(self, block_num: int) -> str | None:
        """See `IndexStore.block_id`."""
        return self._whole.block_id(block_num)

    def require(self) -> None:
        """See `IndexStore.require`."""
        self._whole.require()

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """See `IndexStore.query`; rows of what was not granted are not there."""
        return self._whole.query(f"WITH {_SHADOWS.of(self._whole, self._grants)} {sql}", *values)

    def of_trip(
        self, trip_id: str, sql: str, *values: object, tables: str = _GRANTED_READINGS
    ) -> list[tuple[Any, ...]]:
        """See `IndexStore.of_trip`; a trip that was not granted has no readings."""
        shadows = f"{_SHADOWS.of(self._whole, self._grants)}, {tables}"
        return self._whole.of_trip(trip_id, sql, *values, tables=shadows)


class _Shadows:
    """The tables that hold what grants let see, as common table expressions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str, Grants], str] = OrderedDict()

    def of(self, index: IndexStore, grants: Grants) -> str:
        head = index.head()
        key = (id(index), head.block_id if head else "", grants)
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            found = _shadowed(sight_of(index, grants))
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > READERS_KEPT:
                    self._kept.popitem(last=False)
        return found


_SHADOWS: Final = _Shadows()
_BY_TRIP: Final = (
    "trips",
    "trip_devices",
    "trip_entries",
    "trip_sites",
    "trip_areas",
    "holds",
    "warm_readings",
    "cold_read",
    "signs",
    "seals",
    "chains",
    "videos",
    "tampers",
    "remarks",
    "findings",
)
_BY_DELIVERY: Final = ("deliveries", "handover_entries", "orders", "delivery_parties")
_BY_BOTH: Final = ("trip_deliveries", "handovers", "breaches")
_UNSEEN: Final = (
    "batches",
    "writes",
    "dependencies",
    *LEVELS,
    "kept_readings",
    "names",
    "boots",
    "positions",
    "block_times",
    "cold_home",
    "cold_trips",
    "cold_devices",
    "cold_signs",
)
_NO_ROWID: Final = (*_UNSEEN, "warm_readings", "cold_read", "signs")


def _shadowed(sight: Sight) -> str:
    """Return common table expressions, without their WITH, that shadow the tables."""
    trip, delivery = _GRANTED, "delivery_id IN may_delivery"
    lot = "(gtin, lot) IN (SELECT gtin, lot FROM may_lot)"
    where = {
        **dict.fromkeys(_BY_TRIP, trip),
        **dict.fromkeys(_BY_DELIVERY, delivery),
        **dict.fromkeys(_BY_BOTH, f"{trip} AND {delivery}"),
        **dict.fromkeys(_UNSEEN, "FALSE"),
        "lots": f"{lot} AND (role = 'status' OR (role = 'delivery' AND id IN may_delivery)"
        " OR (role IN ('input', 'output') AND id IN may_transformation))",
        "lot_entries": lot,
        "transformations": "transformation_id IN may_transformation",
        "transformation_parties": "transformation_id IN may_transformation",
        "units": "sscc IN may_unit",
        "devices": "device_id IN may_device",
    }
    sets = {
        "may_trip": sight.trips,
        "may_delivery": sight.deliveries,
        "may_transformation": sight.transformations,
        "may_unit": sight.units,
        "may_device": sight.devices,
    }
    parts = [
        f"{name}(id) AS MATERIALIZED (SELECT value FROM json_each({_literal(_json(ids))}))"  # noqa: S608
        for name, ids in sets.items()
    ]
    lots = _literal(json.dumps(sorted(sight.lots)))
    pairs = f"SELECT value ->> 0, value ->> 1 FROM json_each({lots})"  # noqa: S608
    parts.append(f"may_lot(gtin, lot) AS MATERIALIZED ({pairs})")
    parts += [
        f"{table} AS (SELECT {'*' if table in _NO_ROWID else 'rowid AS rowid, *'}"  # noqa: S608
        f" FROM main.{table} WHERE {condition})"
        for table, condition in where.items()
    ]
    return ", ".join(parts)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
