"""Breaches and signs of tampering in the index, with corrected times beside the claimed ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.proto.payload_pb2 import RecordReading, Remark, StartTrip
from contracts.proto.state_pb2 import Breach, Finding, Remarked, TamperEvent
from contracts.records.reading import Clock, ClockOrigin
from contracts.rules.ids import Rule
from gateway.index.readings import new_readings
from gateway.index.store import IndexStore
from gateway.records.records import Records
from support.network.world import BOOT, START_MS

DEVICE = "truck-1"
CORRECTING = 3
"""The reading whose clock is right; those before began in 1970."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    store = IndexStore(tmp_path / "index.db")
    start = canonical(StartTrip(trip_id="A", device_id=DEVICE))
    store.add({"trips": [("A", DEVICE, start, "tx", 0, 1)]})
    for sequence in range(5):
        base_ms = START_MS if sequence >= CORRECTING else 0
        read(store, sequence, base_ms + sequence * 5000, sequence * 5000)
    yield store
    store.close()


def read(index: IndexStore, sequence: int, utc_ms: int, monotonic_ms: int, tx: str = "aa") -> None:
    knows = (ClockOrigin.NTP, 80) if sequence >= CORRECTING else (ClockOrigin.NONE, None)
    clock = Clock(utc_ms, monotonic_ms, BOOT, *knows).message()
    reading = RecordReading(trip_id="A", device_id=DEVICE, sequence=sequence, clock=clock)
    index.add({}, [new_readings(reading, bytes.fromhex(tx))])


def correct(index: IndexStore) -> None:
    at_ms = CORRECTING * 5000
    right = Clock(START_MS + at_ms, at_ms, BOOT, ClockOrigin.NTP, 80).message()
    entry = Remarked(
        device_id=DEVICE,
        sequence=CORRECTING,
        clock=right,
        remark=Remark(kind=Remark.CLOCK_CORRECTED),
    )
    index.add({"remarks": [("A", Remark.CLOCK_CORRECTED, canonical(entry), 1)]})


def happen(index: IndexStore, sequence: int, utc_ms: int) -> None:
    """Put signs of tampering, and a breach from a reading to the one after, on record."""
    event = TamperEvent(trip_id="A", device_id=DEVICE, sequence=sequence, utc_ms=utc_ms, flags=1)
    breach = Breach(
        trip_id="A",
        delivery_id="d",
        device_id=DEVICE,
        since_sequence=sequence,
        since_ms=utc_ms,
        until_sequence=sequence + 1,
    )
    row = ("A", "d", f"breach {sequence}", canonical(breach), utc_ms, utc_ms, 1)
    index.add({"tampers": [("A", canonical(event), 1)], "breaches": [row]})


def shown(index: IndexStore) -> list[tuple[int | None, ...]]:
    """Return the corrected times of signs and breaches, in order of their readings."""
    records = Records(index)
    signs = [each.corrected_ms for _, each in records.trips.tampers("A", 0, 10)]
    broken = [
        (each.since_corrected_ms, each.until_corrected_ms)
        for _, each in records.trips.all_breaches(0, 10)
    ]
    assert [each for _, each in records.trips.breaches("A", 0, 10)] == [
        each for _, each in records.trips.all_breaches(0, 10)
    ]
    return [(sign, *times) for sign, times in zip(signs, broken, strict=True)]


def test_without_a_correction_claims_stand(index: IndexStore) -> None:
    happen(index, 1, 5000)
    assert shown(index) == [(None, None, None)]


def test_times_before_a_right_clock_are_corrected_and_later_ones_stand(index: IndexStore) -> None:
    correct(index)
    for sequence, utc_ms in ((1, 5000), (2, 10_000), (3, START_MS + 15_000)):
        happen(index, sequence, utc_ms)
    assert shown(index) == [
        (START_MS + 5000, START_MS + 5000, START_MS + 10_000),
        (START_MS + 10_000, START_MS + 10_000, None),
        (None, None, None),
    ]


def test_a_reading_under_the_same_number_that_did_not_join_counts_for_nothing(
    index: IndexStore,
) -> None:
    read(index, 1, 5000, 9999, "dd")
    finding = Finding(transaction_id="dd", sequence=1, rule=Rule.SIGNER_MISMATCH)
    index.add({"findings": [("A", canonical(finding), 1)]})
    correct(index)
    happen(index, 1, 5000)
    assert shown(index) == [(START_MS + 5000, START_MS + 5000, START_MS + 10_000)]
