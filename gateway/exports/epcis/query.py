"""Which events are asked for, found page by page over the transformations and trips of a ledger.

Source: EPCIS 2.0, 8.2.7.1 (SimpleEventQuery); the values of one parameter are joined by `|`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Final, NamedTuple

from contracts.errors import RejectedError
from contracts.records.clock import parse_rfc3339
from contracts.text import quoted
from gateway.exports.epcis.eventhash import Event
from gateway.exports.epcis.gathering import EventGathering
from gateway.exports.epcis.ids import lots_of
from gateway.records.records import Records
from gateway.records.tripsabout import ANY_TRIP, TripsAbout

SUBJECTS_MAX: Final = 200
"""Transformations and trips that one page looks at; then it ends, though it may be short."""
_LISTS: Final = (
    "quantityList",
    "inputQuantityList",
    "outputQuantityList",
)


class QueryError(RejectedError):
    """A parameter of a query is not one that can be answered."""


class SubjectKind(StrEnum):
    """What events are about, in the order of the pages."""

    TRANSFORMATION = "transformations"
    TRIP = "trips"


class EventPlace(NamedTuple):
    """Where a page begins.

    Attributes:
        kind: What its first events are about.
        after: The place of the subject before, in the ledger's order of that kind.
        told: Events of the first subject that the page before had.
    """

    kind: SubjectKind
    after: int
    told: int

    @classmethod
    def parse(cls, token: str) -> "EventPlace":
        """Return the place that a page's token names.

        Raises:
            QueryError: It is no such token.
        """
        kind, _, rest = token.partition(".")
        after, _, told = rest.partition(".")
        if kind not in list(SubjectKind) or not (after.isdecimal() and told.isdecimal()):
            raise QueryError(f"expected nextPageToken of the page before, got {quoted(token)}")
        if len(after) + len(told) > len(str(1 << 62)):
            raise QueryError(f"nextPageToken {quoted(token)} is of no page")
        return cls(SubjectKind(kind), int(after), int(told))

    def __str__(self) -> str:
        return f"{self.kind}.{self.after}.{self.told}"


BEGIN: Final = EventPlace(SubjectKind.TRANSFORMATION, 0, 0)


@dataclass(frozen=True, slots=True)
class EventQuery:
    """What is asked for; an empty set asks for everything.

    Attributes:
        equal: Fields of an event, such as `bizStep`, and the values that they may have.
        since_ms: Events of this time or later.
        before_ms: Events before this time.
        classes: Events that name one of these classes of goods.
    """

    equal: dict[str, frozenset[str]] = field(default_factory=dict)
    since_ms: int | None = None
    before_ms: int | None = None
    classes: frozenset[str] = frozenset()

    def takes(self, event: Event) -> bool:
        """Say whether an event is asked for."""
        at_ms = parse_rfc3339(event["eventTime"])
        if self.since_ms is not None and at_ms < self.since_ms:
            return False
        if self.before_ms is not None and at_ms >= self.before_ms:
            return False
        if any(_value(event, name) not in wanted for name, wanted in self.equal.items()):
            return False
        return not self.classes or not self.classes.isdisjoint(_classes(event))


def page(
    records: Records, query: EventQuery, begin: EventPlace, count: int
) -> tuple[list[Event], EventPlace | None]:
    """Return up to `count` events that follow a place, and where the next page begins.

    It may return fewer although more follow. The order is the ledger's, transformations first.

    Raises:
        RejectedError: A trip has too much for a page.
    """
    found: list[Event] = []
    for looked_at, (here, events) in enumerate(_subjects(records, query, begin)):
        if looked_at == SUBJECTS_MAX:
            return found, here
        for number, event in enumerate(events):
            if number < here.told or not query.takes(event):
                continue
            if len(found) == count:
                return found, EventPlace(here.kind, here.after, number)
            found.append(event)
    return found, None


def _subjects(
    records: Records, query: EventQuery, begin: EventPlace
) -> Iterator[tuple[EventPlace, Iterable[Event]]]:
    """Yield what events are about, each with its place, and its events."""
    gathering = EventGathering(records)
    here = begin
    if here.kind is SubjectKind.TRANSFORMATION:
        while listed := records.lots.transformations(here.after, SUBJECTS_MAX):
            for at, record in listed:
                yield here, [gathering.of_transformation(record)]
                here = EventPlace(here.kind, at, 0)
        here = EventPlace(SubjectKind.TRIP, 0, 0)
    while trips := _trips(records, query, here.after):
        for at, trip_id in trips:
            yield here, gathering.of_trip(trip_id)
            here = EventPlace(here.kind, at, 0)


def _trips(records: Records, query: EventQuery, after: int) -> list[tuple[int, str]]:
    """Return the next trips with one of the classes that are asked for, each with its place."""
    lots = chain.from_iterable(map(lots_of, sorted(query.classes)))
    abouts = [TripsAbout(lot=each) for each in lots] if query.classes else [ANY_TRIP]
    found = {
        at: trip.start.trip_id
        for about in abouts
        for at, trip in records.trips.listed(after, SUBJECTS_MAX, about=about)
    }
    return sorted(found.items())[:SUBJECTS_MAX]


def _value(event: Event, name: str) -> str | None:
    value = event.get(name)
    return value["id"] if isinstance(value, dict) else value


def _classes(event: Event) -> Iterator[str]:
    for name in _LISTS:
        for each in event.get(name, ()):
            yield each["epcClass"]
