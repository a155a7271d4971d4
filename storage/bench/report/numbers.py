"""Figures for people: three significant digits, SI prefixes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Final

from storage.bench.run.document import Document
from storage.bench.run.outcome import PER_JOULE

DIGITS: Final = 3
_PREFIXES: Final = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T"}
_PREFIXED: Final = ("B", "s", "J", "W", "1/", "Hz", "bit")
"""Beginnings of units that take a prefix; money and ratios take none."""
_COUNTED: Final = {
    **dict.fromkeys(("highest-rate", "committed-rate", "committed-max", "executed-rate"), "tx"),
    **dict.fromkeys(("roomy-committed-rate", "limited-committed-rate"), "tx"),
    **dict.fromkeys(("readings-rate", "readings"), "readings"),
    **dict.fromkeys(("read-operations", "write-operations"), "operations"),
    "sign": "signatures",
    "verify": "verifications",
    "events": "events",
}
"""By metric, the things that a figure of unit 1/s counts."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit with a prefix that suits some figures.

    Attributes:
        factor: Divides values.
        label: As in `MB/s`; empty for a plain number.
    """

    factor: float
    label: str

    def number(self, value: float) -> str:
        """Return a value in this unit, without it."""
        return digits(value / self.factor)

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{self.number(value)} {self.label}".strip()

    def interval(self, figure: Document) -> str:
        """Return the interval of a figure in this unit, without it."""
        low, high = (self.number(figure[each]) for each in ("low", "high"))
        return low if low == high else f"{low} to {high}"


def unit_of(figure: Document) -> str:
    """Return the unit of a figure in words: `tx/s` for the plain `1/s` of the result."""
    unit: str = figure["unit"]
    counted = _COUNTED.get(figure["metric"].split(PER_JOULE)[0])
    return f"{counted}{unit[1:]}" if counted and unit.startswith("1/") else unit


def scale(values: Sequence[float], unit: str) -> Scale:
    """Return the unit that suits the largest of some values."""
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    counted = unit.partition("/")[0] in _COUNTED.values()
    if largest == 0 or not (counted or unit.startswith(_PREFIXED)):
        return Scale(1.0, "" if unit == "1" else unit)
    power = floor(log10(_rounded(largest)) / 3)
    lowest = 0 if counted else min(_PREFIXES)
    power = min(max(power, lowest), 0 if unit == "s" else max(_PREFIXES))
    bare = unit.removeprefix("1") if unit.startswith("1/") else unit
    space = " " if counted and power else ""
    return Scale(1000.0**power, f"{_PREFIXES[power]}{space}{bare}")


def text(value: float, unit: str) -> str:
    """Return a value with the unit that suits it."""
    return scale([value], unit).text(value)


def digits(value: float) -> str:
    """Return three significant digits, with commas, and an exponent only for extreme values."""
    if not isfinite(value):
        return str(value)
    rounded = _rounded(value)
    if rounded == 0:
        return "0"
    power = floor(log10(abs(rounded)))
    if not -DIGITS <= power <= 2 * DIGITS:
        return f"{rounded:.{DIGITS - 1}e}"
    return f"{rounded:,.{max(DIGITS - 1 - power, 0)}f}"


def digits_short(value: float) -> str:
    """Return a number without trailing zeros."""
    shown = digits(value)
    return shown.rstrip("0").rstrip(".") if "." in shown and "e" not in shown else shown


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS - 1}e}")
