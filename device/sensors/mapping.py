"""What the user says of a log: `--map QUANTITY=COLUMN` and `--without QUANTITY`."""

import shlex
from dataclasses import dataclass
from typing import Final, Self

from contracts.errors import RejectedError
from contracts.records.quantity import QUANTITIES
from device.sensors.units import UNITS, Unit

MEASURES: Final = tuple(quantity.name for quantity in QUANTITIES.values())
POSITION: Final = ("latitude", "longitude")
"""What a column may give of a position."""
ROLES: Final = ("time", *MEASURES, *POSITION, "motion", "tamper")
"""All that a column may give."""
ABSENT: Final = (*MEASURES, "position", "motion", "tamper")
"""All that a log may be without."""
DELIMITERS: Final = (",", ";", "|", "\t")
COLUMN_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """One `--map`: the column `column` gives `role`, in `unit`.

    Attributes:
        role: One of `ROLES`.
        column: The column's name, as in the header.
        unit: None if the user named none.
    """

    role: str
    column: str
    unit: Unit | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `QUANTITY=COLUMN` or `QUANTITY/UNIT=COLUMN`.

        Raises:
            ValueError: Neither, or an unknown quantity or unit.
        """
        left, equals, column = text.partition("=")
        role, slash, symbol = left.strip().partition("/")
        column = column.strip()
        if role not in ROLES or not equals or not 1 <= len(column) <= COLUMN_MAX:
            raise ValueError(
                f"expected QUANTITY=COLUMN or QUANTITY/UNIT=COLUMN, QUANTITY one of "
                f"{', '.join(ROLES)}, got {text!r}"
            )
        if not column.isprintable():
            raise ValueError(f"expected a column name of printable characters, got {column!r}")
        units = {unit.symbol: unit for unit in UNITS.get(role, ())}
        if slash and symbol not in units:
            known = ", ".join(units) or "none"
            raise ValueError(f"expected a unit of {role} ({known}), got {symbol!r} in {text!r}")
        return cls(role, column, units.get(symbol))

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        unit = f"/{self.unit.symbol}" if self.unit else ""
        return f"{self.role}{unit}={self.column}"


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How to read a log.

    Attributes:
        maps: Columns that the user mapped; each quantity and each column once.
        without: What the user says the log does not give.
        delimiter: Between two cells; None if the log itself says it.
        timezone: IANA name of the zone of times that name none; None is UTC.
        tracked: Whether a track gives the positions, so that the log's own do not count.
        aligned: Whether the track's times are the log's; else it is stretched over the trip.
        track_name: Of the tracks that count in the GPX file; None takes all.

    Raises:
        RejectedError: A quantity or column twice, or mapped and left out.
    """

    maps: tuple[ColumnMap, ...] = ()
    without: tuple[str, ...] = ()
    delimiter: str | None = None
    timezone: str | None = None
    tracked: bool = False
    aligned: bool = False
    track_name: str | None = None

    def __post_init__(self) -> None:
        """Check that no two options contradict each other."""
        for what, names in (
            ("quantity", [each.role for each in self.maps]),
            ("column", [each.column for each in self.maps]),
        ):
            for name in names:
                if names.count(name) > 1:
                    raise RejectedError(f"--map: expected each {what} once, got {name!r} twice")
        for each in self.maps:
            if absence_of(each.role) in self.without:
                raise RejectedError(f"--map {shlex.quote(str(each))} and --without: expected one")

    @classmethod
    def parse(
        cls,
        maps: tuple[str, ...],
        without: tuple[str, ...],
        delimiter: str | None = None,
        timezone: str | None = None,
        *,
        tracked: bool = False,
        aligned: bool = False,
        track_name: str | None = None,
    ) -> Self:
        """Read the options of the command line or of the settings.

        Raises:
            RejectedError: They contradict each other.
            ValueError: A map is malformed.
        """
        ordered = tuple(name for name in ABSENT if name in without)
        mapped = tuple(map(ColumnMap.parse, maps))
        separator = delimiter_of(delimiter) if delimiter else None
        return cls(mapped, ordered, separator, timezone, tracked, aligned, track_name)

    def leaves_out(self, role: str) -> bool:
        """Say whether a log without a column for `role` is what the user expects."""
        return self.leaves_out_by_word(role) or (self.tracked and role in POSITION)

    def leaves_out_by_word(self, role: str) -> bool:
        """Say whether the user says that the log does not give `role`."""
        return absence_of(role) in self.without

    def text(self) -> str:
        """Return the options that change what a log means, as on a command line."""
        maps = [word for each in self.maps for word in ("--map", str(each))]
        without = [word for name in self.without for word in ("--without", name)]
        separator = "tab" if self.delimiter == "\t" else self.delimiter
        form = ["--delimiter", separator] if separator else []
        zone = ["--timezone", self.timezone] if self.timezone else []
        align = ["--align", "time"] if self.aligned else []
        name = ["--track-name", self.track_name] if self.track_name else []
        return shlex.join([*maps, *without, *form, *zone, *align, *name])


PLAIN: Final = LogOptions()


def absence_of(role: str) -> str:
    """Return the word after `--without` for a log that does not give `role`."""
    return "position" if role in POSITION else role


def delimiter_of(text: str) -> str:
    """Return what separates cells: one of `,`, `;`, `|`, or `tab`.

    Raises:
        ValueError: It is something else.
    """
    delimiter = "\t" if text == "tab" else text
    if delimiter not in DELIMITERS:
        raise ValueError(f"expected `,`, `;`, `|` or `tab`, got {text!r}")
    return delimiter
