"""What nobody measured of a delivery between two of its trips.

Under the rules silence and excursions start from zero with each trip. So hours between two trips
would not show, nor a warm drive that was cut into trips, each shorter than the terms tolerate.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from contracts.proto.payload_pb2 import Limit, RecordReading, RunReading
from contracts.records.quantity import QUANTITIES
from contracts.rules.excursions import Bound
from contracts.rules.silence import longest_silence_s


@dataclass(slots=True)
class Ends:
    """How one device's measurements of a limited quantity began and ended on a trip.

    All times are UTC as the device claims it, milliseconds since the Unix epoch.

    Attributes:
        first_ms: The first measurement.
        last_ms: The last one.
        outside_until_ms: The last of the measurements outside the limit with which the trip began;
            None if it began within the limit.
        outside_since_ms: The first of the measurements outside the limit with which the trip
            ended; None if it ended within the limit.
        all_outside: No measurement was within the limit.
    """

    first_ms: int
    last_ms: int
    outside_until_ms: int | None
    outside_since_ms: int | None
    all_outside: bool

    @classmethod
    def at(cls, utc_ms: int, *, outside: bool) -> Self:
        """Return the ends after the first measurement."""
        since_ms = utc_ms if outside else None
        return cls(utc_ms, utc_ms, since_ms, since_ms, outside)

    def go_on(self, utc_ms: int, *, outside: bool) -> None:
        """Take the next measurement."""
        self.last_ms = utc_ms
        if not outside:
            self.outside_since_ms, self.all_outside = None, False
            return
        if self.all_outside:
            self.outside_until_ms = utc_ms
        if self.outside_since_ms is None:
            self.outside_since_ms = utc_ms


class TripEnds:
    """The ends of one trip.

    Args:
        bounds: The limits of its deliveries.
    """

    def __init__(self, bounds: Sequence[Bound]) -> None:
        self._bounds = bounds
        self._ends: dict[tuple[int, str], Ends] = {}

    def take(self, device_id: str, record: RecordReading | RunReading) -> None:
        """Take the next reading of a device's chain."""
        for bound in self._bounds:
            if not record.HasField(bound.field):
                continue
            outside = bound.excess(getattr(record, bound.field)) > 0
            ends = self._ends.get((bound.at, device_id))
            if ends is None:
                ends = Ends.at(record.clock.utc_ms, outside=outside)
                self._ends[bound.at, device_id] = ends
            else:
                ends.go_on(record.clock.utc_ms, outside=outside)

    def of(self, delivery_id: str, quantity: Limit.Quantity) -> list[Ends]:
        """Return the ends of one limit, one for each device that measured the quantity."""
        places = {
            bound.at
            for bound in self._bounds
            if (bound.delivery_id, bound.limit.quantity) == (delivery_id, quantity)
        }
        return [ends for (at, _), ends in self._ends.items() if at in places]


class _Leg(NamedTuple):
    """One trip of a delivery, as all devices together measured one quantity."""

    first_ms: int
    last_ms: int
    trip_id: str
    outside_until_ms: int | None
    outside_since_ms: int | None
    all_outside: bool

    @classmethod
    def of(cls, trip_id: str, ends: Sequence[Ends]) -> Self:
        began = [each.outside_until_ms for each in ends if each.outside_until_ms is not None]
        ended = [each.outside_since_ms for each in ends if each.outside_since_ms is not None]
        return cls(
            min(each.first_ms for each in ends),
            max(each.last_ms for each in ends),
            trip_id,
            max(began, default=None),
            min(ended, default=None),
            any(each.all_outside for each in ends),
        )


def unwatched(
    delivery_id: str, limits: Iterable[Limit], trips: Sequence[tuple[str, TripEnds]]
) -> Iterator[str]:
    """Yield, in words, what nobody can say of a delivery between two of its trips.

    Args:
        delivery_id: The delivery.
        limits: Its limits.
        trips: Id and ends of each trip that carried it, in any order.
    """
    for limit in limits:
        found = ((trip_id, ends.of(delivery_id, limit.quantity)) for trip_id, ends in trips)
        legs = sorted(_Leg.of(trip_id, ends) for trip_id, ends in found if ends)
        yield from _between(legs, limit)


def _between(legs: Sequence[_Leg], limit: Limit) -> Iterator[str]:
    name, allowed_s = QUANTITIES[limit.quantity].name, longest_silence_s(limit)
    since_ms: int | None = None
    before: _Leg | None = None
    for leg in legs:
        if before is not None:
            trips = f"between trip {before.trip_id} and trip {leg.trip_id}"
            silent_ms = leg.first_ms - before.last_ms
            if silent_ms > allowed_s * 1000:
                yield (
                    f"{name} was not measured for {silent_ms / 1000:.10g} s {trips}, "
                    f"{allowed_s} s are allowed"
                )
            lasted_ms = (leg.outside_until_ms or 0) - since_ms if since_ms is not None else 0
            if lasted_ms > limit.tolerated_s * 1000:
                yield (
                    f"{name} was outside its limit {trips} and around it, for "
                    f"{lasted_ms / 1000:.10g} s, {limit.tolerated_s} s are tolerated"
                )
        if since_ms is None or not leg.all_outside:
            since_ms = leg.outside_since_ms
        if before is None or leg.last_ms >= before.last_ms:
            before = leg
