"""Film of what went wrong is held by itself: which film, and from when to when."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.proto.payload_pb2 import Remark
from contracts.records.reading import Tamper
from gateway.records.ground import Ground
from gateway.records.records import Records
from gateway.records.trips import Trips
from gateway.retention import autoholds
from gateway.retention.deletions import DeletionState
from support.gateways.autoholds import (
    FAR_S,
    MARGIN_S,
    TRIP,
    desk_of_the_trip,
    end,
    held,
    holds,
    is_kept,
    run,
)
from support.gateways.grounds import (
    Rows,
    excursion,
    film,
    readings,
    remarked,
    signs,
    tampered,
)
from support.gateways.retention import Desk, recording, trip


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with desk_of_the_trip(tmp_path) as made:
        yield made


def test_film_of_an_excursion_stays_and_its_neighbour_goes(desk: Desk) -> None:
    during = desk.settled(1, TRIP, film=film(FAR_S))
    apart = desk.settled(2, TRIP, film=film(0))
    desk.receipt(TRIP, during, apart)
    other = desk.settled(3, trip(2), film=film(FAR_S))
    desk.block(excursion(TRIP, FAR_S + 30, FAR_S + 40))
    run(desk)
    assert [is_kept(desk, each) for each in (during, apart, other)] == [True, False, False]
    end(desk)
    desk.steps()
    assert not is_kept(desk, during)


@pytest.mark.parametrize(
    ("since_s", "lasts_s", "kept"),
    [
        (0, FAR_S - MARGIN_S - 0.001, False),
        (0, FAR_S - MARGIN_S, True),
        (FAR_S + 2, 1, True),
        (0, 2 * FAR_S, True),
        (FAR_S + 10 + MARGIN_S, 5, True),
        (FAR_S + 10 + MARGIN_S + 0.001, 5, False),
    ],
)
def test_the_margin_is_held_to_the_millisecond(
    desk: Desk,
    since_s: float,
    lasts_s: float,
    kept: bool,  # noqa: FBT001
) -> None:
    one = desk.settled(1, TRIP, film=film(since_s, lasts_s))
    desk.block(excursion(TRIP, FAR_S, FAR_S + 10))
    run(desk)
    assert is_kept(desk, one) is kept


def test_an_excursion_without_an_end_holds_all_that_follows(desk: Desk) -> None:
    desk.settled(1, TRIP, film=film(100 * FAR_S))
    desk.settled(2, TRIP, film=film(0))
    desk.block(excursion(TRIP, FAR_S, FAR_S + 1, ended=False))
    assert (len(held(desk, 1)), held(desk, 2)) == (1, [])
    desk.block(excursion(TRIP, FAR_S, FAR_S + 1))
    assert held(desk, 1) == []


GROUNDS = {
    "excursion": (
        excursion(TRIP, FAR_S, FAR_S + 1),
        "temperature outside the limits of delivery D-1",
    ),
    "sign": (
        readings(TRIP, signs(Tamper.DOOR_OPEN, Tamper.NONE), first=FAR_S),
        "sign of tampering: door-open",
    ),
    "remark": (
        remarked(TRIP, Remark.CAMERA_COVERED, FAR_S),
        "camera cam-1 sees nothing",
    ),
    "once": (remarked(TRIP, Remark.REBOOTED, FAR_S, amount_ms=5), "the device was started again"),
}


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("late", [False, True], ids=["before", "after-the-video"])
def test_each_ground_holds_whenever_it_becomes_known(
    desk: Desk,
    ground: str,
    late: bool,  # noqa: FBT001
) -> None:
    rows, says = GROUNDS[ground]
    if not late:
        desk.block(rows)
    one = desk.settled(1, TRIP, film=film(FAR_S - 5, 10))
    if late:
        desk.block(rows)
    run(desk)
    assert is_kept(desk, one)
    (told,) = held(desk, 1)
    assert told.startswith(says)


def test_a_ground_that_becomes_known_in_the_last_moment_withdraws_the_deletion(desk: Desk) -> None:
    one = desk.settled(1, TRIP, film=film(0))
    desk.steps()
    desk.days(11)
    desk.after_record = lambda: desk.block(excursion(TRIP, 0, 1))
    desk.step()
    assert is_kept(desk, one)
    (told,) = desk.deletions.of(one)
    assert told.state is DeletionState.WITHDRAWN
    assert told.why.startswith(f"trip {TRIP} holds it: temperature outside the limits")


def test_a_sign_lasts_from_the_first_reading_with_it_to_the_first_without(desk: Desk) -> None:
    apart_s = 60
    flags = [0, *signs(*[Tamper.DOOR_OPEN] * 3), 0]
    desk.block(readings(TRIP, flags, apart_s=apart_s))
    (ground,) = Records(desk.index).trips.grounds(TRIP)
    assert (ground.sequence, ground.until_ms) == (1, ground.since_ms + 2 * apart_s * 1000)
    desk.block(tampered(TRIP, 4, 4 * apart_s, 0, Tamper.DOOR_OPEN))
    (ground,) = Records(desk.index).trips.grounds(TRIP)
    assert ground.until_ms == ground.since_ms + 3 * apart_s * 1000


def test_a_sign_in_the_last_reading_has_no_end(desk: Desk) -> None:
    desk.block(readings(TRIP, signs(Tamper.NONE, Tamper.SHOCK)))
    desk.settled(1, TRIP, film=film(100 * FAR_S))
    assert held(desk, 1) == ["sign of tampering: shock"]


def test_each_sign_has_its_own_time(desk: Desk) -> None:
    both = Tamper.DOOR_OPEN | Tamper.LIGHT
    desk.block(
        readings(
            TRIP, signs(Tamper.LIGHT, both, Tamper.LIGHT, Tamper.NONE, both, both, Tamper.NONE)
        )
    )
    found = Records(desk.index).trips.grounds(TRIP)
    told = sorted(
        (each.says.rsplit()[-1], each.sequence, (each.until_ms or 0) - each.since_ms)
        for each in found
    )
    assert told == [
        ("door-open", 1, 0),
        ("door-open", 4, 1000),
        ("light", 0, 2000),
        ("light", 4, 1000),
    ]


def test_the_film_that_a_device_names_is_held_whatever_its_times_say(desk: Desk) -> None:
    desk.settled(1, TRIP, film=film(100 * FAR_S, name="cam-1.3"))
    desk.settled(2, TRIP, film=film(100 * FAR_S, name="cam-1.4"))
    desk.block(readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE)))
    desk.block(tampered(TRIP, 0, 0, Tamper.SHOCK, 0, "cam-1.3"))
    assert (held(desk, 1), held(desk, 2)) == (["sign of tampering: shock"], [])


def test_a_clock_that_was_set_right_holds_the_film_of_both_times(desk: Desk) -> None:
    """The readings claim 1970 or so; the film has the time of the clock that was right."""
    wrong_s = -1_000_000
    desk.settled(1, TRIP, film=film(FAR_S))
    desk.settled(2, TRIP, film=film(FAR_S + wrong_s))
    desk.settled(3, TRIP, film=film(FAR_S + wrong_s / 2))
    covered = Remark.CAMERA_COVERED
    desk.block(remarked(TRIP, covered, FAR_S, sequence=3, ahead_s=wrong_s))
    desk.block(remarked(TRIP, covered, FAR_S + 1, sequence=4, ahead_s=wrong_s, ended=True))
    assert (held(desk, 1), held(desk, 2)) == ([], ["camera cam-1 sees nothing"])
    desk.block(remarked(TRIP, Remark.CLOCK_CORRECTED, 2 * FAR_S, sequence=9))
    assert held(desk, 1) == held(desk, 2) == ["camera cam-1 sees nothing"]
    assert held(desk, 3) == []


def test_a_sign_before_a_correction_holds_the_film_of_both_times(desk: Desk) -> None:
    wrong_s = -1_000_000
    desk.settled(1, TRIP, film=film(0, 1))
    desk.block(readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE)))
    desk.settled(2, TRIP, film=film(-wrong_s, 1))
    assert (len(held(desk, 1)), held(desk, 2)) == (1, [])
    desk.block(remarked(TRIP, Remark.CLOCK_CORRECTED, FAR_S, sequence=9, ahead_s=-wrong_s))
    assert len(held(desk, 1)) == len(held(desk, 2)) == 1


def test_the_corrected_end_of_a_sign_is_that_of_the_reading_without_it(desk: Desk) -> None:
    """With readings ten minutes apart, no margin reaches from the last sign to its end."""
    wrong_s, apart_s = -1_000_000, 2 * MARGIN_S
    desk.settled(1, TRIP, film=film(-wrong_s + apart_s - 10, 1))
    desk.settled(2, TRIP, film=film(-wrong_s + apart_s + MARGIN_S + 1, 1))
    desk.block(readings(TRIP, signs(Tamper.DOOR_OPEN, Tamper.NONE, Tamper.NONE), apart_s=apart_s))
    desk.block(tampered(TRIP, 1, apart_s, 0, Tamper.DOOR_OPEN))
    desk.block(remarked(TRIP, Remark.CLOCK_CORRECTED, FAR_S, sequence=9, ahead_s=-wrong_s))
    assert (held(desk, 1), held(desk, 2)) == (["sign of tampering: door-open"], [])
    (ground,) = Records(desk.index).trips.grounds(TRIP)
    assert ground.until_corrected_ms == (ground.since_corrected_ms or 0) + apart_s * 1000


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the trips whose grounds are read from the index, each time."""
    found: list[str] = []
    read = Trips.grounds

    def counted(trips: Trips, trip_id: str) -> list[Ground]:
        found.append(trip_id)
        return read(trips, trip_id)

    monkeypatch.setattr(Trips, "grounds", counted)
    return found


def test_a_round_of_retention_reads_a_trip_once_and_the_next_round_again(
    desk: Desk, looks: list[str]
) -> None:
    films = [desk.settled(number, TRIP, film=film(0)) for number in (1, 2, 3)]
    desk.receipt(TRIP, *films)
    desk.block(excursion(TRIP, 0, 1))
    desk.steps()
    desk.days(11)
    looks.clear()
    desk.step()
    assert looks == [TRIP]
    end(desk)
    looks.clear()
    assert desk.step()
    assert looks == [TRIP]


def test_a_block_within_a_round_makes_a_trip_be_read_again(desk: Desk, looks: list[str]) -> None:
    desk.settled(1, TRIP, film=film(0))
    desk.steps()
    desk.days(11)
    desk.after_record = lambda: desk.block({})
    looks.clear()
    assert desk.step()
    assert looks == [TRIP, TRIP]


def test_only_some_trips_are_kept(
    desk: Desk, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autoholds, "TRIPS_KEPT", 2)
    for number in (1, 2, 3):
        desk.settled(number, trip(number), film=film(0))
    asked = holds(desk)
    for number in (1, 2, 3, 3, 2, 1):
        asked.of_recording(recording(number))
    assert looks == [trip(number) for number in (1, 2, 3, 1)]


@pytest.mark.parametrize("page", [1, 2, 3, 1000])
def test_signs_are_read_by_the_page_and_a_sign_goes_on_over_its_edge(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    desk.block(readings(TRIP, signs(*[Tamper.DOOR_OPEN] * 7, Tamper.NONE)))
    desk.block(readings(TRIP, signs(*[Tamper.DOOR_OPEN] * 2, Tamper.NONE), first=20))
    monkeypatch.setattr("gateway.records.signs.PAGE", page)
    asked: list[tuple[str, int]] = []
    query = desk.index.query

    def counted(sql: str, *values: object) -> list[tuple[Any, ...]]:
        rows = query(sql, *values)
        if "FROM signs" in sql:
            asked.append((sql, len(rows)))
        return rows

    monkeypatch.setattr(desk.index, "query", counted)
    monkeypatch.setattr(desk.index, "of_trip", None)  # nothing is corrected, so no clock is read
    found = Records(desk.index).trips.grounds(TRIP)
    told = [(each.sequence, (each.until_ms or 0) - each.since_ms) for each in found]
    assert told == [(0, 6000), (20, 1000)]
    assert max(rows for _, rows in asked) <= page


@pytest.mark.parametrize(("kind", "side"), [(Remark.CLOCK_BACK, 1), (Remark.CLOCK_AHEAD, -1)])
def test_a_set_clock_holds_the_film_before_and_after(
    desk: Desk, kind: Remark.Kind, side: int
) -> None:
    day_s = 86_400
    desk.settled(1, TRIP, film=film(0))
    desk.settled(2, TRIP, film=film(side * day_s))
    desk.settled(3, TRIP, film=film(side * day_s / 2))
    desk.block(remarked(TRIP, kind, 0, amount_ms=day_s * 1000))
    assert [len(held(desk, number)) for number in (1, 2, 3)] == [1, 1, 0]


@pytest.mark.parametrize("kind", [Remark.CLOCK_CORRECTED, Remark.FILM_REDUCED])
def test_what_is_not_wrong_holds_nothing(desk: Desk, kind: Remark.Kind) -> None:
    desk.block(remarked(TRIP, kind, 0))
    desk.settled(1, TRIP, film=film(0))
    assert held(desk, 1) == []


@pytest.mark.parametrize(
    "rows",
    [
        excursion(TRIP, 0, 1, device="stranger"),
        readings(TRIP, signs(Tamper.SHOCK, Tamper.NONE), device="stranger"),
    ],
)
def test_a_stranger_holds_nothing(desk: Desk, rows: Rows) -> None:
    desk.block(rows)
    desk.settled(1, TRIP, film=film(0))
    assert held(desk, 1) == []
