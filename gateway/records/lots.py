"""Lots and the transformations that made lots from lots, and a trace with all that it reached."""

from dataclasses import dataclass
from typing import Final

from contracts.proto.state_pb2 import Delivery, Lot
from contracts.text import quoted
from gateway.index.store import IndexStore
from gateway.records.entries import (
    TransformationRecord,
    delivery_entry,
    lot_entry,
    transformation_record,
)
from gateway.records.pages import Listed, listed
from gateway.records.registry import NotOnLedgerError, unknown
from gateway.records.tracing import Direction, LotId, walk

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
        deliveries = _UpTo(self._index, _DELIVERIES_OF, TRACE_DELIVERIES_MAX)
        trips = _UpTo(self._index, _TRIPS_OF, TRACE_TRIPS_MAX)
        lots = tuple(
            ReachedLot(lot, steps, self.entry(lot), deliveries.of(*lot))
            for lot, steps in walked.steps.items()
        )
        named = dict.fromkeys(name for lot in lots for name in lot.delivery_ids)
        reached = tuple(
            ReachedDelivery(entry, tuple(self._trip(name, trip) for trip in trips.of(name)))
            for name in named
            if (entry := delivery_entry(self._index, name)) is not None
        )
        return TraceRecord(
            lots=lots,
            transformations=tuple(
                found
                for name in walked.transformations
                if (found := transformation_record(self._index, name)) is not None
            ),
            deliveries=reached,
            cut_at=tuple(walked.cut_at),
            deliveries_cut=deliveries.cut,
            trips_cut=trips.cut,
        )

    def _trip(self, delivery_id: str, trip_id: str) -> ReachedTrip:
        ((breaches, tampers),) = self._index.query(
            "SELECT (SELECT count(DISTINCT address) FROM breaches"
            " WHERE trip_id = ?1 AND delivery_id = ?2),"
            " (SELECT count(*) FROM tampers WHERE trip_id = ?1)",
            trip_id,
            delivery_id,
        )
        return ReachedTrip(trip_id, breaches, tampers)


_DELIVERIES_OF: Final = (
    "SELECT DISTINCT id FROM lots WHERE gtin = ? AND lot = ? AND role = 'delivery' LIMIT ?"
)
_TRIPS_OF: Final = "SELECT DISTINCT trip_id FROM trip_deliveries WHERE delivery_id = ? LIMIT ?"


class _UpTo:
    """Asks one question several times, for at most `limit` names in all.

    Attributes:
        cut: Whether names were left out.
    """

    def __init__(self, index: IndexStore, sql: str, limit: int) -> None:
        self._index = index
        self._sql = sql
        self._left = limit
        self.cut = False

    def of(self, *values: str) -> tuple[str, ...]:
        """Return the names for `values`, as far as the limit goes."""
        found = [name for (name,) in self._index.query(self._sql, *values, self._left + 1)]
        self.cut |= len(found) > self._left
        del found[self._left :]
        self._left -= len(found)
        return tuple(found)
