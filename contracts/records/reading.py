"""One reading: the sensors' values at one moment, and their place in the device's chain.

Values are scaled integers with the unit in the name, since signed bytes must not
depend on how a machine rounds: 21.5 Cel is 21_500 mCel, 1013.6 hPa is
101_360 Pa, 57.5 % relative humidity is 57_500 m%.
"""

import hashlib
from dataclasses import dataclass
from enum import IntFlag
from typing import Final, Self

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.ids import check_id, check_trip_id
from contracts.proto.payload_pb2 import Position as PositionMessage
from contracts.proto.payload_pb2 import RecordReading, RunReading
from contracts.records.clock import Clock

DIGEST_BYTES: Final = 32
SEQUENCE_END: Final = 1 << 63
RANGES: Final = {
    "temperature_mcel": (-273_150, 1_000_000),
    "humidity_mpct": (0, 100_000),
    "pressure_pa": (0, 2_000_000),
}
LATITUDE_E7: Final = 900_000_000
LONGITUDE_E7: Final = 1_800_000_000
_ACCURACY_CM: Final = (1 << 32) - 1


class Tamper(IntFlag):
    """Signs of tampering; several can hold at once."""

    NONE = 0
    ENCLOSURE_OPEN = 1
    DOOR_OPEN = 2
    MOTION = 4
    SHOCK = 8
    LIGHT = 16
    CAMERA_BLOCKED = 32


TAMPER_ALL: Final = sum(Tamper)


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

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid reading exists."""
        for name, (low, high) in RANGES.items():
            value: int | None = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise RejectedError(f"{name} must be {low}..{high}: {value}")
        if not 0 <= self.tamper <= TAMPER_ALL:
            raise RejectedError(f"tamper flags must be 0..{TAMPER_ALL}: {int(self.tamper)}")


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A reading's place: its chain, its number, and the hash of the reading before.

    Attributes:
        trip_id: 32 hexadecimal digits.
        device_id: The device that took the reading.
        sequence: 0 for the device's first reading on the trip, then 1, 2, ...
        previous_sha256: `digest` of the reading before; empty for the first.

    Raises:
        RejectedError: An invalid id, or a previous hash that does not fit the number.
    """

    trip_id: str
    device_id: str
    sequence: int
    previous_sha256: bytes

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid link exists."""
        check_trip_id(self.trip_id)
        check_id("device", self.device_id)
        if not 0 <= self.sequence < SEQUENCE_END:
            raise RejectedError(f"sequence must be 0..2^63-1: {self.sequence}")
        expected = DIGEST_BYTES if self.sequence else 0
        if len(self.previous_sha256) != expected:
            raise RejectedError(
                f"reading {self.sequence} must carry {expected} bytes of previous hash, "
                f"got {len(self.previous_sha256)}"
            )

    def after(self, record: RecordReading) -> Self:
        """Return the place that follows `record`."""
        return type(self)(self.trip_id, self.device_id, record.sequence + 1, digest(record))


def record_of(reading: Reading, link: ChainLink) -> RecordReading:
    """Return the action that records `reading` at `link`."""
    return RecordReading(
        trip_id=link.trip_id,
        device_id=link.device_id,
        sequence=link.sequence,
        previous_sha256=link.previous_sha256,
        clock=reading.clock.message(),
        temperature_mcel=reading.temperature_mcel,
        humidity_mpct=reading.humidity_mpct,
        pressure_pa=reading.pressure_pa,
        position=reading.position.message() if reading.position else None,
        tamper_flags=int(reading.tamper),
        derived=reading.derived,
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
    )


def digest(record: RecordReading) -> bytes:
    """Return the SHA-256 of the canonical record, 32 bytes, which the next reading names."""
    return hashlib.sha256(canonical(record)).digest()


def _tamper_of(flags: int) -> Tamper:
    """Return the flags; checked first, since an IntFlag keeps every value it was ever made with."""
    if flags > TAMPER_ALL:
        raise RejectedError(f"tamper flags must be 0..{TAMPER_ALL}: {flags}")
    return Tamper(flags)
