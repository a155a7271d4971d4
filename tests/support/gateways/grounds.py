"""Rows of the index with what goes wrong on a trip, as the projection of a block writes them."""

from collections.abc import Sequence

from contracts.proto.payload_pb2 import (
    Clock,
    FilmMoment,
    Limit,
    RecordReading,
    RecordVideo,
    Remark,
    StartTrip,
)
from contracts.proto.state_pb2 import Breach, Remarked, TamperEvent
from contracts.records.reading import Tamper
from contracts.rules.excursions import place_of
from gateway.index.readings import new_readings

Rows = dict[str, list[tuple[object, ...]]]
TRUCK = "truck-1"
BOOT = bytes(16)
START_MS = 1_700_000_000_000


def film(since_s: float, lasts_s: float = 60, name: str = "") -> RecordVideo:
    """Return when a recording was filmed, seconds after the trip's start."""
    return RecordVideo(
        started_at_ms=START_MS + int(since_s * 1000),
        duration_ms=int(lasts_s * 1000),
        pseudo_file_id=name,
    )


def named(trip_id: str, *devices: str) -> Rows:
    """Return a trip's start, and the devices that it names."""
    start = StartTrip(trip_id=trip_id).SerializeToString()
    return {
        "trips": [(trip_id, TRUCK, start, "tx", 0)],
        "trip_devices": [(each, trip_id) for each in devices or (TRUCK,)],
    }


def excursion(
    trip_id: str, since_s: float, until_s: float, *, ended: bool = True, device: str = TRUCK
) -> Rows:
    """Return a breach of the temperature of a delivery."""
    breach = Breach(
        trip_id=trip_id,
        device_id=device,
        delivery_id="D-1",
        limit=Limit(quantity=Limit.TEMPERATURE_MCEL),
        since_ms=START_MS + int(since_s * 1000),
        since_sequence=int(since_s),
        until_ms=START_MS + int(until_s * 1000),
        until_sequence=int(until_s),
        ended=ended,
    )
    times = breach.since_ms, breach.until_ms if ended else None
    wire = breach.SerializeToString()
    return {"breaches": [(trip_id, "D-1", place_of(breach), wire, *times)]}


def readings(
    trip_id: str, flags: Sequence[int], *, first: int = 0, apart_s: int = 1, device: str = TRUCK
) -> Rows:
    """Return readings in a row with these signs; the n-th is n intervals after the start.

    They are `NewReadings`, which get no block's number.
    """
    found: list[tuple[object, ...]] = []
    for sequence, each in enumerate(flags, first):
        reading = RecordReading(
            trip_id=trip_id,
            device_id=device,
            sequence=sequence,
            clock=clock(sequence * apart_s),
            tamper_flags=each,
        )
        found.append(new_readings(reading, bytes(64)))
    return {"readings": found}


def tampered(
    trip_id: str, sequence: int, at_s: float, flags: int = 0, ended: int = 0, *films: str
) -> Rows:
    """Return the event that signs appeared or ended with a reading."""
    entry = TamperEvent(
        trip_id=trip_id,
        device_id=TRUCK,
        sequence=sequence,
        utc_ms=START_MS + int(at_s * 1000),
        flags=flags,
        ended_flags=ended,
        film=[FilmMoment(pseudo_file_id=each) for each in films],
    )
    return {"tampers": [(trip_id, entry.SerializeToString())]}


def clock(at_s: float, ahead_s: float = 0) -> Clock:
    """Return a clock `at_s` after the boot, which claims the time after the trip's start."""
    utc_ms = START_MS + int((at_s + ahead_s) * 1000)
    return Clock(utc_ms=utc_ms, monotonic_ms=max(0, int(at_s * 1000)), boot_id=BOOT)


def remarked(
    trip_id: str,
    kind: Remark.Kind,
    at_s: float,
    *films: str,
    sequence: int = 0,
    ended: bool = False,
    amount_ms: int = 0,
    ahead_s: float = 0,
) -> Rows:
    """Return a remark in a reading of that time; the clock may be ahead of the trip's."""
    said = clock(at_s, ahead_s)
    remark = Remark(kind=kind, since_ms=said.utc_ms, ended=ended, amount=amount_ms, subject="cam-1")
    entry = Remarked(
        trip_id=trip_id,
        device_id=TRUCK,
        sequence=sequence,
        clock=said,
        remark=remark,
        film=[FilmMoment(pseudo_file_id=each) for each in films],
    )
    return {"remarks": [(trip_id, kind, entry.SerializeToString())]}


def signs(*flags: Tamper) -> list[int]:
    """Return flags as numbers."""
    return [int(each) for each in flags]
