"""The form of a log: what comes before its header, what separates its cells, a row of units."""

import csv
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from contracts.errors import RejectedError
from device.sensors.header import Column
from device.sensors.lines import cells_of
from device.sensors.mapping import DELIMITERS, ColumnMap
from device.sensors.units import UNITS, unit_in, words_of

COMMENT: Final = "#"
_FAHRENHEIT: Final = UNITS["temperature"][1].spellings - {"f"}
"""What a comment says of it; an F alone may be anything there."""
_SEP: Final = re.compile(r'"?sep=(.)"?', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """How the lines of a log are split into cells.

    Attributes:
        delimiter: Between two cells.
        header: The names of the columns.
        number: Line of the header, from 1.
        comments: Lines before the header that begin with `#`.
        fahrenheit: How many of them speak of degrees Fahrenheit.
    """

    delimiter: str
    header: tuple[str, ...]
    number: int
    comments: int
    fahrenheit: int = 0

    @classmethod
    def of(cls, path: object, lines: Iterator[tuple[int, str]], delimiter: str | None) -> Self:
        """Read `lines` up to the header.

        Args:
            path: Of the file, for messages.
            lines: Number and text of each line that is not blank.
            delimiter: As the user named it; None takes `sep=`, or what splits the header most.

        Raises:
            RejectedError: The header is not CSV.
        """
        comments, fahrenheit, named = 0, 0, delimiter
        for number, line in lines:
            found = _SEP.fullmatch(line.strip("\r "))
            if found and number == comments + 1:
                named = named or found[1]
            elif line.startswith(COMMENT):
                comments += 1
                fahrenheit += not _FAHRENHEIT.isdisjoint(words_of(line))
            else:
                place = f"{path}: line {number}"
                chosen = named or max(DELIMITERS, key=lambda each: _count(line, each))
                names = tuple(name.strip() for name in cells_of(place, line, chosen))
                return cls(chosen, names, number, comments, fahrenheit)
        return cls(named or ",", (), 1, comments)


def is_row_of_units(
    place: str, cells: Sequence[str], width: int, found: Mapping[str, Column]
) -> bool:
    """Say whether the first row names the units of the columns, and check that they are ours.

    Raises:
        RejectedError: A column has another unit; the message has the `--map` to write.
    """
    if len(cells) != width or any(letter.isdigit() for letter in cells[found["time"].index]):
        return False
    said = {
        role: unit_in(role, words_of(cells[column.index]))
        for role, column in found.items()
        if role in UNITS
    }
    if not any(said.values()):
        return False
    for role, unit in said.items():
        column, cell = found[role], cells[found[role].index].strip()
        if unit is None and cell:
            known = ", ".join(each.symbol for each in UNITS[role])
            raise RejectedError(
                f"{place}, column {column.name!r}: expected a unit of {role} ({known}), "
                f"got {cell!r}"
            )
        if unit is not None and unit != column.unit:
            right = shlex.quote(str(ColumnMap(role, column.name, unit)))
            raise RejectedError(
                f"{place}, column {column.name!r}: the row of units says {cell!r}: "
                f"write --map {right}"
            )
    return True


def _count(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter, strict=True), []))
    except csv.Error:
        return 0
