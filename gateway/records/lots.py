"""Lots and the transformations that made lots from lots, and a trace with all that it reached."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from contracts.proto.state_pb2 import Delivery, Lot
from contracts.text import quoted
from gateway.index.store import IndexStore
from gateway.records.entries import (
    TransformationRecord,
    delivery_entries,
    lot_entries,
    lot_entry,
    transformation_record,
    transformation_records,
)
from gateway.records.pages import Listed, listed
from gateway.records.registry import NotOnLedgerError, unknown
from gateway.records.tracing import Direction, LotId, asked_lots, walk

TRACE_DELIVERIES_MAX: Final = 2000
"""Deliveries of all lots in one direction; one delivery counts once for each lot."""
TRACE_TRIPS_MAX: Final = 2000
"""Trips of all these deliveries together."""


@dataclass(frozen=True, slots=True)
class ReachedLot:
    """A lot that a trace reached.

    Attributes:
        lot: Its name.
        steps: Transformations between it and the lot that the trace began with.
        entry: Its state on the ledger; None when nobody put its making or use on record.
        delivery_ids: Deliveries that it was part of.
    """

    lot: LotId
    steps: int
    entry: Lot | None
    delivery_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReachedTrip:
    """A trip of a reached delivery.

    Attributes:
        trip_id: The trip.
        breaches: Of that delivery's limits, on this trip.
        tampers: Tamper events on this trip.
    """

    trip_id: str
    breaches: int
    tampers: int


@dataclass(frozen=True, slots=True)
class ReachedDelivery:
    """A delivery of reached lots, as it stands."""

    entry: Delivery
    trips: tuple[ReachedTrip, ...]


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """Everything that a trace reached in one direction, the lot that it began with included.

    Attributes:
        lots: Nearest first.
        transformations: Nearest first.
        deliveries: Of these lots.
        cut_at: Lots with transformations that were left out at the limit.
        deliveries_cut: There are more deliveries than `TRACE_DELIVERIES_MAX`.
        trips_cut: There are more trips than `TRACE_TRIPS_MAX`.
    """

    lots: tuple[ReachedLot, ...]
    transformations: tuple[TransformationRecord, ...]
    deliveries: tuple[ReachedDelivery, ...]
    cut_at: tuple[LotId, ...]
    deliveries_cut: bool
    trips_cut: bool

    @property
    def is_cut(self) -> bool:
        """Say whether anything was left out at a limit."""
        return bool(self.cut_at) or self.deliveries_cut or self.trips_cut


class Lots:
    """Answers questions about lots."""

    def __init__(self, index: IndexStore) -> None:
        self._index = index

    def listed(self, after: int, count: int) -> Listed[LotId]:
        """Return a page of the lots that deliveries, transformations and statuses name."""
        sql = "SELECT min(rowid) AS at, gtin, lot FROM lots GROUP BY gtin, lot"
        return listed(self._index, sql, (), LotId, after=after, count=count)

    def check_known(self, lot: LotId) -> None:
        """Check that a delivery or a transformation names a lot, or that it has a status.

        Raises:
            NotOnLedgerError: No record names it.
        """
        named = self._index.query("SELECT 1 FROM lots WHERE gtin = ? AND lot = ? LIMIT 1", *lot)
        # An authority may recall a lot that nothing else on the ledger names.
        if not named and self.entry(lot) is None:
            raise NotOnLedgerError(
                f"no delivery, transformation or status of lot {quoted(lot.lot, 40)} "
                f"of GTIN {quoted(lot.gtin, 20)}"
                + ("; a plus in a query is read as a blank: write it as %2B" * (" " in lot.lot))
            )

    def entry(self, lot: LotId) -> Lot | None:
        """Return a lot as it stands; None when nobody made it, used it or spoke of its status."""
        return lot_entry(self._index, *lot)

    def transformations(self, after: int, count: int) -> Listed[TransformationRecord]:
        """Return a page of the transformations, oldest first."""
        sql = "SELECT rowid AS at, entry, transaction_id FROM transformations"
        return listed(self._index, sql, (), TransformationRecord.from_row, after=after, count=count)

    def transformation(self, transformation_id: str) -> TransformationRecord:
        """Return one transformation.

        Raises:
            NotOnLedgerError: There is no such transformation.
        """
        found = transformation_record(self._index, transformation_id)
        if found is None:
            raise unknown("transformation", transformation_id)
        return found

    def trace(self, start: LotId, direction: Direction, limit: int) -> TraceRecord:
        """Return everything that a lot was made from, or that was made from it.

        Args:
            start: The lot.
            direction: Which way to go.
            limit: Transformations, and about as many lots, after which the trace stops.
        """
        walked = walk(self._index, [start], direction, limit)
        names = list(walked.steps)
        entries = lot_entries(self._index, names)
        asked = asked_lots(names)
        deliveries = _UpTo(self._index, _DELIVERIES_OF, asked, TRACE_DELIVERIES_MAX)
        delivered = delivery_entries(self._index, dict.fromkeys(deliveries.all()))
        trips = _UpTo(self._index, _TRIPS_OF, json.dumps(list(delivered)), TRACE_TRIPS_MAX)
        on_trips = self._trips(delivered, trips)
        return TraceRecord(
            lots=tuple(
                ReachedLot(lot, walked.steps[lot], entries.get(lot), tuple(deliveries.of(at)))
                for at, lot in enumerate(names)
            ),
            transformations=tuple(transformation_records(self._index, walked.transformations)),
            deliveries=tuple(
                ReachedDelivery(entry, on_trips[name]) for name, entry in delivered.items()
            ),
            cut_at=tuple(walked.cut_at),
            deliveries_cut=deliveries.cut,
            trips_cut=trips.cut,
        )

    def _trips(
        self, delivery_ids: Iterable[str], trips: "_UpTo"
    ) -> dict[str, tuple[ReachedTrip, ...]]:
        """Return the trips of each delivery, with what happened on them."""
        of = {name: trips.of(at) for at, name in enumerate(delivery_ids)}
        pairs = [(trip_id, name) for name, trip_ids in of.items() for trip_id in trip_ids]
        rows = iter(self._index.query(_HAPPENED, json.dumps(pairs)))
        return {
            name: tuple(ReachedTrip(trip_id, *next(rows)) for trip_id in trip_ids)
            for name, trip_ids in of.items()
        }


_DELIVERIES_OF: Final = (
    "SELECT asked.key, lots.id FROM json_each(?1) AS asked CROSS JOIN lots"
    " WHERE gtin = asked.value ->> 0 AND lot = asked.value ->> 1 AND role = 'delivery'"
    " GROUP BY asked.key, lots.id ORDER BY asked.key, min(lots.rowid) LIMIT ?2"
)
_TRIPS_OF: Final = (
    "SELECT asked.key, trip_id FROM json_each(?1) AS asked CROSS JOIN trip_deliveries"
    " WHERE delivery_id = asked.value"
    " GROUP BY asked.key, trip_id ORDER BY asked.key, min(trip_deliveries.rowid) LIMIT ?2"
)
_HAPPENED: Final = (
    "SELECT (SELECT count(DISTINCT address) FROM breaches"
    " WHERE trip_id = value ->> 0 AND delivery_id = value ->> 1),"
    " (SELECT count(*) FROM tampers WHERE trip_id = value ->> 0) FROM json_each(?) ORDER BY key"
)


class _UpTo:
    """The names that belong to each of many things, `limit` in all, by one question.

    Attributes:
        cut: Whether names were left out.
    """

    def __init__(self, index: IndexStore, sql: str, asked: str, limit: int) -> None:
        rows = index.query(sql, asked, limit + 1)
        self.cut = len(rows) > limit
        self._found: dict[int, list[str]] = defaultdict(list)
        for key, name in rows[:limit]:
            self._found[key].append(name)

    def all(self) -> Iterator[str]:
        """Return every name, in the order of the things."""
        return chain.from_iterable(self._found.values())

    def of(self, at: int) -> Sequence[str]:
        """Return the names of one thing."""
        return self._found.get(at, ())
