"""Readings as rules and verifiers take them: alone or in a run, checked, hashed, in plain values.

A ledger takes tens of thousands of these a second, so each field of a message
is read once, and no object is built that only checks itself.
"""

import hashlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RecordReading, RecordRun, RunReading
from contracts.records.clock import BOOT_ID_BYTES, MONOTONIC_MS_END, UTC_MS_MAX, ClockOrigin
from contracts.records.reading import (
    LATITUDE_E7,
    LONGITUDE_E7,
    RANGES,
    SEQUENCE_END,
    TAMPER_ALL,
    Link,
    digest,
    link_of,
    reading_of,
)
from contracts.records.run import RUN_READINGS_MAX

_ORIGIN_LAST: Final = max(ClockOrigin)
_TEMPERATURE_LOW, _TEMPERATURE_HIGH = RANGES["temperature_mcel"]
_HUMIDITY_LOW, _HUMIDITY_HIGH = RANGES["humidity_mpct"]
_PRESSURE_LOW, _PRESSURE_HIGH = RANGES["pressure_pa"]


class Placed(NamedTuple):
    """One reading at its place in a device's chain; every field lies in its range.

    Attributes:
        sequence: Its number.
        previous_sha256: Hash of the reading before, as it says.
        sha256: Its own hash: that of the canonical `RecordReading`, which a reading of a run
            stands for.
        utc_ms: Claimed time.
        monotonic_ms: Milliseconds since boot.
        boot_id: Which boot.
        tamper_flags: Signs of tampering.
        temperature_mcel: Zero also when it was not measured; `record` knows.
        humidity_mpct: Likewise.
        pressure_pa: Likewise.
        record: The message.
    """

    sequence: int
    previous_sha256: bytes
    sha256: bytes
    utc_ms: int
    monotonic_ms: int
    boot_id: bytes
    tamper_flags: int
    temperature_mcel: int
    humidity_mpct: int
    pressure_pa: int
    record: RecordReading | RunReading


def placed(action: RecordReading | RecordRun) -> list[Placed]:
    """Return the readings of an action, by rising sequence.

    Raises:
        RejectedError: A field is outside its range, or a run has too many readings or none.
    """
    if isinstance(action, RecordReading):
        link_of(action)
        return [_placed(action, action.sequence, action.previous_sha256, digest(action))]
    return list(_of_run(action))


def _of_run(run: RecordRun) -> Iterator[Placed]:
    count = len(run.readings)
    if not 1 <= count <= RUN_READINGS_MAX:
        raise RejectedError(f"a run holds 1..{RUN_READINGS_MAX} readings, got {count}")
    Link(run.trip_id, run.device_id, run.first_sequence, run.previous_sha256)
    if run.first_sequence + count > SEQUENCE_END:
        raise RejectedError(f"sequence must be 0..2^63-1: {run.first_sequence + count - 1}")
    # Canonical fields follow each other in ascending order, so the parts of a record, each
    # canonical, are the canonical record: trip and device, its place, what was measured.
    whose = canonical(RecordReading(trip_id=run.trip_id, device_id=run.device_id))
    place = RecordReading()
    previous = run.previous_sha256
    for sequence, record in enumerate(run.readings, run.first_sequence):
        place.sequence, place.previous_sha256 = sequence, previous
        sha256 = hashlib.sha256(whose + canonical(place) + canonical(record)).digest()
        yield _placed(record, sequence, previous, sha256)
        previous = sha256


def _placed(
    record: RecordReading | RunReading, sequence: int, previous: bytes, sha256: bytes
) -> Placed:
    clock, position = record.clock, record.position
    utc_ms, monotonic_ms, boot_id = clock.utc_ms, clock.monotonic_ms, clock.boot_id
    temperature, humidity = record.temperature_mcel, record.humidity_mpct
    pressure, flags = record.pressure_pa, record.tamper_flags
    # What is absent reads as zero, which lies in every range.
    if not (
        utc_ms <= UTC_MS_MAX
        and monotonic_ms < MONOTONIC_MS_END
        and len(boot_id) == BOOT_ID_BYTES
        and 0 <= clock.origin <= _ORIGIN_LAST
        and _TEMPERATURE_LOW <= temperature <= _TEMPERATURE_HIGH
        and _HUMIDITY_LOW <= humidity <= _HUMIDITY_HIGH
        and _PRESSURE_LOW <= pressure <= _PRESSURE_HIGH
        and flags <= TAMPER_ALL
        and -LATITUDE_E7 <= position.latitude_e7 <= LATITUDE_E7
        and -LONGITUDE_E7 <= position.longitude_e7 <= LONGITUDE_E7
    ):
        reading_of(record)  # which says what is wrong
    return Placed(
        sequence,
        previous,
        sha256,
        utc_ms,
        monotonic_ms,
        boot_id,
        flags,
        temperature,
        humidity,
        pressure,
        record,
    )
