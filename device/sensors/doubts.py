"""What in a log can be read and yet is doubtful: a gap, a clock that was not set, a wrong unit."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from contracts.records.clock import now_ms, rfc3339
from contracts.records.quantity import QUANTITIES
from device.sensors.port import Sample
from device.sensors.track import NO_FIX

_DAY_MS: Final = 86_400_000
_YEAR_2000_MS: Final = 946_684_800_000
_GAP_MS_MIN: Final = 60_000
_GAP_STEPS: Final = 10
_MEASURED: Final = {quantity.name: quantity for quantity in QUANTITIES.values()}
_USUAL: Final = {"temperature": (-100, 100), "humidity": (1, 100), "pressure": (300, 1100)}
"""What trucks meet on roads, in the quantities' own units. Outside are values in another unit, and
those that sensors give for `not measured`: -127 of a DS18B20, 0 hPa of a Sense HAT."""


@dataclass(slots=True)
class Doubts:
    """Counts what is doubtful in rows that are in order of time.

    Attributes:
        unusual: Rows with a value that no truck meets, by quantity.
        unplaced: Rows at latitude 0, longitude 0.
        repeated: Rows with the time of the row before.
    """

    unusual: dict[str, int] = field(default_factory=dict)
    unplaced: int = 0
    repeated: int = 0
    _rows: int = 0
    _first_ms: int = 0
    _last_ms: int = 0
    _gap: tuple[int, int] = (0, 0)

    def add(self, sample: Sample) -> None:
        """Count one row; its offset counts from the Unix epoch."""
        for name, (low, high) in _USUAL.items():
            quantity = _MEASURED[name]
            value: int | None = getattr(sample, quantity.field)
            scale = 10**quantity.places
            if value is not None and not low * scale <= value <= high * scale:
                self.unusual[name] = self.unusual.get(name, 0) + 1
        self.unplaced += sample.position == NO_FIX
        moment = sample.offset_ms
        if self._rows:
            self.repeated += moment == self._last_ms
            if moment - self._last_ms > self._gap[1] - self._gap[0]:
                self._gap = self._last_ms, moment
        else:
            self._first_ms = moment
        self._last_ms = moment
        self._rows += 1

    def about_times(self) -> list[str]:
        """Return what is doubtful about the rows' times, a line each."""
        since, until = self._gap
        others = max(self._rows - 2, 1)
        step_ms = (self._last_ms - self._first_ms - (until - since)) / others
        long = self._rows > 2 and until - since >= max(_GAP_MS_MIN, _GAP_STEPS * step_ms)  # noqa: PLR2004
        lines = {
            f"no row for {timedelta(milliseconds=until - since)}, from {rfc3339(since)} to "
            f"{rfc3339(until)}, while rows are about {step_ms / 1000:g} s apart: were readings "
            "lost, or was the clock set?": long,
            f"{self.repeated} rows have the same time as the row before them": self.repeated,
            f"times before 2000, from {rfc3339(self._first_ms)} on: was the clock not set yet?": (
                self._first_ms < _YEAR_2000_MS
            ),
            f"times in the future, to {rfc3339(self._last_ms)}: was the clock wrong, here or "
            "there?": self._last_ms > now_ms() + _DAY_MS,
        }
        return [line for line, holds in lines.items() if holds]

    def about_values(self, maps: dict[str, str]) -> list[str]:
        """Return what is doubtful about values, a line each.

        Args:
            maps: By quantity, the `--map` options that would read its column in other units.
        """
        lines = [
            f"{name} outside {_USUAL[name][0]} to {_USUAL[name][1]} {_MEASURED[name].symbol} in "
            f"{count} of {self._rows} rows: make a cell empty if it stands for `not measured`; if "
            f"the unit is another one, write {maps[name]}"
            for name, count in self.unusual.items()
        ]
        if self.unplaced:
            lines.append(
                f"latitude 0, longitude 0 in {self.unplaced} of {self._rows} rows, as receivers "
                "without a fix write it: make those cells empty"
            )
        return lines
