"""What a log gives: which column as which quantity, in which unit, and how much of it."""

from dataclasses import dataclass, field, replace
from decimal import Decimal
from shlex import quote
from typing import Final

from contracts.records.quantity import QUANTITIES
from contracts.text import counted
from device.sensors.columns import Layout
from device.sensors.doubts import Doubts
from device.sensors.mapping import MEASURES, POSITION
from device.sensors.port import Sample
from device.sensors.units import UNITS

UNENDED: Final = "unended "
_HOT_MCEL: Final = 30_000
"""Cooled goods are never above it from end to end, and always are in degrees Fahrenheit."""
_FREEZING_MF: Final = 32_000
_MEASURED: Final = {quantity.name: quantity for quantity in QUANTITIES.values()}


@dataclass(slots=True)
class Contents:
    """Counts what the rows of a log give.

    Attributes:
        layout: The log's columns.
        tracked: Whether a track gives the positions instead of the log.
        values: Rows that give a quantity, by its name; `position` is one of them.
        ranges: Lowest and highest value of each measured quantity, in a reading's own units.
        rows: Rows so far.
        doubts: What is doubtful in them.
    """

    layout: Layout
    tracked: bool
    values: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys((*MEASURES, "position"), 0)
    )
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    rows: int = 0
    doubts: Doubts = field(default_factory=Doubts)

    def add(self, sample: Sample) -> None:
        """Count one row; its offset counts from the Unix epoch."""
        self.rows += 1
        self.doubts.add(replace(sample, position=None) if self.tracked else sample)
        for name in MEASURES:
            value: int | None = getattr(sample, _MEASURED[name].field)
            if value is not None:
                low, high = self.ranges.get(name, (value, value))
                self.values[name] += 1
                self.ranges[name] = min(low, value), max(high, value)
        self.values["position"] += sample.position is not None

    def document(self) -> dict[str, object]:
        """Return the columns for programs: what is used, and the names of those ignored."""
        return {
            "used": [
                {"column": name, "as": role, "unit": unit, "values": count}
                | {"range": self._range(role).strip() or None}
                for role, name, unit, count in self._used()
            ],
            "ignored": self._ignored(),
            "notes": self.notes(),
        }

    def lines(self) -> list[str]:
        """Return the same for people, a line for each column that is used, and one for the rest."""
        lines = []
        for role, name, unit, count in self._used():
            measured = "" if count is None else f", {counted(count, 'value')}{self._range(role)}"
            lines.append(f"{role}{f' [{unit}]' if unit else ''} from column {name!r}{measured}")
        ignored = ", ".join(map(repr, self._ignored())) or "none"
        return [*lines, f"ignored columns: {ignored}", *self.notes()]

    def notes(self) -> list[str]:
        """Return what was read otherwise than a plain CSV says it, and doubts, a line each."""
        noted, zone = self.layout.noted, self.layout.zone
        commas = [
            self.layout.found[role].name for role, mark in self.layout.marks.items() if mark == ","
        ]
        delimiters = [name[len("delimiter ") :] for name in noted if name.startswith("delimiter ")]
        lines = {
            f"delimiter {', '.join(map(repr, delimiters))}": delimiters != [","],
            f"decimal comma in {', '.join(map(repr, commas))}": bool(commas),
            f"{_are(noted['comments'], 'comment line')} ignored before the header": noted[
                "comments"
            ],
            f"{_are(noted['empty'], 'row')} without any value and ignored": noted["empty"],
            "a row of units below the header": noted["units"],
            f"{_are(noted['absent'], 'cell')} read as not measured, such as N/A": noted["absent"],
            f"{_are(noted['zoneless'], 'time')} without a zone and read as {zone or 'UTC'}"
            + ("" if zone else " (--timezone names another)"): noted["zoneless"],
        }
        read = [line for line, holds in lines.items() if holds]
        return [
            *read,
            *(name.removeprefix(UNENDED) for name in noted if name.startswith(UNENDED)),
            *self._missing(),
            *self._suspected(),
            *self.doubts.about_values({role: self._maps(role) for role in self.doubts.unusual}),
            *self.doubts.about_times(),
        ]

    def _missing(self) -> list[str]:
        return [
            f"{role}: {self.rows - count} of {self.rows} rows have none"
            for role, count in ((each, self.given(each)) for each in self.layout.found)
            if count is not None and count < self.rows and not self._replaced(role)
        ]

    def _suspected(self) -> list[str]:
        """Name temperatures that would all be odd in degrees Celsius, and not in Fahrenheit."""
        low, high = self.ranges.get("temperature", (0, 0))
        column = self.layout.found.get("temperature")
        as_celsius = column and column.unit == UNITS["temperature"][0]
        hot = low >= _HOT_MCEL and "temperature" not in self.doubts.unusual
        spoken = self.layout.noted["fahrenheit"]
        if not column or not as_celsius or not (hot or (spoken and self.values["temperature"])):
            return []
        why = "and a comment above the header speaks of Fahrenheit" if spoken else "hot for goods"
        read = [f"{(each - _FREEZING_MF) * 5 / 9000:.1f}" for each in (low, high)]
        option = quote(f"temperature/degF={column.name}")
        doubt = (
            f"temperature is{self._range('temperature')} in all rows, {why}: if the log is in "
            f"degrees Fahrenheit ({read[0]} to {read[1]} Cel), write --map {option}"
        )
        return [doubt]

    def _maps(self, role: str) -> str:
        column = self.layout.found[role]
        others = (each.symbol for each in UNITS[role] if each != column.unit)
        return " or ".join(f"--map {quote(f'{role}/{each}={column.name}')}" for each in others)

    def _used(self) -> list[tuple[str, str, str | None, int | None]]:
        return [
            (role, column.name, column.unit.symbol if column.unit else None, self.given(role))
            for role, column in self.layout.found.items()
            if not self._replaced(role)
        ]

    def given(self, role: str) -> int | None:
        """Return how many rows give `role`; None if that is not counted."""
        return self.values.get("position" if role in POSITION else role)

    def _range(self, role: str) -> str:
        if role not in self.ranges:
            return ""
        quantity = _MEASURED[role]
        low, high = (Decimal(each).scaleb(-quantity.places) for each in self.ranges[role])
        return f" from {low:f} to {high:f} {quantity.symbol}"

    def _ignored(self) -> list[str]:
        used = {
            column.index for role, column in self.layout.found.items() if not self._replaced(role)
        }
        return [name for index, name in enumerate(self.layout.names) if index not in used]

    def _replaced(self, role: str) -> bool:
        return self.tracked and role in POSITION


def _are(count: int, noun: str) -> str:
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'}"
