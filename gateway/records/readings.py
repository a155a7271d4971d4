"""Readings as questions get them from the index."""

from typing import Final, NamedTuple

from contracts.proto.payload_pb2 import Clock, Position, RecordReading

CLOCK_COLUMNS: Final = "utc_ms AS claimed_ms, monotonic_ms, boot_id, clock_origin, error_ms"
VALUE_COLUMNS: Final = (
    "temperature_mcel, humidity_mpct, pressure_pa, latitude_e7, longitude_e7, accuracy_cm,"
    " tamper_flags, derived"
)


class ClockRow(NamedTuple):
    """The clock of a reading: `CLOCK_COLUMNS`."""

    claimed_ms: int
    monotonic_ms: int
    boot_id: bytes
    clock_origin: int
    error_ms: int | None

    def message(self) -> Clock:
        """Return it as the device signed it."""
        return Clock(
            utc_ms=self.claimed_ms,
            monotonic_ms=self.monotonic_ms,
            boot_id=self.boot_id,
            origin=Clock.Origin.Name(self.clock_origin),
            error_ms=self.error_ms,
        )


CLOCK_WIDTH: Final = len(ClockRow._fields)


class ValueRow(NamedTuple):
    """What a reading says besides: `VALUE_COLUMNS`."""

    temperature_mcel: int | None
    humidity_mpct: int | None
    pressure_pa: int | None
    latitude_e7: int | None
    longitude_e7: int | None
    accuracy_cm: int | None
    tamper_flags: int
    derived: int

    def record(self, clock: Clock) -> RecordReading:
        """Return the reading, without its place in a chain and without remarks and films."""
        return RecordReading(
            clock=clock,
            temperature_mcel=self.temperature_mcel,
            humidity_mpct=self.humidity_mpct,
            pressure_pa=self.pressure_pa,
            position=None
            if self.latitude_e7 is None
            else Position(
                latitude_e7=self.latitude_e7,
                longitude_e7=self.longitude_e7,
                accuracy_cm=self.accuracy_cm,
            ),
            tamper_flags=self.tamper_flags,
            derived=bool(self.derived),
        )
