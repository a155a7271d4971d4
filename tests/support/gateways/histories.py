"""Histories of an index with old trips: blocks as they come, forks, moves; and all that it answers.

The same history is told to an index that never moves anything, whose answers are the right ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import (
    Clock,
    Limit,
    Position,
    RecordReading,
    RecordRun,
    Remark,
    RunReading,
    StartTrip,
)
from contracts.proto.state_pb2 import Breach, Finding, Remarked, TamperEvent
from contracts.rules.ids import Rule
from gateway.grants import Grant, GrantKind
from gateway.index.readings import NewReadings, new_readings
from gateway.index.store import IndexStore
from gateway.records.pages import Span
from gateway.records.records import Records
from gateway.records.tripsabout import Near, TripsAbout

TRIPS: Final = ("A", "B", "C", "D")
DEVICES: Final = ("truck-1", "truck-2", "stranger")
DAY_S: Final = 86_400
_BOOT: Final = bytes(range(16))


@dataclass(slots=True)
class Told:
    """One block of a history.

    Attributes:
        rows: By table.
        readings: The block's readings.
    """

    rows: dict[str, list[tuple[object, ...]]] = field(default_factory=dict)
    readings: list[NewReadings] = field(default_factory=list)


def begun() -> Told:
    """Return the first block: trips with two devices each."""
    told = Told()
    for trip_id in TRIPS:
        start = canonical(StartTrip(trip_id=trip_id, device_id="truck-1"))
        told.rows.setdefault("trips", []).append((trip_id, "truck-1", start, "tx", 0, 0))
        for device_id in DEVICES[:2]:
            told.rows.setdefault("trip_devices", []).append((device_id, trip_id, 0))
    return told


def run(told: Told, number: int, trip_id: str, device_id: str, first: int, count: int) -> None:
    """Add a run of readings to a block, or one alone, with what depends on their numbers.

    Args:
        told: The block.
        number: Of the block, which makes ids differ between forks if the caller wants that.
        trip_id: The trip.
        device_id: Whose readings.
        first: The first one's number in the chain.
        count: How many; one goes alone.
    """
    readings = [_reading(each) for each in range(first, first + count)]
    action: RecordReading | RecordRun
    if count == 1:
        action = RecordReading(trip_id=trip_id, device_id=device_id, sequence=first)
        action.MergeFromString(readings[0].SerializeToString())
    else:
        action = RecordRun(
            trip_id=trip_id, device_id=device_id, first_sequence=first, readings=readings
        )
    name = f"{number}/{len(told.readings)}/{trip_id}".encode()
    told.readings.append(new_readings(action, name.ljust(64, b".")))
    areas = told.rows.setdefault("trip_areas", [])
    places = [each.position for each in readings if each.HasField("position")]
    if places:
        south, north = (f(each.latitude_e7 for each in places) for f in (min, max))
        west, east = (f(each.longitude_e7 for each in places) for f in (min, max))
        areas.append((trip_id, south, west, north, east, number))


def _reading(sequence: int) -> RunReading:
    clock = Clock(
        utc_ms=sequence * 1000 + 7 * (sequence % 3),
        monotonic_ms=sequence * 1000,
        boot_id=_BOOT,
        origin=Clock.GNSS if sequence % 4 else Clock.NONE,
    )
    if sequence % 4:
        clock.error_ms = sequence
    reading = RunReading(clock=clock, temperature_mcel=4000 + 13 * sequence, derived=False)
    if sequence % 2:
        reading.position.CopyFrom(Position(latitude_e7=sequence * 10_000, longitude_e7=150_000_000))
    if sequence % 3 == 0:
        reading.tamper_flags = 1 + (sequence % 2)
        reading.humidity_mpct = 40_000 + sequence
    return reading


def happen(told: Told, number: int, trip_id: str, sequence: int) -> None:
    """Add signs, a breach, a finding and a corrected clock to a block."""
    event = TamperEvent(
        trip_id=trip_id, device_id="truck-1", sequence=sequence, utc_ms=sequence * 1000, flags=0
    )
    breach = Breach(
        trip_id=trip_id,
        device_id="truck-1",
        delivery_id="d",
        since_sequence=sequence,
        since_ms=5,
        until_sequence=sequence + 1,
    )
    breach.limit.quantity = Limit.TEMPERATURE_MCEL
    finding = Finding(transaction_id="00", sequence=sequence, rule=Rule.SIGNER_MISMATCH)
    said = Remarked(
        device_id="truck-1",
        sequence=sequence,
        clock=Clock(
            utc_ms=10**9, monotonic_ms=sequence * 1000, boot_id=_BOOT, origin=Clock.NTP, error_ms=1
        ),
        remark=Remark(kind=Remark.CLOCK_CORRECTED),
    )
    rows: dict[str, tuple[object, ...]] = {
        "tampers": (trip_id, canonical(event), number),
        "breaches": (trip_id, "d", f"{trip_id}{sequence}", canonical(breach), 5, None, number),
        "findings": (trip_id, canonical(finding), number),
        "remarks": (trip_id, Remark.CLOCK_CORRECTED, canonical(said), number),
    }
    for table, row in rows.items():
        told.rows.setdefault(table, []).append(row)


def add(store: IndexStore, number: int, told: Told, time_s: int, name: str = "") -> None:
    """Add a block to an index.

    Args:
        store: The index.
        number: The block's number.
        told: What it says.
        time_s: When it was begun.
        name: Differs for blocks of a fork.
    """
    block: dict[str, list[tuple[object, ...]]] = {
        "blocks": [(number, f"id {number} {name}", b"")],
        "block_times": [(number, time_s)],
    }
    store.add(block | told.rows, told.readings)


def answers(store: IndexStore, *, granted: bool = False) -> Iterator[object]:
    """Yield all that an index answers about its trips, in all ways to ask.

    Args:
        store: The index.
        granted: To a reader who may see two of the trips.
    """
    records = Records(store)
    if granted:
        records = records.granted(frozenset(Grant(GrantKind.TRIP, each) for each in "AC"))
    yield from _lists(records)
    for trip_id in TRIPS:
        if granted and trip_id not in "AC":
            yield _refused(records, trip_id)
        else:
            yield from of_trip(records, trip_id)


def of_trip(records: Records, trip_id: str) -> Iterator[object]:
    """Yield all that is answered about one trip."""
    trips = records.trips
    yield trips.get(trip_id)
    for newest_first in (False, True):
        for span in (Span(newest_first), Span(newest_first, 3000, 9000)):
            after = 0
            while page := trips.readings(trip_id, after, 4, span):
                yield page
                after = page[-1][0]
    for count in (1, 3, 1000):
        for device_id in ("", "truck-2", "stranger"):
            yield trips.bucketed(trip_id, count, device_id=device_id)
    yield trips.bucketed(trip_id, 2, Span(from_ms=2000, to_ms=8000))
    yield trips.tampers(trip_id, 0, 100)
    yield trips.remarks(trip_id, 0, 100)
    yield trips.findings(trip_id, 0, 100)
    yield trips.breaches(trip_id, 0, 100)
    yield trips.grounds(trip_id)
    for device_id in DEVICES:
        yield records.visits.trip_of(f"batch {trip_id}", device_id)


def _lists(records: Records) -> Iterator[object]:
    trips = records.trips
    for about in (
        TripsAbout(),
        TripsAbout(breached=True),
        TripsAbout(near=Near(0.005, 15.0, 700.0)),
        TripsAbout(near=Near(0.001, 15.0, 100.0), breached=True),
    ):
        for span in (Span(), Span(newest_first=True, from_ms=4000)):
            yield trips.listed(0, 100, about=about, span=span)
            page = trips.listed(0, 1, about=about, span=span)
            yield page
            if page:
                yield trips.listed(page[0][0], 2, about=about, span=span)
    yield trips.listed(0, 10, device_id="truck-1")
    yield trips.all_breaches(0, 100)


def _refused(records: Records, trip_id: str) -> Any:  # noqa: ANN401 - an answer of any type
    try:
        return records.trips.get(trip_id)
    except RejectedError as error:
        return str(error)
