"""A walk from a lot with what an auditor asks about each lot: its deliveries, trips, breaches."""

from typing import Final, Literal

from contracts.proto.state_pb2 import Delivery
from contracts.rules.deliveries import status_name
from gateway.api import models, tracingmodels, views
from gateway.index.entries import delivery_entry, lot_entry, transformation_entry
from gateway.index.store import IndexStore
from gateway.index.tracing import Direction, LotId, walk

TRACE_DELIVERIES_MAX: Final = 2000
"""Deliveries of all lots of one direction together; one delivery counts once for each lot."""
TRACE_TRIPS_MAX: Final = 2000
"""Trips of all those deliveries together."""
_LeftOut = Literal["transformations", "deliveries", "trips"]


def trace_side(
    index: IndexStore, start: LotId, direction: Direction, limit: int
) -> tracingmodels.TraceSide:
    """Return everything that a lot came from, or that it reached, within the limits."""
    walked = walk(index, [start], direction, limit)
    deliveries = _Some(index, _DELIVERIES, TRACE_DELIVERIES_MAX)
    trips = _Some(index, _TRIPS, TRACE_TRIPS_MAX)
    lots = [_lot(index, lot, steps, deliveries.of(*lot)) for lot, steps in walked.steps.items()]
    names = dict.fromkeys(name for lot in lots for name in lot.delivery_ids)
    told = [
        _delivery(index, entry, trips.of(name))
        for name in names
        if (entry := delivery_entry(index, name)) is not None
    ]
    marks: dict[_LeftOut, bool] = {
        "transformations": bool(walked.cut_at),
        "deliveries": deliveries.cut,
        "trips": trips.cut,
    }
    return tracingmodels.TraceSide(
        lots=lots,
        transformations=[
            views.transformation(*found)
            for name in walked.transformations
            if (found := transformation_entry(index, name)) is not None
        ],
        deliveries=told,
        complete=not any(marks.values()),
        cut_at=[models.Lot(gtin=lot.gtin, lot=lot.lot) for lot in walked.cut_at],
        left_out=[name for name, left_out in marks.items() if left_out],
    )


_DELIVERIES: Final = (
    "SELECT DISTINCT id FROM lots WHERE gtin = ? AND lot = ? AND role = 'delivery' LIMIT ?"
)
_TRIPS: Final = "SELECT DISTINCT trip_id FROM trip_deliveries WHERE delivery_id = ? LIMIT ?"


class _Some:
    """Answers to one question, asked again and again, up to so many in all.

    Attributes:
        cut: There were more.
    """

    def __init__(self, index: IndexStore, sql: str, limit: int) -> None:
        self._index = index
        self._sql = sql
        self._left = limit
        self.cut = False

    def of(self, *values: str) -> list[str]:
        """Return what there is for `values`, as far as it goes."""
        found = [name for (name,) in self._index.query(self._sql, *values, self._left + 1)]
        self.cut |= len(found) > self._left
        del found[self._left :]
        self._left -= len(found)
        return found


def _lot(
    index: IndexStore, lot: LotId, steps: int, delivery_ids: list[str]
) -> tracingmodels.TracedLot:
    entry = lot_entry(index, *lot)
    return tracingmodels.TracedLot(
        gtin=lot.gtin,
        lot=lot.lot,
        steps=steps,
        party_id=entry.party_id or None if entry else None,
        unit=entry.unit if entry else None,
        made=entry.made if entry else None,
        used=entry.used if entry else None,
        delivery_ids=delivery_ids,
    )


def _delivery(
    index: IndexStore, entry: Delivery, trip_ids: list[str]
) -> tracingmodels.TracedDelivery:
    delivery_id = entry.terms.delivery_id
    return tracingmodels.TracedDelivery(
        delivery_id=delivery_id,
        status=status_name(entry.status),
        breaches=entry.breaches,
        tampers=entry.tampers,
        trips=[_trip(index, delivery_id, trip_id) for trip_id in trip_ids],
    )


def _trip(index: IndexStore, delivery_id: str, trip_id: str) -> tracingmodels.TracedTrip:
    ((breaches, tampers),) = index.query(
        "SELECT (SELECT count(DISTINCT address) FROM breaches"
        " WHERE trip_id = ?1 AND delivery_id = ?2),"
        " (SELECT count(*) FROM tampers WHERE trip_id = ?1)",
        trip_id,
        delivery_id,
    )
    return tracingmodels.TracedTrip(trip_id=trip_id, breaches=breaches, tampers=tampers)
