"""Readings and recordings: values that cannot be built invalid."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, EMPTY_ROOT, leaf_hash
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RecordReading
from contracts.records.clock import UTC_MS_MAX, Clock, ClockOrigin
from contracts.records.reading import (
    Link,
    Position,
    Reading,
    Tamper,
    digest,
    link_of,
    reading_of,
    record_of,
)
from contracts.records.recording import RecordingDigest, pseudo_file_id
from support.world import START_MS, Trip, reading

CLOCK = Clock(START_MS, 0, bytes(16), ClockOrigin.NONE)
LINK = Link("0" * 32, "truck-1", 0, b"")


@pytest.mark.parametrize(
    "make",
    [
        lambda: replace(CLOCK, utc_ms=-1),
        lambda: replace(CLOCK, utc_ms=UTC_MS_MAX + 1),
        lambda: replace(CLOCK, monotonic_ms=-1),
        lambda: replace(CLOCK, monotonic_ms=1 << 63),
        lambda: replace(CLOCK, boot_id=bytes(15)),
        lambda: Position(900_000_001, 0),
        lambda: Position(0, -1_800_000_001),
        lambda: Position(0, 0, -1),
        lambda: Position(0, 0, 1 << 32),
        lambda: Reading(CLOCK, temperature_mcel=-273_151),
        lambda: Reading(CLOCK, temperature_mcel=1_000_001),
        lambda: Reading(CLOCK, humidity_mpct=-1),
        lambda: Reading(CLOCK, humidity_mpct=100_001),
        lambda: Reading(CLOCK, pressure_pa=-1),
        lambda: Reading(CLOCK, pressure_pa=2_000_001),
        lambda: Reading(CLOCK, tamper=Tamper(64)),
        lambda: replace(LINK, trip_id="trip"),
        lambda: replace(LINK, device_id=""),
        lambda: replace(LINK, device_id="a/b"),
        lambda: replace(LINK, sequence=-1),
        lambda: replace(LINK, sequence=1 << 63, previous_sha256=bytes(32)),
        lambda: replace(LINK, sequence=1),
        lambda: replace(LINK, previous_sha256=bytes(32)),
        lambda: RecordingDigest(bytes(31), 0, bytes(32)),
        lambda: RecordingDigest(bytes(32), 0, bytes(33)),
        lambda: RecordingDigest(bytes(32), -1, bytes(32)),
        lambda: RecordingDigest(bytes(32), 1 << 63, bytes(32)),
    ],
)
def test_nothing_outside_its_range_can_be_built(make: Callable[[], object]) -> None:
    with pytest.raises(RejectedError, match=r"must|are|is"):
        make()


def test_what_was_not_measured_is_absent_and_zero_is_not() -> None:
    absent = record_of(Reading(CLOCK), LINK)
    zero = record_of(Reading(CLOCK, 0, 0, 0, Position(0, 0)), LINK)
    assert reading_of(absent).temperature_mcel is None
    assert reading_of(absent).position is None
    assert reading_of(zero) == Reading(CLOCK, 0, 0, 0, Position(0, 0))
    assert digest(absent) != digest(zero)


def test_each_reading_names_the_one_before() -> None:
    trip = Trip()
    for number in range(3):
        trip.record(reading(number))
    first, second, third = trip.records
    assert link_of(first).previous_sha256 == b""
    assert link_of(second).previous_sha256 == digest(first)
    assert link_of(third) == link_of(second).after(second)


def test_the_digest_is_that_of_the_bytes() -> None:
    record = record_of(Reading(CLOCK, 21_500), LINK)
    assert digest(record) == hashlib.sha256(record.SerializeToString()).digest()


def test_an_unknown_clock_or_flag_does_not_decode() -> None:
    record = record_of(Reading(CLOCK), LINK)
    record.tamper_flags = 1 << 31
    with pytest.raises(RejectedError, match="tamper flags must be"):
        reading_of(record)
    record = RecordReading.FromString(record_of(Reading(CLOCK), LINK).SerializeToString())
    record.clock.origin = 4  # type: ignore[assignment] # as a newer device would send
    with pytest.raises(RejectedError, match=r"clock origin must be 0\.\.3: 4"):
        reading_of(record)


def test_a_file_has_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    content = b"v" * (BLOB_BYTES + 5)
    path.write_bytes(content)
    leaves = leaf_hash(content[:BLOB_BYTES]) + leaf_hash(content[BLOB_BYTES:])
    root = hashlib.sha256(b"\x01" + leaves).digest()
    assert RecordingDigest.of_file(path) == RecordingDigest(
        hashlib.sha256(content).digest(), len(content), root
    )


def test_the_empty_file_is_defined(tmp_path: Path) -> None:
    path = tmp_path / "empty.mp4"
    path.write_bytes(b"")
    assert RecordingDigest.of_file(path) == RecordingDigest(EMPTY_ROOT, 0, EMPTY_ROOT)


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(RejectedError, match=f"recording {path}"):
            RecordingDigest.of_file(path)


def test_a_pseudo_file_id_tells_devices_and_names_apart() -> None:
    ids = {pseudo_file_id(device, name) for device in ("a", "b") for name in ("x.mp4", "y.mp4")}
    assert len(ids) == 4
    assert all(len(each) == 32 and "x" not in each for each in ids)
