"""Port: one live sensor, which measures when it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from contracts.records.reading import Position, Tamper

MOMENTS: Final = Tamper.SHOCK | Tamper.MOTION
"""Signs of a moment: another one is news, although the reading before had one."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a sensor measured at one moment.

    Attributes:
        quantities: Those that it gives and has a value of now, by their names: `temperature_mcel`,
            thousandths of a degree Celsius; `humidity_mpct`, thousandths of a percent relative;
            `pressure_pa`, pascal.
        position: Where the truck is; None if it does not know.
        tamper: Signs that hold now, or held at some time since the sensor was asked last.
        note: What a technician may want to know besides, in words; it is not recorded.
    """

    quantities: Mapping[str, int] = field(default_factory=dict)
    position: Position | None = None
    tamper: Tamper = Tamper.NONE
    note: str = ""


class Sensor(Protocol):
    """One sensor. Only the thread that opened it asks it."""

    def measure(self) -> Measured:
        """Measure now; may take as long as the sensor needs.

        Raises:
            UnavailableError: It does not answer; the message says what to do about it.
            RejectedError: It answers nonsense; the message says what came.
        """
        ...

    def close(self) -> None:
        """Release it; never raises."""
        ...
