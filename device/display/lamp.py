"""What a lamp shows for each mood: a colour, and a beat that says the same without a colour."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from device.display.shown import Mood


@dataclass(frozen=True, slots=True)
class Lamp:
    """What a lamp shows.

    Attributes:
        colour: Its name.
        red: Whether red is on, and so on.
        green: See `red`.
        blue: See `red`.
        on_s: Seconds that it is on.
        off_s: Seconds until it is on again; 0: it stays on.
    """

    colour: str
    red: bool
    green: bool
    blue: bool
    on_s: float
    off_s: float

    def __str__(self) -> str:
        """Return it in words, as the table in docs/device.md has them."""
        if not self.off_s:
            return f"{self.colour}, steady"
        return f"{self.colour}, {self.on_s:g} s on, {self.off_s:g} s off"


LAMPS: Final[Mapping[Mood, Lamp]] = {
    Mood.MAY_LEAVE: Lamp("green", red=False, green=True, blue=False, on_s=1.0, off_s=0.0),
    Mood.MUST_STAY: Lamp("yellow", red=True, green=True, blue=False, on_s=1.0, off_s=1.0),
    Mood.DEPARTING: Lamp("blue", red=False, green=False, blue=True, on_s=0.5, off_s=0.5),
    Mood.RECORDS: Lamp("blue", red=False, green=False, blue=True, on_s=0.1, off_s=2.9),
    Mood.TROUBLE: Lamp("red", red=True, green=False, blue=False, on_s=0.2, off_s=0.2),
}
"""Off altogether means that the agent does not run, or has no power."""
