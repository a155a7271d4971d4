"""Times in a log: the forms that are read, and what a time without a zone means.

Times are rounded down to 1 ms. Refused is what two readers could take for two moments.
"""

import re
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from contracts.records.clock import UTC_MS_MAX, utc_ms_of

_TIME: Final = re.compile(
    r"(?:(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)"
    r"|(?P<day_1>\d\d)\.(?P<month_1>\d\d)\.(?P<year_1>\d{4}))"
    r"(?:T| +)(?P<minute>\d\d:\d\d)(?P<second>:\d\d)?(?:[.,](?P<fraction>\d{1,9}))?"
    r" ?(?P<zone>Z|z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)
_EPOCH_S: Final = re.compile(r"\d{9,10}(?:[.,]\d{1,9})?", re.ASCII)
_EPOCH_MS: Final = re.compile(r"\d{12,13}", re.ASCII)
_TWO_DAYS: Final = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4}\b.*", re.ASCII)
_COUNTED: Final = re.compile(r"\d{1,7}(?:[.,]\d*)?", re.ASCII)
_ALONE: Final = re.compile(r"\d{1,2}:\d\d.*|[-./\d]{8,10}", re.ASCII)


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone `name`, such as `Europe/Vienna`.

    Raises:
        ValueError: No time zone has this name.
    """
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise ValueError(
            f"expected a time zone of the IANA database, such as Europe/Vienna, got {name!r} "
            f"(the database is Debian's package tzdata)"
        ) from error


def read_time(text: str, zone: tzinfo | None) -> tuple[int, bool]:
    """Return UTC in milliseconds since the Unix epoch, and whether `text` names no zone.

    Args:
        text: A date and a time of day, or seconds or milliseconds since the epoch.
        zone: Of times that name none; None is UTC.

    Raises:
        ValueError: The message says what was expected.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return _epoch_ms(text), False
    try:
        moment = _moment(found)
        zoneless = moment.tzinfo is None
        if zoneless:
            moment = _placed(moment, zone) if zone else moment.replace(tzinfo=UTC)
        return _checked(utc_ms_of(moment)), zoneless
    except OverflowError as error:
        raise ValueError(_expected(text)) from error
    except ValueError as error:
        known = str(error).startswith("expected ")
        raise ValueError(str(error) if known else _expected(text)) from error


def _moment(found: re.Match[str]) -> datetime:
    parts = found.groupdict()
    year, month, day = (parts[name] or parts[f"{name}_1"] for name in ("year", "month", "day"))
    fraction = (parts["fraction"] or "0").ljust(6, "0")[:6]
    if parts["fraction"] and not parts["second"]:
        raise ValueError(_expected(found[0]))
    zone = parts["zone"] or ""
    zone = "+00:00" if zone in ("Z", "z", "UTC", "GMT") else zone
    second = parts["second"] or ":00"
    return datetime.fromisoformat(
        f"{year}-{month}-{day}T{parts['minute']}{second}.{fraction}{zone}"
    )


def _placed(moment: datetime, zone: tzinfo) -> datetime:
    """Return the one moment that a wall clock in `zone` shows."""
    first, second = (moment.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first
    gap = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != moment
    raise ValueError(
        f"expected a time that {zone} has once, not one which it has "
        f"{'never' if gap else 'twice'}, as clocks change (write the offset from UTC into the log)"
    )


def _epoch_ms(text: str) -> int:
    if _EPOCH_S.fullmatch(text):
        return int(Decimal(text.replace(",", ".")) * 1000)
    if _EPOCH_MS.fullmatch(text):
        return int(text)
    raise ValueError(_expected(text))


def _checked(utc_ms: int) -> int:
    if not 0 <= utc_ms <= UTC_MS_MAX:
        raise ValueError(utc_ms)
    return utc_ms


def _expected(text: str) -> str:
    expected = (
        "expected a time such as 2022-01-31 12:21:15, RFC 3339, or seconds or milliseconds since "
        "the epoch, between 1970 and 9999"
    )
    if _TWO_DAYS.fullmatch(text):
        return f"{expected}; day and month can be either way round here, write the year first"
    if _COUNTED.fullmatch(text):
        return (
            f"{expected}; a number that counts from the log's start, or a spreadsheet's days, "
            f"names no moment: write date and time of day into each row"
        )
    if _ALONE.fullmatch(text):
        return f"{expected}; join date and time of day in one column"
    return expected
