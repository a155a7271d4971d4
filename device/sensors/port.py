"""Port: where samples come from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from contracts.records.reading import Position, Tamper


@dataclass(frozen=True, slots=True)
class Sample:
    """What the sensors measured, before the device adds clock and chain. None: not measured.

    Attributes:
        offset_ms: Milliseconds since the trip's start.
        temperature_mcel: Thousandths of a degree Celsius.
        humidity_mpct: Relative humidity, thousandths of a percent.
        pressure_pa: Pascal.
        position: Where the truck is.
        tamper: Signs of tampering at that moment.
    """

    offset_ms: int
    temperature_mcel: int | None = None
    humidity_mpct: int | None = None
    pressure_pa: int | None = None
    position: Position | None = None
    tamper: Tamper = Tamper.NONE


class SensorSource(Protocol):
    """Samples of one trip, in the order in which they were taken.

    Every call of `samples` yields the same samples: an interrupted trip is continued by
    skipping the recorded ones.
    """

    def samples(self) -> Iterator[Sample]:
        """Yield every sample once.

        Raises:
            RejectedError: The source is invalid; the message says where.
        """
        ...
