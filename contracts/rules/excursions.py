"""Excursions: how long a delivery's limit has been exceeded, and when that is a breach."""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts import address
from contracts.proto.payload_pb2 import Limit, RecordReading
from contracts.proto.state_pb2 import Breach, Chain, Delivery, Device, Excursion, Trip
from contracts.records.clock import UTC_MS_MAX
from contracts.records.quantity import QUANTITIES
from contracts.rules.case import EVENT_BREACH, Case, Notes
from contracts.rules.ids import Rule


def follow(trip: Trip, chain: Chain, record: RecordReading, notes: Notes) -> None:
    """Carry every excursion on this chain forward by one reading."""
    passed_ms = _passed_ms(chain, record)
    for excursion in chain.excursions:
        excursion.lasted_ms = min(excursion.lasted_ms + passed_ms, UTC_MS_MAX)
    for delivery in trip.deliveries:
        for limit in delivery.limits:
            field = QUANTITIES[limit.quantity].field
            if record.HasField(field):
                value: int = getattr(record, field)
                _Watch(chain, delivery.delivery_id, limit, record, notes).step(value)


def _passed_ms(chain: Chain, record: RecordReading) -> int:
    """Return the time since the reading before, which no clock setting may stretch or undo."""
    clock = record.clock
    counted_ms = clock.monotonic_ms - chain.last_monotonic_ms
    if clock.boot_id == chain.last_boot_id and counted_ms >= 0:
        return counted_ms
    return max(0, clock.utc_ms - chain.last_utc_ms)


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


@dataclass(frozen=True, slots=True)
class _Watch:
    """One limit of one delivery, at one reading."""

    chain: Chain
    delivery_id: str
    limit: Limit
    record: RecordReading
    notes: Notes

    def step(self, value: int) -> None:
        going_on = next(self._going_on(), None)
        if self._excess(value) > 0:
            self._exceed(value, going_on)
        elif going_on is not None:
            if going_on.breached:
                _end(
                    self.notes.case,
                    self.record.trip_id,
                    self.record.device_id,
                    self.limit,
                    going_on,
                )
            self.chain.excursions.remove(going_on)

    def _going_on(self) -> Iterator[Excursion]:
        for excursion in self.chain.excursions:
            if (excursion.delivery_id, excursion.quantity) == (
                self.delivery_id,
                self.limit.quantity,
            ):
                yield excursion

    def _excess(self, value: int) -> int:
        """Return how far outside the limit `value` lies; not above zero within it."""
        limit = self.limit
        return max(
            limit.minimum - value if limit.HasField("minimum") else 0,
            value - limit.maximum if limit.HasField("maximum") else 0,
        )

    def _exceed(self, value: int, going_on: Excursion | None) -> None:
        now = self.record.clock.utc_ms
        if going_on is None:
            going_on = self.chain.excursions.add(
                delivery_id=self.delivery_id,
                quantity=self.limit.quantity,
                since_ms=now,
                since_sequence=self.record.sequence,
                extreme=value,
            )
        going_on.extreme = max(going_on.extreme, value, key=self._excess)
        going_on.until_ms, going_on.until_sequence = now, self.record.sequence
        tolerated_ms = self.limit.tolerated_s * 1000
        if not going_on.breached and (going_on.lasted_ms > tolerated_ms or not tolerated_ms):
            going_on.breached = True
            self._breach(going_on)

    def _breach(self, excursion: Excursion) -> None:
        case = self.notes.case
        breach = _breach_of(self.record.trip_id, self.record.device_id, self.limit, excursion)
        if self.record.HasField("position"):
            breach.position.CopyFrom(self.record.position)
        case.store(place_of(breach), breach)
        case.event(EVENT_BREACH, breach.trip_id, breach)
        mark_delivery(self.notes, self.delivery_id, self.record.sequence, breaches=1)


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
    case.event(EVENT_BREACH, trip_id, breach)


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
