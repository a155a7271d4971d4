"""Excursions: how long a delivery's limit has been exceeded, and when that is a breach."""

from typing import Final, NamedTuple

from contracts import address
from contracts.proto.payload_pb2 import Limit
from contracts.proto.state_pb2 import Breach, Chain, Delivery, Device, Excursion, Trip
from contracts.records.clock import UTC_MS_MAX
from contracts.records.placed import Placed
from contracts.records.quantity import QUANTITIES
from contracts.rules.case import EVENT_BREACH, Case, Notes
from contracts.rules.ids import Rule

_LOWEST: Final = -(1 << 31)
_HIGHEST: Final = (1 << 31) - 1


class _Bound(NamedTuple):
    """One limit of one delivery, in plain values."""

    delivery_id: str
    limit: Limit
    quantity: int
    field: str
    lowest: int
    highest: int

    def excess(self, value: int) -> int:
        """Return how far outside the limit `value` lies; not above zero within it."""
        return max(self.lowest - value, value - self.highest)


class Watch:
    """The limits of a trip's deliveries, and how one device's readings keep to them."""

    def __init__(self, trip: Trip, chain: Chain, notes: Notes) -> None:
        self._chain = chain
        self._notes = notes
        self._bounds = [
            _Bound(
                delivery.delivery_id,
                limit,
                limit.quantity,
                QUANTITIES[limit.quantity].field,
                limit.minimum if limit.HasField("minimum") else _LOWEST,
                limit.maximum if limit.HasField("maximum") else _HIGHEST,
            )
            for delivery in trip.deliveries
            for limit in delivery.limits
        ]

    def follow(self, reading: Placed) -> None:
        """Carry every excursion on this chain forward by one reading."""
        chain = self._chain
        if chain.excursions:
            passed_ms = _passed_ms(chain, reading)
            for excursion in chain.excursions:
                excursion.lasted_ms = min(excursion.lasted_ms + passed_ms, UTC_MS_MAX)
        for bound in self._bounds:
            value: int = getattr(reading, bound.field)
            outside = not bound.lowest <= value <= bound.highest
            # Most readings keep to every limit while none was exceeded before: nothing to do.
            if (outside or chain.excursions) and reading.record.HasField(bound.field):
                self._step(bound, reading, value, outside=outside)

    def _step(self, bound: _Bound, reading: Placed, value: int, *, outside: bool) -> None:
        going_on = self._going_on(bound)
        if outside:
            if going_on is None:
                going_on = self._chain.excursions.add(
                    delivery_id=bound.delivery_id,
                    quantity=bound.limit.quantity,
                    since_ms=reading.utc_ms,
                    since_sequence=reading.sequence,
                    extreme=value,
                )
            self._exceed(going_on, bound, reading, value)
        elif going_on is not None:
            if going_on.breached:
                notes = self._notes
                _end(notes.case, notes.trip_id, notes.device_id, bound.limit, going_on)
            self._chain.excursions.remove(going_on)

    def _going_on(self, bound: _Bound) -> Excursion | None:
        for excursion in self._chain.excursions:
            if excursion.quantity == bound.quantity and excursion.delivery_id == bound.delivery_id:
                return excursion
        return None

    def _exceed(self, going_on: Excursion, bound: _Bound, reading: Placed, value: int) -> None:
        if bound.excess(value) > bound.excess(going_on.extreme):
            going_on.extreme = value
        going_on.until_ms, going_on.until_sequence = reading.utc_ms, reading.sequence
        tolerated_ms = bound.limit.tolerated_s * 1000
        if not going_on.breached and (going_on.lasted_ms > tolerated_ms or not tolerated_ms):
            going_on.breached = True
            self._breach(going_on, bound.limit, reading)

    def _breach(self, excursion: Excursion, limit: Limit, reading: Placed) -> None:
        notes = self._notes
        breach = _breach_of(notes.trip_id, notes.device_id, limit, excursion)
        if reading.record.HasField("position"):
            breach.position.CopyFrom(reading.record.position)
        notes.case.store(place_of(breach), breach)
        notes.case.event(EVENT_BREACH, breach, trip_id=breach.trip_id)
        mark_delivery(notes, breach.delivery_id, reading.sequence, breaches=1)


def _passed_ms(chain: Chain, reading: Placed) -> int:
    """Return the time since the reading before, which no clock setting may stretch or undo."""
    counted_ms = reading.monotonic_ms - chain.last_monotonic_ms
    if reading.boot_id == chain.last_boot_id and counted_ms >= 0:
        return counted_ms
    return max(0, reading.utc_ms - chain.last_utc_ms)


def close(trip: Trip, chain: Chain, case: Case) -> None:
    """End every breach that was still going on at the device's last reading."""
    limits = {
        (delivery.delivery_id, limit.quantity): limit
        for delivery in trip.deliveries
        for limit in delivery.limits
    }
    for excursion in chain.excursions:
        if excursion.breached:
            limit = limits[excursion.delivery_id, excursion.quantity]
            _end(case, trip.start.trip_id, chain.device_id, limit, excursion)
    del chain.excursions[:]


def mark_delivery(
    notes: Notes, delivery_id: str, sequence: int, *, breaches: int = 0, tampers: int = 0
) -> None:
    """Count a breach or a tamper event on a delivery, if the reading declares it.

    Only devices of its carrier count: anyone's may write readings on a trip, and none may mark
    a competitor's goods.
    """
    place = address.delivery(delivery_id)
    if not notes.case.declares(place):
        notes.add(
            Rule.DELIVERY_NOT_DECLARED, f"the reading cannot mark delivery {delivery_id}", sequence
        )
        return
    delivery = notes.case.load(place, Delivery)
    device = notes.case.load(address.device(notes.device_id), Device)
    if delivery is None or device is None:
        return
    if device.party_id != delivery.terms.carrier_id:
        notes.add(
            Rule.CARRIER_MISMATCH,
            f"a device of {device.party_id} does not mark delivery {delivery_id}, "
            f"which {delivery.terms.carrier_id} carries",
            sequence,
        )
    else:
        delivery.breaches += breaches
        delivery.tampers += tampers
        notes.case.store(place, delivery)


def _end(case: Case, trip_id: str, device_id: str, limit: Limit, excursion: Excursion) -> None:
    breach = _breach_of(trip_id, device_id, limit, excursion)
    begun = case.load(place_of(breach), Breach)
    if begun is not None and begun.HasField("position"):
        breach.position.CopyFrom(begun.position)
    breach.ended = True
    case.store(place_of(breach), breach)
    case.event(EVENT_BREACH, breach, trip_id=trip_id)


def _breach_of(trip_id: str, device_id: str, limit: Limit, excursion: Excursion) -> Breach:
    return Breach(
        trip_id=trip_id,
        device_id=device_id,
        delivery_id=excursion.delivery_id,
        limit=limit,
        since_ms=excursion.since_ms,
        since_sequence=excursion.since_sequence,
        until_ms=excursion.until_ms,
        until_sequence=excursion.until_sequence,
        extreme=excursion.extreme,
    )


def place_of(breach: Breach) -> str:
    """Return the address of a breach, which also tells it from every other."""
    return address.breach(
        breach.trip_id,
        breach.device_id,
        breach.delivery_id,
        breach.limit.quantity,
        breach.since_sequence,
    )
