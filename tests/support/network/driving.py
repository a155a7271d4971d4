"""A trip under way with limits, reading by reading, up to its seal."""

from collections.abc import Sequence
from typing import Final

from contracts.proto.payload_pb2 import (
    Limit,
    OpenDelivery,
)
from contracts.proto.sawtooth_pb2 import Event
from contracts.records.reading import Clock, ClockOrigin, Reading
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import Host, apply_all
from support.network.world import (
    BOOT,
    START_MS,
    TERMS,
    Trip,
    key,
    one,
    registrations,
)

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS


def ready(host: Host, trip: Trip, *limits: Limit) -> Trip:
    """Put a trip with a delivery of these limits under way; temperature is limited anyhow."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.limits.extend(limits)
    known = registrations()[:-2]
    signed = [one(key(name), terms) for name in ("seller", "buyer")]
    apply_all(host, [*known, *signed, one(trip.signer, trip.start)])
    return trip


def at(
    offset_ms: int,
    counted_ms: int | None = None,
    temperature_mcel: int | None = 5000,
    humidity_mpct: int | None = None,
    boot: bytes = BOOT,
) -> Reading:
    counted = offset_ms if counted_ms is None else counted_ms
    clock = Clock(START_MS + offset_ms, counted, boot, ClockOrigin.RTC)
    return Reading(clock, temperature_mcel, humidity_mpct)


def drive(host: Host, trip: Trip, values: Sequence[Reading]) -> list[Event]:
    return [
        event
        for value in values
        for event in host.apply(build_batch(trip.signer, [trip.record(value)]))
    ]


def seal(host: Host, trip: Trip) -> list[Event]:
    """Seal a trip at the time of its last reading, as a truck does."""
    made = trip.sealing()
    if trip.records:
        made.clock.CopyFrom(trip.records[-1].clock)
    return host.apply(build_batch(trip.signer, [trip.sign(made)]))
