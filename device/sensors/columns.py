"""The rows of a sensor log: what each cell must contain.

Decimals are converted exactly, never through binary floating point. Digits finer than the
unit of a reading (0.001 Cel, 0.001 %, 1 Pa) are rounded half to even; times are rounded down
to 1 ms. A time without a zone is UTC. An empty cell means: not measured.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Final, Self
from zoneinfo import ZoneInfo

from contracts.errors import RejectedError
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import LATITUDE_E7, LONGITUDE_E7, RANGES, Position, Tamper
from device.sensors.header import Column, find_columns
from device.sensors.mapping import POSITION, LogOptions
from device.sensors.port import Sample
from device.sensors.times import read_time, zone_of
from device.sensors.units import PLACES, Unit

_MEASURES: Final = {quantity.name: quantity for quantity in QUANTITIES.values()}
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,12}([.,][0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")
_ABSENT: Final = frozenset(("n/a", "#n/a", "n.a.", "na", "nan", "null", "none", "nil", "-", "--"))
"""What stands for "not measured", besides an empty cell."""
_IF_ABSENT: Final = ": make the cell empty, or N/A, if it stands for `not measured`"
_SHOWN: Final = 40
_LIMITS: Final = {name: RANGES[quantity.field] for name, quantity in _MEASURES.items()} | {
    "latitude": (-LATITUDE_E7, LATITUDE_E7),
    "longitude": (-LONGITUDE_E7, LONGITUDE_E7),
}
"""What a reading takes, in its own units, by role."""
_CONTEXT: Final = Context(prec=160, rounding=ROUND_HALF_EVEN)
_TAMPER_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column of a log has which meaning.

    Attributes:
        names: The header as in the file, without blanks around the names.
        found: The column of each role that the log gives; always one of role `time`.
        zone: Of times that name none; None is UTC.
        marks: The decimal mark of each column so far, by role.
        noted: How often something was read that is worth a word.
    """

    names: tuple[str, ...]
    found: Mapping[str, Column]
    zone: ZoneInfo | None = None
    marks: dict[str, str] = field(default_factory=dict)
    noted: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, place: str, names: tuple[str, ...], options: LogOptions) -> Self:
        """Find the columns that the header `names` has; case does not matter.

        Raises:
            RejectedError: See `find_columns`.
        """
        zone = zone_of(options.timezone) if options.timezone else None
        return cls(names, find_columns(place, names, options), zone)

    def sample(self, place: str, cells: list[str]) -> Sample:
        """Return the sample in one row; its offset counts from the Unix epoch.

        Raises:
            RejectedError: Names the column, the expected and the actual value.
        """
        if len(cells) != len(self.names):
            raise RejectedError(
                f"{place}: expected {len(self.names)} columns as in the header, got {len(cells)}"
                + (
                    " (a decimal comma needs another --delimiter)"
                    if len(cells) > len(self.names)
                    else " (a cell is missing, or the line was cut)"
                )
            )
        values = {
            quantity.field: self._scaled(place, cells, name) for name, quantity in _MEASURES.items()
        }
        return Sample(
            self._time_ms(place, cells),
            **values,
            position=self._position(place, cells),
            tamper=self._motion(place, cells) | self._tamper(place, cells),
        )

    def _column(self, name: str) -> str:
        return f"column {self.found[name].name!r}" if name in self.found else "row"

    def _cell(self, cells: list[str], name: str) -> str:
        column = self.found.get(name)
        return "" if column is None else cells[column.index].strip()

    def _error(self, place: str, name: str, expected: str, text: str) -> RejectedError:
        column = self._column(name)
        return RejectedError(f"{place}, {column}: expected {expected}, got {text[:_SHOWN]!r}")

    def _scaled(self, place: str, cells: list[str], name: str) -> int | None:
        text = self._cell(cells, name)
        unit = self.found[name].unit if text else None
        if unit is None or self._is_absent(text):
            return None
        if not _NUMBER.fullmatch(text):
            raise RejectedError(f"{self._error(place, name, 'a decimal number', text)}{_IF_ABSENT}")
        mark = "," if "," in text else "." if "." in text else ""
        if mark and self.marks.setdefault(name, mark) != mark:
            raise self._error(place, name, f"the decimal mark {self.marks[name]!r} as above", text)
        value = _scaled(Decimal(text.replace(",", ".")), unit, PLACES[name])
        low, high = _LIMITS[name]
        if not low <= value <= high:
            least, most = (_shown(each, unit, PLACES[name]) for each in (low, high))
            expected = f"{name} within {least} to {most} {unit.symbol}"
            raise RejectedError(f"{self._error(place, name, expected, text)}{_IF_ABSENT}")
        return value

    def _is_absent(self, text: str) -> bool:
        absent = text.casefold() in _ABSENT
        self.noted["absent"] += absent
        return absent

    def _time_ms(self, place: str, cells: list[str]) -> int:
        text = self._cell(cells, "time")
        try:
            utc_ms, zoneless = read_time(text, self.zone)
        except ValueError as error:
            raise RejectedError(
                f"{place}, {self._column('time')}: {error}, got {text[:_SHOWN]!r}"
            ) from error
        self.noted["zoneless"] += zoneless
        return utc_ms

    def _position(self, place: str, cells: list[str]) -> Position | None:
        latitude, longitude = (self._scaled(place, cells, name) for name in POSITION)
        if latitude is None and longitude is None:
            return None
        if latitude is None or longitude is None:
            missing = "latitude" if latitude is None else "longitude"
            raise RejectedError(f"{place}: expected both latitude and longitude, got no {missing}")
        return Position(latitude, longitude)

    def _motion(self, place: str, cells: list[str]) -> Tamper:
        text = self._cell(cells, "motion")
        if text and self._is_absent(text):
            return Tamper.NONE
        if text not in ("", "0", "1"):
            raise self._error(place, "motion", "0 or 1", text)
        return Tamper.MOTION if text == "1" else Tamper.NONE

    def _tamper(self, place: str, cells: list[str]) -> Tamper:
        text = self._cell(cells, "tamper")
        if text.isascii() and text.isdigit() and len(text) <= _TAMPER_DIGITS:
            flags = int(text)
        else:
            names = [name.strip().upper() for name in text.split("|") if name.strip()]
            if not set(names) <= set(Tamper.__members__):
                known = "|".join(Tamper.__members__)
                raise self._error(place, "tamper", f"a number or names of {known}", text)
            flags = sum({Tamper[name].value for name in names})
        if flags > sum(Tamper):
            raise self._error(place, "tamper", f"flags within 0..{sum(Tamper)}", text)
        return Tamper(flags)


def _scaled(cell: Decimal, unit: Unit, places: int) -> int:
    """Return a cell in units of 10^-`places` of its quantity's own unit, rounded half to even."""
    exact = _CONTEXT.multiply(_CONTEXT.add(cell, unit.shift), Decimal(unit.factor))
    if unit.divisor != 1:
        exact = _CONTEXT.divide(exact, Decimal(unit.divisor))
    return int(_CONTEXT.scaleb(exact, places).to_integral_value(context=_CONTEXT))


def _shown(scaled: int, unit: Unit, places: int) -> str:
    """Return, to two decimals, the cell that `scaled` units of 10^-`places` come from."""
    exact = _CONTEXT.multiply(Decimal(scaled).scaleb(-places), Decimal(unit.divisor))
    cell = _CONTEXT.subtract(_CONTEXT.divide(exact, Decimal(unit.factor)), unit.shift)
    return f"{cell:.2f}".rstrip("0").rstrip(".")
