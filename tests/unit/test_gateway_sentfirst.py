"""Which offered recordings a site wants first: film of an excursion, and of a legal hold."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.proto.payload_pb2 import Remark
from contracts.records.reading import Tamper
from gateway.index.rebuilding import Rebuild
from gateway.intake.admission import admit_offer
from gateway.records.records import Records
from gateway.records.trips import Trips
from gateway.retention.sentfirst import sent_first
from support.evidence.chain import digest_of
from support.gateways.autoholds import FAR_S, desk_of_the_trip
from support.gateways.grounds import START_MS, excursion, named, readings, remarked, signs
from support.gateways.retention import Desk
from support.network.world import Trip, reading
from support.trucks.uploads import offer_of

DURING, APART = b"film of then", b"film of another time"
ON = Trip()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk where two films of one trip are announced."""
    with desk_of_the_trip(tmp_path) as made:
        made.block(named(ON.trip_id))
        seal_id = ON.whole([reading(0)])[-1].transactions[-1].header_signature
        for content, since_s in ((DURING, FAR_S), (APART, 0)):
            video = ON.video(digest_of(content), seal_id, START_MS + since_s * 1000)
            held, offer = admit_offer(offer_of(ON, content, video), "truck-1")
            made.inbox.add([held], [offer])
        yield made


def wanted(desk: Desk) -> list[bytes]:
    ids = [digest_of(each).sha256 for each in (APART, DURING)]
    found = sent_first(Records(desk.index), desk.inbox, ids)
    return [each for each in (APART, DURING) if digest_of(each).sha256 in found]


def test_film_of_an_excursion_is_wanted_first_once_the_ledger_knows_of_it(desk: Desk) -> None:
    assert wanted(desk) == []
    desk.block(excursion(ON.trip_id, FAR_S, FAR_S + 10))
    assert wanted(desk) == [DURING]


def test_all_film_of_a_trip_under_legal_hold_is_wanted_first(desk: Desk) -> None:
    desk.hold(ON.trip_id)
    assert wanted(desk) == [APART, DURING]
    desk.hold(ON.trip_id, released=True)
    assert wanted(desk) == []


def test_what_a_truck_knows_by_itself_it_need_not_hear(desk: Desk) -> None:
    desk.block(readings(ON.trip_id, signs(Tamper.DOOR_OPEN, Tamper.NONE)))
    assert wanted(desk) == []


def test_an_index_that_does_not_answer_orders_no_film_and_stops_no_offload(desk: Desk) -> None:
    desk.block(excursion(ON.trip_id, FAR_S, FAR_S + 10))
    desk.hold(ON.trip_id)
    desk.index.rebuild = Rebuild("a test asked for it", START_MS)
    assert wanted(desk) == []
    desk.index.rebuild = None
    assert wanted(desk) == [APART, DURING]


def test_a_trip_with_many_films_is_asked_for_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.block(excursion(ON.trip_id, FAR_S, FAR_S + 10))
    asked: list[str] = []
    for name in ("excursions", "holds_in_force"):
        ask = getattr(Trips, name)

        def counted(trips: Trips, trip_id: str, ask: Callable[..., list[Any]] = ask) -> list[Any]:
            asked.append(trip_id)
            return ask(trips, trip_id)

        monkeypatch.setattr(Trips, name, counted)
    assert wanted(desk) == [DURING]
    assert asked == [ON.trip_id] * 2


def test_a_block_may_come_while_excursions_are_looked_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = desk.index.query

    def interrupted(sql: str, *values: object) -> list[Any]:
        found = query(sql, *values)
        if "breaches" in sql:
            desk.block(excursion(ON.trip_id, FAR_S - 1000, FAR_S - 990))
        return found

    desk.block(excursion(ON.trip_id, FAR_S, FAR_S + 10))
    monkeypatch.setattr(desk.index, "query", interrupted)
    assert wanted(desk) == [DURING]


def test_an_offer_costs_no_pass_over_a_trip_whose_clock_was_corrected(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.block(excursion(ON.trip_id, FAR_S, FAR_S + 10))
    desk.block(remarked(ON.trip_id, Remark.CLOCK_CORRECTED, 60, amount_ms=3_600_000))
    passes: list[str] = []

    def noted(trip_id: str, *_: object) -> list[Any]:
        passes.append(trip_id)
        return []

    monkeypatch.setattr(desk.index, "of_trip", noted)
    assert Records(desk.index).trips.grounds(ON.trip_id)
    assert passes
    passes.clear()
    assert wanted(desk) == [DURING]
    assert passes == []


def test_film_whose_digest_nobody_can_read_may_show_any_excursion(desk: Desk) -> None:
    desk.block(excursion(ON.trip_id, FAR_S, FAR_S + 10))
    unknown = bytes(32)
    desk.offer(unknown, ON.trip_id)
    assert sent_first(Records(desk.index), desk.inbox, [unknown]) == [unknown]
