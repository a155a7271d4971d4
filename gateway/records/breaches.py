"""Breaches of deliveries' limits, with their times as claimed and as corrected."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from contracts.proto.state_pb2 import Breach
from gateway.index.store import IndexStore
from gateway.records.corrected import Place, corrected_times
from gateway.records.pages import Listed, Span, listed_by_time


@dataclass(frozen=True, slots=True)
class BreachRecord:
    """A breach in its latest state.

    Attributes:
        entry: The breach.
        since_corrected_ms: The time of its first reading by a clock that was right later,
            milliseconds; None if the claim stands.
        until_corrected_ms: That of its last reading likewise.
    """

    entry: Breach
    since_corrected_ms: int | None
    until_corrected_ms: int | None


def breaches(
    index: IndexStore, about: Mapping[str, str], after: int, count: int, span: Span
) -> Listed[BreachRecord]:
    """Return a page of breaches, by the time when each began; the last word on each.

    The arguments are those of `claimed_breaches`.

    Raises:
        RejectedError: The list has no such place.
    """
    return with_corrections(index, claimed_breaches(index, about, after, count, span))


def claimed_breaches(
    index: IndexStore, about: Mapping[str, str], after: int, count: int, span: Span
) -> Listed[Breach]:
    """Return a page of breaches with their claimed times alone.

    Corrected times take a pass over the trip if its clock was ever corrected.

    Args:
        index: The index to ask.
        about: Columns `trip_id` and `delivery_id` with what they must be; empty for all breaches.
        after: The place after which the page begins; 0 begins with the first breach.
        count: Items on the page, at most.
        span: What the claimed time from a breach's first reading outside to its last overlaps.

    Raises:
        RejectedError: The list has no such place.
    """
    where = " AND ".join(["TRUE", *(f"{column} = ?" for column in about)])
    # The first row of a breach is its place: later rows, which change it, leave that as it is.
    kept = f"SELECT min(rowid) AS at, max(rowid) AS newest FROM breaches WHERE {where}"  # noqa: S608
    sql = (
        f"SELECT at, since_ms AS utc_ms, until_ms, entry FROM ({kept} GROUP BY address)"  # noqa: S608
        f" JOIN breaches ON breaches.rowid = newest"
    )
    values = tuple(about.values())
    read = Breach.FromString
    return listed_by_time(index, sql, values, read, after=after, count=count, span=span)


def with_corrections(index: IndexStore, found: Listed[Breach]) -> Listed[BreachRecord]:
    """Add the corrected times to breaches."""
    places: defaultdict[str, set[Place]] = defaultdict(set)
    for _, each in found:
        places[each.trip_id] |= set(_places(each))
    times = {
        trip_id: corrected_times(index, trip_id, of_trip) for trip_id, of_trip in places.items()
    }
    return [
        (at, BreachRecord(each, *(times[each.trip_id].get(place) for place in _places(each))))
        for at, each in found
    ]


def _places(breach: Breach) -> tuple[Place, Place]:
    """Return its first and its last reading."""
    device_id = breach.device_id
    return (device_id, breach.since_sequence), (device_id, breach.until_sequence)
