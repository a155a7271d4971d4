"""One reading: the claimed time, the values then, and their place in the device's chain.

Values are scaled integers with the unit in the name, since signed bytes must not
depend on how a machine rounds: 21.5 Cel is 21_500 mCel, 1013.6 hPa is
101_360 Pa, 57.5 % relative humidity is 57_500 m%.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Final, Self

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.ids import check_id, check_trip_id
from contracts.proto.payload_pb2 import Clock as ClockMessage
from contracts.proto.payload_pb2 import (
    FilmMoment,
    RecordReading,
    RecordRun,
    RunReading,
    SealedRecording,
)
from contracts.proto.payload_pb2 import Position as PositionMessage
from contracts.records.clock import UTC_MS_MAX
from contracts.records.remark import NOTHING_TOLD, Told

BOOT_ID_BYTES: Final = 16
MONOTONIC_MS_END: Final = 1 << 63
DIGEST_BYTES: Final = 32
SEQUENCE_END: Final = 1 << 63
RUN_READINGS_MAX: Final = 300
RANGES: Final = {
    "temperature_mcel": (-273_150, 1_000_000),
    "humidity_mpct": (0, 100_000),
    "pressure_pa": (0, 2_000_000),
}
LATITUDE_E7: Final = 900_000_000
LONGITUDE_E7: Final = 1_800_000_000
_ACCURACY_CM: Final = (1 << 32) - 1
ERROR_MS_MAX: Final = (1 << 32) - 1


class ClockOrigin(IntEnum):
    """Where the UTC time came from, weakest first."""

    NONE = 0
    RTC = 1
    NTP = 2
    GNSS = 3


@dataclass(frozen=True, slots=True)
class Clock:
    """The claimed UTC time, and a counter that no clock setting changes.

    Attributes:
        utc_ms: Milliseconds since the Unix epoch, UTC.
        monotonic_ms: Milliseconds since the device booted.
        boot_id: 16 bytes that change with every boot.
        origin: Where `utc_ms` came from.
        error_ms: By how much `utc_ms` may be wrong at most, as the device estimates it; None: it
            does not know. Since version 1.2 of the rules.

    Raises:
        RejectedError: A field is outside its range.
    """

    utc_ms: int
    monotonic_ms: int
    boot_id: bytes
    origin: ClockOrigin
    error_ms: int | None = None

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid clock exists."""
        if self.error_ms is not None and not 0 <= self.error_ms <= ERROR_MS_MAX:
            raise RejectedError(f"error_ms must be 0..{ERROR_MS_MAX}: {self.error_ms}")
        if not 0 <= self.utc_ms <= UTC_MS_MAX:
            raise RejectedError(f"utc_ms must be 0..{UTC_MS_MAX}: {self.utc_ms}")
        if not 0 <= self.monotonic_ms < MONOTONIC_MS_END:
            raise RejectedError(f"monotonic_ms must be 0..2^63-1: {self.monotonic_ms}")
        if len(self.boot_id) != BOOT_ID_BYTES:
            raise RejectedError(f"boot id must be {BOOT_ID_BYTES} bytes, got {len(self.boot_id)}")

    def message(self) -> ClockMessage:
        """Return the wire form."""
        return ClockMessage(
            utc_ms=self.utc_ms,
            monotonic_ms=self.monotonic_ms,
            boot_id=self.boot_id,
            origin=ClockMessage.Origin.Name(self.origin),
            error_ms=self.error_ms,
        )

    @classmethod
    def from_message(cls, message: ClockMessage) -> Self:
        """Take the wire form.

        Raises:
            RejectedError: A field is outside its range, or the origin is unknown.
        """
        try:
            origin = ClockOrigin(message.origin)
        except ValueError as error:
            raise RejectedError(f"clock origin must be 0..3: {message.origin}") from error
        error_ms = message.error_ms if message.HasField("error_ms") else None
        return cls(message.utc_ms, message.monotonic_ms, message.boot_id, origin, error_ms)


class Tamper(IntFlag):
    """Signs of tampering; several can hold at once. From 64 on: since version 1.2 of the rules."""

    NONE = 0
    ENCLOSURE_OPEN = 1
    DOOR_OPEN = 2
    MOTION = 4
    SHOCK = 8
    LIGHT = 16
    CAMERA_BLOCKED = 32
    SENSOR_UNPLUGGED = 64
    CLOCK_SET_BACK = 128
    REBOOTED = 256

    @property
    def names_for_people(self) -> list[str]:
        """The names of the signs in documents, such as `door-open`."""
        return [sign.name.lower().replace("_", "-") for sign in self if sign.name]


TAMPER_ALL: Final = sum(Tamper)
TAMPER_ALL_1_1: Final = 63
"""The signs that exist before version 1.2 of the rules."""


@dataclass(frozen=True, slots=True)
class Position:
    """A WGS 84 position.

    Attributes:
        latitude_e7: Degrees north times 10^7.
        longitude_e7: Degrees east times 10^7.
        accuracy_cm: Radius around the true place, centimetres; 0 when unknown.

    Raises:
        RejectedError: A field is outside its range.
    """

    latitude_e7: int
    longitude_e7: int
    accuracy_cm: int = 0

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid position exists."""
        if abs(self.latitude_e7) > LATITUDE_E7:
            raise RejectedError(f"latitude must be within 90 degrees: {self.latitude_e7 / 1e7}")
        if abs(self.longitude_e7) > LONGITUDE_E7:
            raise RejectedError(f"longitude must be within 180 degrees: {self.longitude_e7 / 1e7}")
        if not 0 <= self.accuracy_cm <= _ACCURACY_CM:
            raise RejectedError(f"accuracy_cm must be 0..{_ACCURACY_CM}: {self.accuracy_cm}")

    def message(self) -> PositionMessage:
        """Return the wire form."""
        return PositionMessage(
            latitude_e7=self.latitude_e7,
            longitude_e7=self.longitude_e7,
            accuracy_cm=self.accuracy_cm,
        )

    @classmethod
    def from_message(cls, message: PositionMessage) -> Self:
        """Take the wire form.

        Raises:
            RejectedError: Outside the ranges of latitude and longitude.
        """
        return cls(message.latitude_e7, message.longitude_e7, message.accuracy_cm)


@dataclass(frozen=True, slots=True)
class Reading:
    """One dataset. A quantity that was not measured is None, not zero.

    Attributes:
        clock: When the values were measured.
        temperature_mcel: Thousandths of a degree Celsius.
        humidity_mpct: Relative humidity, thousandths of a percent.
        pressure_pa: Pascal, hundredths of a hectopascal.
        position: Where they were measured.
        tamper: Signs of tampering at that moment.
        derived: The values were replayed or shifted in time, not measured here and now.
        told: What the device says of itself and of its films with this reading.

    Raises:
        RejectedError: A field is outside its range.
    """

    clock: Clock
    temperature_mcel: int | None = None
    humidity_mpct: int | None = None
    pressure_pa: int | None = None
    position: Position | None = None
    tamper: Tamper = Tamper.NONE
    derived: bool = False
    told: Told = NOTHING_TOLD

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid reading exists."""
        for name, (low, high) in RANGES.items():
            value: int | None = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise RejectedError(f"{name} must be {low}..{high}: {value}")
        if not 0 <= self.tamper <= TAMPER_ALL:
            raise RejectedError(f"tamper flags must be 0..{TAMPER_ALL}: {int(self.tamper)}")


@dataclass(frozen=True, slots=True)
class DeviceChain:
    """The readings of one device on one trip; its ids are checked once, here.

    Attributes:
        trip_id: 32 hexadecimal digits.
        device_id: The device that takes the readings.

    Raises:
        RejectedError: An invalid id.
    """

    trip_id: str
    device_id: str

    def __post_init__(self) -> None:
        """Check the ids, so that no invalid chain exists."""
        check_trip_id(self.trip_id)
        check_id("device", self.device_id)

    @property
    def first(self) -> "ChainLink":
        """The place of the first reading."""
        return ChainLink(self, 0, b"")


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A reading's place: its chain, its number, and the hash of the reading before.

    Attributes:
        chain: The device's chain on a trip.
        sequence: 0 for the device's first reading on the trip, then 1, 2, ...
        previous_sha256: `digest` of the reading before; empty for the first.

    Raises:
        RejectedError: A number outside its range, or a previous hash that does not fit the number.
    """

    chain: DeviceChain
    sequence: int
    previous_sha256: bytes

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid link exists."""
        if not 0 <= self.sequence < SEQUENCE_END:
            raise RejectedError(f"sequence must be 0..2^63-1: {self.sequence}")
        expected = DIGEST_BYTES if self.sequence else 0
        if len(self.previous_sha256) != expected:
            raise RejectedError(
                f"reading {self.sequence} must carry {expected} bytes of previous hash, "
                f"got {len(self.previous_sha256)}"
            )

    def after(self, record: RecordReading) -> Self:
        """Return the place that follows `record`, a reading of this chain."""
        return type(self)(self.chain, record.sequence + 1, digest(record))


def record_of(reading: Reading, link: ChainLink) -> RecordReading:
    """Return the action that records `reading` at `link`."""
    told = reading.told
    return RecordReading(
        trip_id=link.chain.trip_id,
        device_id=link.chain.device_id,
        sequence=link.sequence,
        previous_sha256=link.previous_sha256,
        clock=reading.clock.message(),
        temperature_mcel=reading.temperature_mcel,
        humidity_mpct=reading.humidity_mpct,
        pressure_pa=reading.pressure_pa,
        position=reading.position.message() if reading.position else None,
        tamper_flags=int(reading.tamper),
        derived=reading.derived,
        remarks=[each.message() for each in told.remarks],
        filmed=[SealedRecording(sha256=sha256, size=size) for sha256, size in told.filmed],
        film=[FilmMoment(pseudo_file_id=name, offset_ms=at_ms) for name, at_ms in told.film],
    )


def run_of(records: Sequence[RecordReading]) -> RecordRun:
    """Return one action for `records`, which are consecutive in one chain.

    Each reading is hashed and chained as if it came alone. So chains, seals and proofs do not
    depend on how a device groups its readings.
    """
    first = records[0]
    return RecordRun(
        trip_id=first.trip_id,
        device_id=first.device_id,
        first_sequence=first.sequence,
        previous_sha256=first.previous_sha256,
        readings=[_without_place(record) for record in records],
    )


def reading_of(record: RecordReading | RunReading) -> Reading:
    """Return the reading in a record or in one entry of a run.

    Raises:
        RejectedError: A field is outside its range.
    """
    return Reading(
        clock=Clock.from_message(record.clock),
        temperature_mcel=record.temperature_mcel if record.HasField("temperature_mcel") else None,
        humidity_mpct=record.humidity_mpct if record.HasField("humidity_mpct") else None,
        pressure_pa=record.pressure_pa if record.HasField("pressure_pa") else None,
        position=Position.from_message(record.position) if record.HasField("position") else None,
        tamper=_tamper_of(record.tamper_flags),
        derived=record.derived,
        told=Told.from_messages(record.remarks, record.filmed, record.film),
    )


def digest(record: RecordReading) -> bytes:
    """Return the SHA-256 of the canonical record, 32 bytes, which the next reading names."""
    return hashlib.sha256(canonical(record)).digest()


def _without_place(record: RecordReading) -> RunReading:
    """Drop a record's place; the other fields have equal numbers in both messages."""
    reading = RunReading.FromString(canonical(record))
    reading.DiscardUnknownFields()
    return reading


def _tamper_of(flags: int) -> Tamper:
    """Return the flags; checked first, since an IntFlag keeps every value it was ever made with."""
    if flags > TAMPER_ALL:
        raise RejectedError(f"tamper flags must be 0..{TAMPER_ALL}: {flags}")
    return Tamper(flags)
