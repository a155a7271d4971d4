"""A trip's readings summed up for a chart: lowest, mean and highest value of each bucket of time.

A mean alone would hide the one reading that was a breach. A bucket without a reading stays empty,
so that a chart breaks its line there instead of drawing over the gap.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gateway.index.store import IndexStore
from gateway.records.pages import Span
from gateway.records.registry import unknown

BUCKETS_MAX: Final = 2000
_GAP: Final = 3
"""Between single readings, a silence of so many median steps is a gap."""
_FROM: Final = """
FROM readings WHERE trip_id = ?1 AND utc_ms >= ?2 AND utc_ms < ?3 AND (device_id = ?4 OR (?4 = ''
AND device_id IN (SELECT device_id FROM trip_devices WHERE trip_id = ?1)))
"""
"""Strangers may write about any trip: without a device that is asked for, only its own count."""
_Asked = tuple[str, int, int, str]
"""What `_FROM` takes: the trip, the span, and a device or ""."""
_VALUES: Final = ", ".join(
    f"min({each}), avg({each}), max({each})"
    for each in ("temperature_mcel", "humidity_mpct", "pressure_pa")
)


@dataclass(frozen=True, slots=True)
class Summary:
    """The values of one quantity in a bucket, in the unit of its field; None: not measured."""

    low: int | None
    mean: float | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """What was read within a part of the time.

    Attributes:
        since_ms: Its beginning; of a single reading, its time.
        readings: How many; 0: a gap.
        temperature: In 1/1000 degree Celsius.
        humidity: In 1/1000 per cent.
        pressure: In pascal.
        tamper: Every tamper flag of its readings.
        position: Latitude and longitude in 1e-7 degree, of its first reading that has one.
    """

    since_ms: int
    readings: int
    temperature: Summary
    humidity: Summary
    pressure: Summary
    tamper: int
    position: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class BucketedReadings:
    """The readings of a trip in buckets.

    Attributes:
        from_ms: Time of the first reading.
        until_ms: Time of the last one.
        readings: How many there are.
        width_ms: Of a bucket; 0: each bucket is one reading.
        buckets: In the order of time.
    """

    from_ms: int
    until_ms: int
    readings: int
    width_ms: int
    buckets: tuple[Bucket, ...]


_NOTHING: Final = Summary(None, None, None)


def bucketed(
    index: IndexStore, trip_id: str, count: int, span: Span, device_id: str = ""
) -> BucketedReadings:
    """Sum up a trip's readings.

    Args:
        index: The index to ask.
        trip_id: The trip.
        count: Buckets, at most.
        span: The time that is asked for.
        device_id: Whose readings; empty: of every device that the trip's start names.

    Raises:
        NotOnLedgerError: There is no such trip.
    """
    if not index.query("SELECT 1 FROM trips WHERE trip_id = ?", trip_id):
        raise unknown("trip", trip_id)
    asked = (trip_id, span.from_ms, span.to_ms, device_id)
    ((first_ms, last_ms, readings),) = index.of_trip(
        trip_id,
        f"SELECT min(utc_ms), max(utc_ms), count(*) {_FROM}",
        *asked,
    )
    if not readings:
        return BucketedReadings(0, 0, 0, 0, ())
    if readings <= count:
        return BucketedReadings(first_ms, last_ms, readings, 0, _single(index, asked))
    width_ms = (last_ms - first_ms) // count + 1
    found = _summed(index, asked, first_ms, width_ms)
    many = (last_ms - first_ms) // width_ms + 1
    whole = tuple(found.get(at) or _gap(first_ms + at * width_ms) for at in range(many))
    return BucketedReadings(first_ms, last_ms, readings, width_ms, whole)


def _summed(index: IndexStore, asked: _Asked, first_ms: int, width_ms: int) -> dict[int, Bucket]:
    number = f"(utc_ms - {first_ms}) / {width_ms}"
    rows = index.of_trip(
        asked[0],
        f"SELECT {number} AS bucket, count(*), {_VALUES}, max(tamper_flags),"
        f" min(CASE WHEN latitude_e7 IS NOT NULL THEN position END) {_FROM} GROUP BY bucket",
        *asked,
    )
    flagged = any(row[-2] for row in rows)
    tampers = _tampers(index, asked, number) if flagged else defaultdict(int)
    places = _places(index, asked[0], [row[-1] for row in rows if row[-1] is not None])
    return {
        row[0]: Bucket(
            first_ms + row[0] * width_ms,
            row[1],
            Summary(*row[2:5]),
            Summary(*row[5:8]),
            Summary(*row[8:11]),
            tampers[row[0]],
            places.get(row[-1]),
        )
        for row in rows
    }


def _tampers(index: IndexStore, asked: _Asked, number: str) -> dict[int, int]:
    found: dict[int, int] = defaultdict(int)
    for bucket, flags in index.of_trip(
        asked[0],
        f"SELECT DISTINCT {number}, tamper_flags {_FROM} AND tamper_flags <> 0",
        *asked,
    ):
        found[bucket] |= flags
    return found


def _places(index: IndexStore, trip_id: str, positions: list[int]) -> dict[int, tuple[int, int]]:
    marks = ",".join(map(str, positions))
    rows = index.of_trip(
        trip_id,
        "SELECT position, latitude_e7, longitude_e7 FROM readings"  # noqa: S608
        f" WHERE trip_id = ? AND position IN ({marks})",
        trip_id,
    )
    return {at: (latitude, longitude) for at, latitude, longitude in rows}


def _single(index: IndexStore, asked: _Asked) -> tuple[Bucket, ...]:
    """Return a bucket for each reading, and an empty one within each gap."""
    rows = index.of_trip(
        asked[0],
        "SELECT utc_ms, temperature_mcel, humidity_mpct, pressure_pa, tamper_flags, latitude_e7,"
        f" longitude_e7 {_FROM} ORDER BY utc_ms, position",
        *asked,
    )
    steps = sorted(after[0] - before[0] for before, after in pairwise(rows))
    longest_ms = _GAP * steps[len(steps) // 2] if steps else 0
    found: list[Bucket] = []
    for utc_ms, temperature, humidity, pressure, tamper, latitude, longitude in rows:
        if found and 0 < longest_ms < utc_ms - found[-1].since_ms:
            found.append(_gap(found[-1].since_ms + longest_ms // _GAP))
        place = None if latitude is None else (latitude, longitude)
        of = [Summary(each, each, each) for each in (temperature, humidity, pressure)]
        found.append(Bucket(utc_ms, 1, of[0], of[1], of[2], tamper, place))
    return tuple(found)


def _gap(since_ms: int) -> Bucket:
    return Bucket(since_ms, 0, _NOTHING, _NOTHING, _NOTHING, 0, None)
