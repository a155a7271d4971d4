"""Units of a log's columns.

The first unit of each quantity is the one that a column without a unit has.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from contracts.records.quantity import QUANTITIES

DEGREE_PLACES: Final = 7
_WORD: Final = re.compile(r"[^\W_]+|[°º%]\w*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: a cell of x means (x + shift) * factor / divisor of the quantity's own unit.

    Attributes:
        symbol: As `--map` and reports write it.
        spellings: How names of columns write it, in lower case.
        shift: Added first.
        factor: Multiplied then.
        divisor: Divided by last.
    """

    symbol: str
    spellings: frozenset[str] = frozenset()
    shift: Decimal = Decimal(0)
    factor: int = 1
    divisor: int = 1


def _unit(symbol: str, spellings: str, shift: str = "0", factor: int = 1, divisor: int = 1) -> Unit:
    return Unit(symbol, frozenset(spellings.split()), Decimal(shift), factor, divisor)


_DEGREES: Final = (_unit("deg", "° deg degrees"),)
UNITS: Final[Mapping[str, tuple[Unit, ...]]] = {
    "temperature": (
        _unit("Cel", "°c ºc c degc cel celsius centigrade grad"),
        _unit("degF", "°f ºf f degf fahrenheit", "-32", 5, 9),
        _unit("K", "°k k kelvin", "-273.15"),
    ),
    "humidity": (_unit("%", "% %rh pct percent prozent"), _unit("1", "fraction", factor=100)),
    "pressure": (
        _unit("hPa", "hpa mbar mb millibar"),
        _unit("Pa", "pa pascal", divisor=100),
        _unit("kPa", "kpa", factor=10),
        _unit("bar", "bar", factor=1000),
        _unit("inHg", "inhg", factor=3386389, divisor=100000),
    ),
    "latitude": _DEGREES,
    "longitude": _DEGREES,
}
"""The units that a column may have, by its quantity.

Source: NIST SP 811, appendix B.8 (inch of mercury).
"""

PLACES: Final[Mapping[str, int]] = {
    quantity.name: quantity.places for quantity in QUANTITIES.values()
} | {"latitude": DEGREE_PLACES, "longitude": DEGREE_PLACES}


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in lower case: `Temp_h (°C)` is temp, h, °c."""
    return [word.casefold() for word in _WORD.findall(name)]


def unit_in(role: str, words: list[str]) -> Unit | None:
    """Return the unit that a word of a column's name says; None if none does."""
    for unit in UNITS.get(role, ()):
        if not unit.spellings.isdisjoint(words):
            return unit
    return None
