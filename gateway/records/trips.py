"""Trips with their readings, breaches, tamper events, findings, holds and recordings."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from contracts.proto.payload_pb2 import RecordReading, SealTrip, StartTrip
from contracts.proto.state_pb2 import Chain, Finding, Hold, Remarked, TamperEvent, Trip
from contracts.records.corrections import BEFORE_READINGS, Corrections
from gateway.index.standing import HOLDS_OF_TRIP, STANDING_HOLDS, in_force
from gateway.index.store import IndexStore
from gateway.records.breaches import BreachRecord, breaches
from gateway.records.buckets import BucketedReadings, bucketed
from gateway.records.corrected import corrected_times, corrections_of
from gateway.records.digests import DIGEST_COLUMNS, DigestRecord
from gateway.records.entries import trip_entry
from gateway.records.ground import Ground
from gateway.records.grounds import excursions_of, grounds_of
from gateway.records.pages import EVERYTHING, Listed, Span, T, listed, listed_within
from gateway.records.readings import (
    CLOCK_COLUMNS,
    CLOCK_WIDTH,
    VALUE_COLUMNS,
    ClockRow,
    ValueRow,
)
from gateway.records.registry import unknown
from gateway.records.tripsabout import ANY_TRIP, Nearby, TripsAbout, conditions

_STARTED: Final = "start, transaction_id FROM trips"
_OF_DEVICE: Final = "SELECT trip_id FROM trip_devices WHERE device_id = ?"
_SEALED: Final = "trip_devices LEFT JOIN chains USING (trip_id, device_id)"
_CLOSED: Final = "SELECT max(closed_ms) FROM trip_entries WHERE trip_id = trips.trip_id"
_READ: Final = "SELECT max(utc_ms) FROM warm_readings JOIN trip_devices USING (trip_id, device_id)"
_READ_COLD: Final = (
    "SELECT max(last_utc_ms) FROM cold_read JOIN trip_devices USING (trip_id, device_id)"
)
_ENDED: Final = f"""
CASE
  WHEN NOT EXISTS (SELECT 1 FROM {_SEALED} WHERE trip_id = trips.trip_id AND ended_ms IS NULL)
  THEN max(started_ms, (SELECT max(ended_ms) FROM {_SEALED} WHERE trip_id = trips.trip_id))
  WHEN ({_CLOSED}) IS NOT NULL
  THEN max(started_ms, ({_CLOSED}), ifnull(({_READ} WHERE trip_id = trips.trip_id), 0),
    ifnull(({_READ_COLD} WHERE trip_id = trips.trip_id), 0))
END
"""  # noqa: S608
"""When a trip ended, as `listed` says; NULL while it is open. Strangers' chains do not count."""
LOOKED_AT_ONCE: Final = 100
"""Trips that may have been at a place, in memory at once."""


@dataclass(frozen=True, slots=True)
class SealRecord:
    """A device's seal of a trip, and the transaction that carries it."""

    seal: SealTrip
    transaction_id: str


@dataclass(frozen=True, slots=True)
class TripRecord:
    """A trip as it stands.

    Attributes:
        start: As its device signed it.
        entry: Its state on the ledger.
        transaction_id: Of the start.
        readings: How many are committed.
        holds: How many legal holds are in force.
        seals: One for each device that ended its part.
        chains: Their chains as they stand.
        started_corrected_ms: When it began by a clock that was right later, milliseconds; None if
            its claim stands.
    """

    start: StartTrip
    entry: Trip
    transaction_id: str
    readings: int
    holds: int
    seals: tuple[SealRecord, ...]
    chains: tuple[Chain, ...]
    started_corrected_ms: int | None


@dataclass(frozen=True, slots=True)
class ReadingRecord:
    """A reading as committed, alone or in a run.

    Attributes:
        record: Its clock, values, position and signs; the other fields are not set.
        device_id: Whose reading it is.
        sequence: Its number in the chain of that device.
        transaction_id: The transaction that carries it.
        block_num: The block with that transaction.
        corrected_ms: Its time by a clock that was right later, milliseconds; None if its claim
            stands.
    """

    record: RecordReading
    device_id: str
    sequence: int
    transaction_id: str
    block_num: int
    corrected_ms: int | None


@dataclass(frozen=True, slots=True)
class TamperRecord:
    """Signs of tampering that appeared, or ended.

    Attributes:
        entry: The event.
        corrected_ms: As of its reading: `ReadingRecord`.
    """

    entry: TamperEvent
    corrected_ms: int | None


@dataclass(frozen=True, slots=True)
class RemarkRecord:
    """What a device said of itself.

    Attributes:
        entry: The remark, with the reading that carries it.
        corrected_ms: As of that reading: `ReadingRecord`.
    """

    entry: Remarked
    corrected_ms: int | None


class Trips:
    """Answers questions about trips.

    Only `holds_in_force` and `grounds` also answer for an unknown trip.

    Raises:
        NotOnLedgerError: There is no such trip.
    """

    def __init__(self, index: IndexStore) -> None:
        self._index = index

    def listed(
        self,
        after: int,
        count: int,
        device_id: str | None = None,
        span: Span = EVERYTHING,
        about: TripsAbout = ANY_TRIP,
    ) -> Listed[TripRecord]:
        """Return a page of the trips that overlap a span, in the ledger's order.

        Args:
            after: The place after which the page begins; 0 begins with the first trip.
            count: Trips on the page, at most.
            device_id: A device that the trips' starts name; None for the trips of all devices.
            span: What the time from a trip's start to its last seal overlaps. If a device that the
                start names has not sealed it, a trip ends when a party closed it, or with a later
                reading; until a party closes it, it has not ended.
            about: What else the trips must be about.
        """
        sql = f"SELECT rowid AS at, started_ms AS utc_ms, {_ENDED} AS until_ms, {_STARTED}"
        asked = list(conditions(about))
        if device_id is not None:
            asked.insert(0, (_OF_DEVICE, (device_id,)))
        values = tuple(value for _, named in asked for value in named)
        where = " AND ".join(f"trip_id IN ({condition})" for condition, _ in asked)
        if where:
            sql += f" WHERE {where}"
        page = partial(listed_within, self._index, sql, values, span=span)
        if about.near is None:
            return page(self._trip, after=after, count=count)
        return self._there(page, Nearby(self._index, about.near), after, count)

    def _there(
        self, page: Callable[..., Listed[tuple[bytes, str]]], places: Nearby, after: int, count: int
    ) -> Listed[TripRecord]:
        """Return a page of those trips that were at a place, of pages of trips that may have been.

        Only as many are looked at as the page needs: readings of old trips lie in cold files.
        """
        found: Listed[TripRecord] = []
        while rows := page(lambda *row: row, after=after, count=LOOKED_AT_ONCE):
            for at, (start, transaction_id) in rows:
                if places.has(StartTrip.FromString(start).trip_id):
                    found.append((at, self._trip(start, transaction_id)))
                if len(found) == count:
                    return found
            after = rows[-1][0]
        return found

    def get(self, trip_id: str) -> TripRecord:
        """Return a trip as it stands."""
        rows = self._index.query(f"SELECT {_STARTED} WHERE trip_id = ?", trip_id)
        if not rows:
            raise unknown("trip", trip_id)
        return self._trip(*rows[0])

    def check_known(self, trip_id: str) -> None:
        """Check that a trip is on the ledger."""
        if not self._index.query("SELECT 1 FROM trips WHERE trip_id = ?", trip_id):
            raise unknown("trip", trip_id)

    def readings(
        self, trip_id: str, after: int, count: int, span: Span = EVERYTHING
    ) -> Listed[ReadingRecord]:
        """Return a page of a trip's readings in a span, in the ledger's order."""
        self.check_known(trip_id)
        sql = (
            "SELECT position AS at, utc_ms, utc_ms AS until_ms, device_id, sequence,"  # noqa: S608
            f" transaction_id, block_num, {CLOCK_COLUMNS}, {VALUE_COLUMNS} FROM readings"
            " WHERE trip_id = ?"
        )
        return listed_within(
            self._index,
            sql,
            (trip_id,),
            partial(_reading, corrections_of(self._index, trip_id)),
            after=after,
            count=count,
            span=span,
            of_trip=trip_id,
        )

    def bucketed(
        self, trip_id: str, count: int, span: Span = EVERYTHING, device_id: str = ""
    ) -> BucketedReadings:
        """Return a trip's readings summed up in so many buckets at most; see `bucketed`."""
        return bucketed(self._index, trip_id, count, span, device_id)

    def breaches(
        self, trip_id: str, after: int, count: int, span: Span = EVERYTHING
    ) -> Listed[BreachRecord]:
        """Return a page of the breaches of delivery limits on a trip, by time."""
        self.check_known(trip_id)
        return breaches(self._index, {"trip_id": trip_id}, after, count, span)

    def all_breaches(
        self,
        after: int,
        count: int,
        span: Span = EVERYTHING,
        *,
        trip_id: str | None = None,
        delivery_id: str | None = None,
    ) -> Listed[BreachRecord]:
        """Return a page of the breaches on all trips, or on one, or of one delivery, by time."""
        asked = {"trip_id": trip_id, "delivery_id": delivery_id}
        about = {column: value for column, value in asked.items() if value is not None}
        return breaches(self._index, about, after, count, span)

    def tampers(self, trip_id: str, after: int, count: int) -> Listed[TamperRecord]:
        """Return a page of a trip's tamper events."""
        sql = "SELECT rowid AS at, entry FROM tampers WHERE trip_id = ?"
        found = self._of_trip(sql, trip_id, TamperEvent.FromString, after, count)
        places = [(each.device_id, each.sequence) for _, each in found]
        times = corrected_times(self._index, trip_id, places)
        return [
            (at, TamperRecord(each, times.get(place)))
            for (at, each), place in zip(found, places, strict=True)
        ]

    def remarks(self, trip_id: str, after: int, count: int) -> Listed[RemarkRecord]:
        """Return a page of what a trip's devices said of themselves."""
        corrections = corrections_of(self._index, trip_id)

        def read(wire: bytes) -> RemarkRecord:
            entry = Remarked.FromString(wire)
            place = entry.device_id, entry.sequence
            return RemarkRecord(entry, corrections.corrected_ms(*place, entry.clock))

        sql = "SELECT rowid AS at, entry FROM remarks WHERE trip_id = ?"
        return self._of_trip(sql, trip_id, read, after, count)

    def findings(self, trip_id: str, after: int, count: int) -> Listed[Finding]:
        """Return a page of the rules' findings about a trip's transactions."""
        sql = "SELECT rowid AS at, entry FROM findings WHERE trip_id = ?"
        return self._of_trip(sql, trip_id, Finding.FromString, after, count)

    def digests(
        self, trip_id: str, after: int, count: int, span: Span = EVERYTHING
    ) -> Listed[DigestRecord]:
        """Return a page of the digests of a trip's recordings that overlap a span, oldest first."""
        self.check_known(trip_id)
        sql = (
            f"SELECT rowid AS at, started_ms AS utc_ms, until_ms, {DIGEST_COLUMNS}"
            " WHERE trip_id = ?"
        )
        values, read = (trip_id,), DigestRecord.from_row
        return listed_within(self._index, sql, values, read, after=after, count=count, span=span)

    def holds(self, trip_id: str, after: int, count: int) -> Listed[Hold]:
        """Return a page of the legal holds on a trip, including released ones."""
        sql = f"SELECT rowid AS at, entry FROM holds WHERE {STANDING_HOLDS}"  # noqa: S608
        return self._of_trip(sql, trip_id, Hold.FromString, after, count)

    def holds_in_force(self, trip_id: str) -> list[Hold]:
        """Return the holds on a trip that were placed and not released; the trip may be unknown."""
        return in_force(self._index.query(HOLDS_OF_TRIP, trip_id))

    def grounds(self, trip_id: str) -> list[Ground]:
        """Return the grounds for automatic holds on a trip, which may be unknown."""
        return grounds_of(self._index, trip_id)

    def excursions(self, trip_id: str) -> list[Ground]:
        """Return the excursions on a trip by their claimed times; the trip may be unknown."""
        return excursions_of(self._index, trip_id)

    def _of_trip(
        self, sql: str, trip_id: str, read: Callable[..., T], after: int, count: int
    ) -> Listed[T]:
        self.check_known(trip_id)
        return listed(self._index, sql, (trip_id,), read, after=after, count=count)

    def _trip(self, start: bytes, transaction_id: str) -> TripRecord:
        action = StartTrip.FromString(start)
        trip_id = action.trip_id
        ((readings,),) = self._index.query(
            "SELECT (SELECT count(*) FROM warm_readings WHERE trip_id = ?1)"
            " + (SELECT total(readings) FROM cold_read WHERE trip_id = ?1)",
            trip_id,
        )
        seals = self._index.query(
            "SELECT action, transaction_id FROM seals WHERE trip_id = ?", trip_id
        )
        return TripRecord(
            action,
            trip_entry(self._index, trip_id) or Trip(),
            transaction_id,
            int(readings),
            len(self.holds_in_force(trip_id)),
            tuple(SealRecord(SealTrip.FromString(seal), seal_id) for seal, seal_id in seals),
            self._chains(trip_id),
            self._started_corrected(action),
        )

    def _started_corrected(self, start: StartTrip) -> int | None:
        if not start.HasField("clock"):
            return None
        corrections = corrections_of(self._index, start.trip_id)
        return corrections.corrected_ms(start.device_id, BEFORE_READINGS, start.clock)

    def _chains(self, trip_id: str) -> tuple[Chain, ...]:
        rows = self._index.query(
            "SELECT entry FROM chains WHERE rowid IN"
            " (SELECT max(rowid) FROM chains WHERE trip_id = ? GROUP BY device_id) ORDER BY rowid",
            trip_id,
        )
        return tuple(Chain.FromString(entry) for (entry,) in rows)


def _reading(
    corrections: Corrections,
    device_id: str,
    sequence: int,
    transaction_id: str,
    block_num: int,
    *said: Any,  # noqa: ANN401 - columns of several types
) -> ReadingRecord:
    clock = ClockRow(*said[:CLOCK_WIDTH]).message()
    record = ValueRow(*said[CLOCK_WIDTH:]).record(clock)
    corrected_ms = corrections.corrected_ms(device_id, sequence, clock)
    return ReadingRecord(record, device_id, sequence, transaction_id, block_num, corrected_ms)
