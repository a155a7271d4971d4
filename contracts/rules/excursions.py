"""Excursions: how long a delivery's limit is exceeded, and when that becomes a breach."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import Limit
from contracts.proto.state_pb2 import Breach, Chain, Excursion, Trip
from contracts.records.clock import UTC_MS_MAX
from contracts.records.placed import Placed
from contracts.records.quantity import QUANTITIES
from contracts.rules.case import EVENT_BREACH, Notes
from contracts.rules.ids import Rule
from contracts.rules.marks import Marks

BREACHES_MAX: Final = 256
"""Breaches that a chain reports one by one, shared evenly among the trip's limits.

A flapping door can begin a breach of each limit with every other reading, and a ledger must bound
what one transaction writes. Counted over the chain, so that the grouping of readings does not
matter.
"""
_LOWEST: Final = -(1 << 31)
_HIGHEST: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Bound:
    """One limit of one delivery, as plain values."""

    at: int
    delivery_id: str
    limit: Limit
    field: str
    lowest: int
    highest: int

    def excess(self, value: int) -> int:
        """Return how far `value` lies outside the limit; zero or less within it."""
        return max(self.lowest - value, value - self.highest)


def bounds_of(trip: Trip) -> tuple[Bound, ...]:
    """Return the limits of a trip's deliveries, in the trip's order."""
    limits = ((each.delivery_id, limit) for each in trip.deliveries for limit in each.limits)
    return tuple(
        Bound(
            at,
            delivery_id,
            limit,
            QUANTITIES[limit.quantity].field,
            limit.minimum if limit.HasField("minimum") else _LOWEST,
            limit.maximum if limit.HasField("maximum") else _HIGHEST,
        )
        for at, (delivery_id, limit) in enumerate(limits)
    )


class Watch:
    """Follows one device's readings against the limits of the trip's deliveries."""

    def __init__(self, bounds: Sequence[Bound], chain: Chain, notes: Notes, marks: Marks) -> None:
        self._chain = chain
        self._notes = notes
        self._marks = marks
        self._bounds = bounds
        self._reported_max = BREACHES_MAX // max(1, len(bounds))
        self._kept = bool(chain.excursions)
        self._going_on: dict[int, Excursion] = {}
        if self._kept:
            places = {(each.delivery_id, each.limit.quantity): each.at for each in bounds}
            for each in chain.excursions:
                self._going_on[places[each.delivery_id, each.quantity]] = deepcopy(each)

    def follow(self, reading: Placed, passed_ms: int) -> None:
        """Bring every excursion of this chain forward by a reading, `passed_ms` after the last."""
        if self._going_on:
            for excursion in self._going_on.values():
                excursion.lasted_ms = min(excursion.lasted_ms + passed_ms, UTC_MS_MAX)
        for bound in self._bounds:
            value: int = getattr(reading, bound.field)
            outside = not bound.lowest <= value <= bound.highest
            # Nothing to do for most readings: within every limit, with no excursion under way.
            if (outside or self._going_on) and reading.record.HasField(bound.field):
                self._step(bound, reading, value, outside=outside)

    def keep(self) -> None:
        """Write the excursions under way into the chain."""
        if self._kept or self._going_on:
            del self._chain.excursions[:]
            self._chain.excursions.extend(self._going_on.values())

    def close(self) -> None:
        """End every breach that was still under way at the device's last reading."""
        for at, excursion in self._going_on.items():
            self._end(self._bounds[at], excursion)
        self._going_on.clear()
        self.keep()

    def _step(self, bound: Bound, reading: Placed, value: int, *, outside: bool) -> None:
        if not outside:
            excursion = self._going_on.pop(bound.at, None)
            if excursion is not None:
                self._end(bound, excursion)
            return
        if bound.at not in self._going_on:
            self._going_on[bound.at] = Excursion(
                delivery_id=bound.delivery_id,
                quantity=bound.limit.quantity,
                since_ms=reading.utc_ms,
                since_sequence=reading.sequence,
                extreme=value,
            )
        self._exceed(self._going_on[bound.at], bound, reading, value)

    def _exceed(self, going_on: Excursion, bound: Bound, reading: Placed, value: int) -> None:
        if bound.excess(value) > bound.excess(going_on.extreme):
            going_on.extreme = value
        going_on.until_ms, going_on.until_sequence = reading.utc_ms, reading.sequence
        tolerated_ms = bound.limit.tolerated_s * 1000
        if not going_on.breached and (going_on.lasted_ms > tolerated_ms or not tolerated_ms):
            going_on.breached = True
            self._begin(bound, going_on, reading)

    def _begin(self, bound: Bound, excursion: Excursion, reading: Placed) -> None:
        counts = self._chain.breaches
        if not counts:
            counts.extend([0] * len(self._bounds))
        counts[bound.at] += 1
        if counts[bound.at] <= self._reported_max:
            breach = self._breach_of(bound, excursion)
            if reading.record.HasField("position"):
                breach.position.CopyFrom(reading.record.position)
            self._report(breach)
        elif counts[bound.at] == self._reported_max + 1:
            quantity = QUANTITIES[bound.limit.quantity].field
            self._notes.add(
                Rule.BREACHES_MANY,
                f"{self._reported_max} breaches of {bound.delivery_id}'s {quantity} are told; "
                "from here on they are counted only",
                reading.sequence,
            )
        self._marks.add(bound.delivery_id, reading.sequence, breaches=1)

    def _end(self, bound: Bound, excursion: Excursion) -> None:
        if not excursion.breached or self._chain.breaches[bound.at] > self._reported_max:
            return
        breach = self._breach_of(bound, excursion)
        begun = self._notes.case.load(place_of(breach), Breach)
        if begun is not None and begun.HasField("position"):
            breach.position.CopyFrom(begun.position)
        breach.ended = True
        self._report(breach)

    def _report(self, breach: Breach) -> None:
        case = self._notes.case
        case.store(place_of(breach), breach)
        case.event(EVENT_BREACH, breach, trip_id=breach.trip_id)

    def _breach_of(self, bound: Bound, excursion: Excursion) -> Breach:
        return Breach(
            trip_id=self._notes.trip_id,
            device_id=self._notes.device_id,
            delivery_id=bound.delivery_id,
            limit=bound.limit,
            since_ms=excursion.since_ms,
            since_sequence=excursion.since_sequence,
            until_ms=excursion.until_ms,
            until_sequence=excursion.until_sequence,
            extreme=excursion.extreme,
        )


def place_of(breach: Breach) -> str:
    """Return the address of a breach, which also identifies it."""
    return address.breach(
        breach.trip_id,
        breach.device_id,
        breach.delivery_id,
        breach.limit.quantity,
        breach.since_sequence,
    )
