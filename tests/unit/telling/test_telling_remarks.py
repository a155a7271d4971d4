"""What a truck says of sensors, cameras and signs, once each and in order."""

import time
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from contracts.records.reading import Reading, Tamper
from contracts.records.remark import REMARKS_MAX, Remark, RemarkKind
from device.camera.filming.reel import LeftBehind, Reel
from device.live.health import Finding, Health
from device.live.remarks import PER_READING, WAITING_MAX, Remarks
from device.live.telling import FILM_LOST_MS, Narrator, file_id, film_lost
from support.trucks.telling import START_MS, at, kinds, opened, times


def test_each_change_of_a_sensor_is_one_remark(remarks: Remarks) -> None:
    for health in (Health.WORKS, Health.LOST, Health.LOST, Health.REFUSED, Health.WORKS):
        remarks.hear(Finding("cargo", health, "why"))
    said, signs = remarks.take()
    assert kinds(said) == [
        (RemarkKind.SENSOR_LOST, "cargo", False),
        (RemarkKind.SENSOR_LOST, "cargo", True),
        (RemarkKind.SENSOR_REFUSED, "cargo", False),
        (RemarkKind.SENSOR_REFUSED, "cargo", True),
    ]
    assert signs is Tamper.SENSOR_UNPLUGGED  # it was, between the two readings
    assert remarks.take() == ([], Tamper.NONE)


def test_an_unplugged_sensor_is_a_sign_until_it_is_back(remarks: Remarks) -> None:
    remarks.hear(Finding("cargo", Health.LOST, "why"))
    assert [remarks.take()[1] for _ in range(3)] == [Tamper.SENSOR_UNPLUGGED] * 3
    remarks.hear(Finding("cargo", Health.WORKS, ""))
    assert remarks.take()[1] is Tamper.SENSOR_UNPLUGGED
    assert remarks.take()[1] is Tamper.NONE


def test_cameras_and_their_film(remarks: Remarks) -> None:
    remarks.hear(Finding("hold", Health.COVERED, "", "camera"))
    remarks.spare("hold", True)  # noqa: FBT003 - as cameras call it
    remarks.hear(Finding("hold", Health.STOPPED, "", "camera"))
    remarks.spare("hold", False)  # noqa: FBT003 - as cameras call it
    assert kinds(remarks.take()[0]) == [
        (RemarkKind.CAMERA_COVERED, "hold", False),
        (RemarkKind.FILM_REDUCED, "hold", False),
        (RemarkKind.CAMERA_COVERED, "hold", True),
        (RemarkKind.FILM_STOPPED, "hold", False),
        (RemarkKind.FILM_REDUCED, "hold", True),
    ]


def test_many_remarks_wait_for_the_next_readings_in_order(remarks: Remarks) -> None:
    names = [f"s{number}" for number in range(PER_READING + 3)]
    for name in names:
        remarks.hear(Finding(name, Health.LOST, "why"))
    first, second = remarks.take()[0], remarks.take()[0]
    assert [each.subject for each in first + second] == names
    assert len(first) == PER_READING < REMARKS_MAX


@pytest.mark.parametrize(
    ("went_on_s", "lost_s"), [(None, 3_600), (60, 52), (10, FILM_LOST_MS / 1000)]
)
def test_film_is_lost_until_the_camera_s_next_segment(went_on_s: int | None, lost_s: float) -> None:
    trip = replace(opened(), clock=at(3_608))
    went_on_ms = None if went_on_s is None else START_MS + went_on_s * 1000
    lost = film_lost(trip, LeftBehind("dock-000003.mp4", START_MS + 8_000, went_on_ms))
    assert (lost.since_ms, lost.amount) == (START_MS + 8_000, lost_s * 1000)


def test_of_too_many_remarks_each_kind_and_subject_becomes_one_span() -> None:
    ticks = count()
    remarks = Remarks(lambda: at(next(ticks)))
    remarks.owe([Remark(RemarkKind.FILM_LOST, START_MS, "dock-000003.mp4")])
    for number in range(WAITING_MAX):
        remarks.hear(Finding("cargo", Health.LOST if number % 2 else Health.WORKS, "why"))
        remarks.hear(Finding("gps", Health.SILENT, "why"))
    assert times(remarks.take()[0]) == [
        (RemarkKind.FILM_LOST, 0, False),
        (RemarkKind.SENSOR_SILENT, 1_000, False),
        (RemarkKind.SENSOR_LOST, 2_000, False),
    ]


def test_a_sensor_loss_that_the_journal_never_got_is_said_again_with_its_end(
    remarks: Remarks,
) -> None:
    remarks.begin("trip", 8)
    remarks.hear(Finding("cargo", Health.LOST, "why"))
    remarks.hear(Finding("gps", Health.LOST, "why"))
    remarks.spare("dock", True)  # noqa: FBT003 - as cameras call it
    assert len(remarks.take(9)[0]) == 3
    remarks.begin("trip", 8)
    remarks.hear(Finding("cargo", Health.WORKS, ""))
    remarks.hear(Finding("gps", Health.LOST, "why"))
    assert kinds(remarks.take(9)[0]) == [
        (RemarkKind.SENSOR_LOST, "cargo", False),
        (RemarkKind.SENSOR_LOST, "gps", False),
        (RemarkKind.FILM_REDUCED, "dock", False),
        (RemarkKind.FILM_REDUCED, "dock", True),
        (RemarkKind.SENSOR_LOST, "cargo", True),
    ]
    remarks.told(9)
    remarks.begin("trip", 9)
    assert remarks.take(10) == ([], Tamper.NONE)


def test_a_sign_that_the_journal_never_got_is_said_by_the_next_reading(remarks: Remarks) -> None:
    remarks.begin("trip", 8)
    assert remarks.take(9, Tamper.SHOCK)[1] is Tamper.SHOCK
    remarks.miss(Tamper.MOTION)
    remarks.begin("trip", 8)
    assert remarks.take(9, Tamper.LIGHT)[1] is Tamper.SHOCK | Tamper.MOTION | Tamper.LIGHT
    remarks.told(9)
    remarks.begin("trip", 9)
    assert remarks.take(10)[1] is Tamper.NONE
    remarks.take(11, Tamper.SHOCK)
    remarks.begin("another")
    assert remarks.take(1)[1] is Tamper.NONE


def test_a_reading_without_a_change_is_as_it_was() -> None:
    assert Reading(at(0)).told.remarks == ()


def test_each_change_of_signs_names_the_newest_moment_in_each_film(
    tmp_path: Path, remarks: Remarks
) -> None:
    reel = Reel(tmp_path, 2, [], lambda _: (0, 0))
    reel.has_free(1 << 30, 1 << 30)
    began_s = time.monotonic() - 30
    for number, camera in enumerate(("dock", "hold")):
        reel.shows(reel.begin(camera, began_s)[0], 28_000 + number)
    narrator, trip = Narrator(opened(), [], reel, remarks), opened()
    signs = (Tamper.NONE, Tamper.DOOR_OPEN, Tamper.DOOR_OPEN, Tamper.NONE)
    told = [
        narrator.complete(Reading(at(11 + s), tamper=each)).told for s, each in enumerate(signs)
    ]
    assert [bool(each.film) for each in told] == [True, True, False, True]
    assert told[0].remarks  # the first says how recording went on
    names = [file_id(trip, f"{camera}-000000.mp4") for camera in ("dock", "hold")]
    assert told[1].film == tuple(zip(names, (28_000, 28_001), strict=True))


def test_a_door_that_is_open_at_the_end_stays_open_in_the_reading_before_the_seal(
    tmp_path: Path, remarks: Remarks
) -> None:
    trip, reel = opened(), Reel(tmp_path, 1, [], lambda _: (0, 0))
    remarks.stops(trip.trip_id, 9, Tamper.DOOR_OPEN)
    holds = remarks.holds(trip.trip_id)
    assert remarks.holds("another") is Tamper.NONE
    narrator = Narrator(trip, [], reel, remarks)
    assert narrator.last(at(11), in_order=True, holds=holds) is None

    lost = film_lost(trip, LeftBehind("dock-000003.mp4", None))
    last = Narrator(trip, [], reel, remarks, [lost]).last(at(12), in_order=True, holds=holds)
    assert last is not None
    assert last.tamper is Tamper.DOOR_OPEN
