"""Runs: consecutive readings of one device in one transaction.

Each reading is hashed and chained as if it came alone. So chains, seals and
proofs do not depend on how a device groups its readings.
"""

from collections.abc import Sequence
from typing import Final

from contracts.encoding import canonical
from contracts.proto.payload_pb2 import RecordReading, RecordRun, RunReading

RUN_READINGS_MAX: Final = 300


def run_of(records: Sequence[RecordReading]) -> RecordRun:
    """Return one action for `records`, which are consecutive in one chain."""
    first = records[0]
    return RecordRun(
        trip_id=first.trip_id,
        device_id=first.device_id,
        first_sequence=first.sequence,
        previous_sha256=first.previous_sha256,
        readings=[_reading_of(record) for record in records],
    )


def _reading_of(record: RecordReading) -> RunReading:
    """Drop a record's place; the other fields have equal numbers in both messages."""
    reading = RunReading.FromString(canonical(record))
    reading.DiscardUnknownFields()
    return reading
