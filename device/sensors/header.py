"""Finds which column of a log gives what: by its exact name, or by `--map`.

A column whose name is only near to a quantity's is never used and never passed over in silence:
the error has the `--map` to write.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from contracts.errors import RejectedError
from device.sensors.mapping import MEASURES, ROLES, ColumnMap, LogOptions, absence_of
from device.sensors.units import UNITS, Unit, unit_in, words_of

TIME_NAMES: Final = ("date/time", "timestamp", "time")
_MEASURED: Final = (*MEASURES, "motion", "tamper")
_CLOSE: Final = 0.8
_NEAR: Final[Mapping[str, tuple[frozenset[str], tuple[str, ...]]]] = {
    role: (frozenset(words.split()), tuple(beginnings.split()))
    for role, words, beginnings in (
        ("time", "ts utc epoch zeit uhrzeit datum heure fecha hora", "time date"),
        ("temperature", "t tmp celsius fahrenheit °c °f", "temp temperatur temperature"),
        (
            "humidity",
            "h rh hum %rh feuchte luftfeuchte",
            "humid humidity feucht feuchte",
        ),
        ("pressure", "p hpa mbar druck", "press pressure baro luftdruck"),
        ("latitude", "lat breite", "latit breiten"),
        ("longitude", "lon lng long", "longit längen"),
        ("motion", "pir", "motion"),
        ("tamper", "sabotage", "tamper"),
    )
}
"""Words that a column's name may contain, and beginnings of words, by what it may give."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is used.

    Attributes:
        index: Its place, from 0.
        name: As in the header.
        unit: Of its cells; None for times, motion and tamper signs.
    """

    index: int
    name: str
    unit: Unit | None


def find_columns(place: str, header: Sequence[str], options: LogOptions) -> dict[str, Column]:
    """Return the column of each role that the log gives.

    Args:
        place: Where the header stands, for messages.
        header: The names, without blanks around them.
        options: What the user says of the log.

    Raises:
        RejectedError: No time, nothing measured, a name twice, a name that is near to a
            quantity's, or options that do not fit.
    """
    found = {each.role: _mapped(place, header, each) for each in options.maps}
    taken = {column.index for column in found.values()}
    for role in ROLES:
        if role not in found:
            places = [
                index
                for index, name in enumerate(header)
                if index not in taken and _is_named(role, name)
            ]
            if len(places) > 1:
                raise _twice(place, header, role, places)
            if places:
                found[role] = Column(places[0], header[places[0]], _own(role))
    taken = {column.index for column in found.values()}
    for role in ("motion", "tamper"):  # of the others, an empty column gives nothing
        if role in found and role in options.without:
            raise gives_all_the_same(place, found[role], role)
    _check_near(place, header, options, set(found), taken)
    _check_enough(place, header, set(found))
    return {role: found[role] for role in ROLES if role in found}


def gives_all_the_same(place: str, column: Column, role: str) -> RejectedError:
    """Return the error that a column gives what the user says the log is without."""
    absent = absence_of(role)
    return RejectedError(
        f"{place}: column {column.name!r} gives {role}: leave out --without {absent}"
    )


def _is_named(role: str, name: str) -> bool:
    return name.lower() in (TIME_NAMES if role == "time" else (role,))


def _own(role: str) -> Unit | None:
    return UNITS[role][0] if role in UNITS else None


def _mapped(place: str, header: Sequence[str], wanted: ColumnMap) -> Column:
    option = f"--map {shlex.quote(str(wanted))}"
    if header.count(wanted.column) != 1:
        raise RejectedError(
            f"{place}: {option}: expected one column {wanted.column!r}, "
            f"got {header.count(wanted.column)} in {_shown(header)}"
        )
    said = unit_in(wanted.role, words_of(wanted.column))
    if wanted.unit is None and said is not None and said != _own(wanted.role):
        right = ColumnMap(wanted.role, wanted.column, said)
        raise RejectedError(
            f"{place}: {option}: the column's name says {said.symbol}, expected "
            f"--map {shlex.quote(str(right))}"
        )
    return Column(header.index(wanted.column), wanted.column, wanted.unit or _own(wanted.role))


def _twice(place: str, header: Sequence[str], role: str, places: Sequence[int]) -> RejectedError:
    names = [header[index] for index in places]
    if role == "time" and len(set(names)) > 1:
        choice = " or ".join(f"--map {shlex.quote(f'time={name}')}" for name in names)
        return RejectedError(
            f"{place}: expected one column named Date/Time, Timestamp or Time, got "
            f"{len(names)}: write {choice}; the header is {_shown(header)}"
        )
    return RejectedError(
        f"{place}: expected column {role!r} once, got it more often in {_shown(header)}"
    )


def _check_near(
    place: str, header: Sequence[str], options: LogOptions, found: set[str], taken: set[int]
) -> None:
    """Refuse columns that may give what no column gives.

    Raises:
        RejectedError: With the maps to write.
    """
    free = [name for index, name in enumerate(header) if index not in taken]
    near: dict[str, list[str]] = {}
    for role in ROLES:
        if role not in found and not options.leaves_out(role):
            names = [name for name in free if _is_near(role, name)]
            near |= {role: names} if names else {}
            free = [name for name in free if name not in names]
    if not near:
        return
    maps = " ".join(_suggested(role, names[0]) for role, names in near.items())
    others = [_suggested(role, name) for role, names in near.items() for name in names[1:]]
    absent = dict.fromkeys(f"--without {absence_of(role)}" for role in near if role != "time")
    raise RejectedError(
        f"{place}: a column is used by its exact name only, or if you say so: write {maps}"
        + (f" (or else {', '.join(others)})" if others else "")
        + (f"; to record none of it write {' '.join(absent)}" if absent else "")
        + f"; the header is {_shown(header)}"
    )


def _suggested(role: str, name: str) -> str:
    unit = unit_in(role, words_of(name))
    return f"--map {shlex.quote(str(ColumnMap(role, name, unit if unit != _own(role) else None)))}"


def _is_near(role: str, name: str) -> bool:
    near, beginnings = _NEAR[role]
    return any(
        word in near
        or word.startswith(beginnings)
        or word.endswith(beginnings)
        or (role in MEASURES and SequenceMatcher(None, word, role).ratio() >= _CLOSE)
        for word in (word.rstrip("0123456789") for word in words_of(name))
    )


def _check_enough(place: str, header: Sequence[str], found: set[str]) -> None:
    if not header:
        raise RejectedError(f"{place}: expected a header, the file is empty")
    if "time" not in found:
        hint = "; lines above the header must begin with #, and --delimiter says what separates"
        raise RejectedError(
            f"{place}: expected one column named Date/Time, Timestamp or Time, or "
            f"--map time=COLUMN, got none in {_shown(header)}" + hint * (len(header) == 1)
        )
    if not found & set(_MEASURED):
        raise RejectedError(
            f"{place}: expected a column Temperature, Humidity, Pressure, Motion or Tamper, or "
            f"--map QUANTITY=COLUMN, got none in {_shown(header)}"
        )


def _shown(header: Sequence[str]) -> str:
    return repr(",".join(header))
