"""All events about a trip, a delivery, a transformation or a lot, asked of the records."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from contracts.errors import RejectedError
from contracts.proto.state_pb2 import Delivery
from gateway.exports.epcis.eventhash import Event
from gateway.exports.epcis.goods import (
    Sites,
    delivery_events,
    handover_events,
    lot_events,
    transformation_event,
)
from gateway.exports.epcis.journeys import Journey, journey_events
from gateway.records.entries import TransformationRecord
from gateway.records.lots import TRACE_DELIVERIES_MAX, TraceRecord
from gateway.records.pages import Listed
from gateway.records.records import Records
from gateway.records.registry import NotOnLedgerError
from gateway.records.tracing import Direction, LotId
from gateway.records.watch import UNWATCHED, Watch

ALARMS_MAX: Final = 1000
"""Breaches, and tamper events, of one trip in one document; handovers of one delivery."""
TRIPS_MAX: Final = 100
"""Trips in one document about a lot."""
TRACED_MAX: Final = 200
"""Transformations, and about as many lots, each way in one document about a lot."""
JOB_TRIPS_MAX: Final = 1000
JOB_TRACED_MAX: Final = 1000
_ItemT = TypeVar("_ItemT")


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one document about a lot goes.

    Attributes:
        trips: Trips in it.
        traced: Transformations, and about as many lots, each way.
    """

    trips: int
    traced: int


AT_ONCE: Final = Reach(TRIPS_MAX, TRACED_MAX)
"""While the client waits for the answer."""
AS_JOB: Final = Reach(JOB_TRIPS_MAX, JOB_TRACED_MAX)


class EventGathering:
    """Makes events of records; each site is asked for once.

    Args:
        records: What the reader may see.
        watch: Told how far it is.
        reach: How far a document about a lot goes.
    """

    def __init__(self, records: Records, watch: Watch = UNWATCHED, reach: Reach = AT_ONCE) -> None:
        self._records = records
        self._watch = watch
        self._reach = reach
        self._sites: Sites = {}

    def of_trip(self, trip_id: str) -> Iterator[Event]:
        """Yield the events of a trip, and those of its deliveries that happened on it.

        Raises:
            NotOnLedgerError: There is no such trip.
            RejectedError: It has too many breaches or tamper events.
        """
        trips = self._records.trips
        trip = trips.get(trip_id)
        deliveries = tuple(self._known(trip.start.delivery_ids))
        for entry in deliveries:
            yield from self._of_delivery(entry, trip_id)
        about = f"on trip {trip_id}"
        broken = _all(lambda count: trips.breaches(trip_id, 0, count), f"breaches {about}")
        tampers = _all(lambda count: trips.tampers(trip_id, 0, count), f"tamper events {about}")
        journey = Journey(
            trip,
            deliveries,
            trips.bucketed(trip_id, 1),
            tuple(each.entry for each in broken),
            tuple(each.entry for each in tampers if each.entry.flags),  # not ends alone
        )
        self._look_up([trip.start.origin_site_id, trip.start.destination_site_id])
        yield from journey_events(journey, self._sites)

    def of_lot(self, lot: LotId) -> Iterator[Event]:
        """Yield the events of a lot, of all lots on its trace, and of their trips.

        Raises:
            RejectedError: It reaches too much for one document.
        """
        trips, traced = self._reach.trips, self._reach.traced
        sides = [self._records.lots.trace(lot, way, traced) for way in Direction]
        trip_ids = _trips_of(sides)
        if len(trip_ids) > trips or any(each.is_cut for each in sides):
            raise RejectedError(
                f"lot {lot.lot!r}: expected at most {trips} trips, and each way {traced} "
                f"transformations and {TRACE_DELIVERIES_MAX} deliveries, got more (at least "
                f"{len(trip_ids)} trips): ask for its trips"
            )
        made = {
            each.entry.terms.transformation_id: each
            for side in sides
            for each in side.transformations
        }
        for record in made.values():
            yield self.of_transformation(record)
        lots = {each.lot: each.entry for side in sides for each in side.lots}
        for lot_entry in lots.values():
            if lot_entry is not None:
                yield from lot_events(lot_entry)
        carried = set()
        for step, trip_id in enumerate(trip_ids):
            self._watch.begin(f"trip {trip_id}", step, len(trip_ids))
            yield from self.of_trip(trip_id)
            carried |= set(self._records.trips.get(trip_id).start.delivery_ids)
        for name, entry in _deliveries_of(sides).items():
            if name not in carried:
                yield from delivery_events(entry)

    def of_transformation(self, record: TransformationRecord) -> Event:
        """Return the event of a transformation."""
        self._look_up([record.entry.terms.site_id])
        return transformation_event(record.entry, self._sites)

    def _of_delivery(self, entry: Delivery, trip_id: str) -> Iterator[Event]:
        yield from delivery_events(entry)
        name = entry.terms.delivery_id
        found = _all(
            lambda count: self._records.deliveries.handovers(name, 0, count),
            f"handovers of delivery {name}",
        )
        here = [each.entry for each in found if each.entry.terms.trip_id == trip_id]
        self._look_up(each.terms.site_id for each in here)
        yield from handover_events(entry, here, self._sites)

    def _known(self, delivery_ids: Iterable[str]) -> Iterator[Delivery]:
        """Yield the deliveries that the reader may see."""
        for name in delivery_ids:
            try:
                yield self._records.deliveries.get(name).entry
            except NotOnLedgerError:
                continue

    def _look_up(self, site_ids: Iterable[str]) -> None:
        for site_id in site_ids:
            if site_id not in self._sites:
                try:
                    self._sites[site_id] = self._records.sites.get(site_id)
                except NotOnLedgerError:
                    continue


def _all(ask: Callable[[int], Listed[_ItemT]], what: str) -> tuple[_ItemT, ...]:
    """Return all items of a list.

    Raises:
        RejectedError: There are too many for a document.
    """
    found = ask(ALARMS_MAX + 1)
    if len(found) > ALARMS_MAX:
        raise RejectedError(f"more than {ALARMS_MAX} {what}: too many for one EPCIS document")
    return tuple(item for _, item in found)


def _trips_of(sides: Iterable[TraceRecord]) -> list[str]:
    return list(
        dict.fromkeys(
            trip.trip_id for side in sides for each in side.deliveries for trip in each.trips
        )
    )


def _deliveries_of(sides: Iterable[TraceRecord]) -> dict[str, Delivery]:
    return {each.entry.terms.delivery_id: each.entry for side in sides for each in side.deliveries}
