"""Port: where samples come from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from contracts.records.clock import Clock
from contracts.records.reading import Position, Reading, Tamper


@dataclass(frozen=True, slots=True)
class Sample:
    """What the sensors said, before the device adds clock and chain. None: not measured.

    Attributes:
        offset_ms: Milliseconds since the trip's start.
        temperature_mcel: Thousandths of a degree Celsius.
        humidity_mpct: Relative humidity, thousandths of a percent.
        pressure_pa: Pascal.
        position: Where.
        tamper: Signs of tampering at that moment.
    """

    offset_ms: int
    temperature_mcel: int | None = None
    humidity_mpct: int | None = None
    pressure_pa: int | None = None
    position: Position | None = None
    tamper: Tamper = Tamper.NONE

    def reading(self, clock: Clock, position: Position | None, *, derived: bool) -> Reading:
        """Return the reading at `clock` and `position`.

        Raises:
            RejectedError: A value is outside its range.
        """
        return Reading(
            clock,
            temperature_mcel=self.temperature_mcel,
            humidity_mpct=self.humidity_mpct,
            pressure_pa=self.pressure_pa,
            position=position,
            tamper=self.tamper,
            derived=derived,
        )


class SensorSource(Protocol):
    """Samples of one trip, in the order in which they were taken.

    Calling `samples` again yields the same samples again, so that an
    interrupted trip is continued by skipping those already recorded.
    """

    def samples(self) -> Iterator[Sample]:
        """Yield every sample once.

        Raises:
            RejectedError: The source is broken; the message says where.
        """
        ...
