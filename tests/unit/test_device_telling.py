"""What a truck says of itself: from sensors, cameras, its clock and its card to a reading."""

import errno
import sqlite3
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.proto.payload_pb2 import StartTrip
from contracts.records.reading import Clock, ClockOrigin, Reading, Tamper
from contracts.records.remark import REMARKS_MAX, Remark, RemarkKind
from contracts.runtime.files import disk_errors
from contracts.runtime.sqlite import translated
from device.camera.filming.reel import LeftBehind, Reel
from device.journal.logbook import BufferFullError
from device.journal.trip import Trip, TripState
from device.live.clock import FileClock
from device.live.clockwatch import STEP_MS, ClockWatch
from device.live.health import Finding, Health
from device.live.pause import why_paused
from device.live.remarks import PER_READING, WAITING_MAX, Remarks
from device.live.telling import FILM_LOST_MS, Narrator, film_lost

BOOT, LATER = b"\x01" * 16, b"\x02" * 16
START_MS = 1_750_000_000_000
YEAR_MS = 365 * 86_400_000
DAY_MS = 86_400_000


def at(
    s: float,
    shift_ms: int = 0,
    origin: ClockOrigin = ClockOrigin.RTC,
    boot: bytes = BOOT,
    counter_s: float | None = None,
) -> Clock:
    counted = s if counter_s is None else counter_s
    return Clock(START_MS + round(s * 1000) + shift_ms, round(counted * 1000), boot, origin)


def told(watch: ClockWatch, now: Clock) -> tuple[list[tuple[RemarkKind, int]], Tamper]:
    said, signs = watch.follow(now)
    return [(each.kind, each.amount) for each in said], signs


def test_a_clock_that_goes_on_says_nothing() -> None:
    watch = ClockWatch(at(0), goes_on=False)
    assert told(watch, at(1)) == ([], Tamper.NONE)
    assert told(watch, at(2, STEP_MS)) == ([], Tamper.NONE)


@pytest.mark.parametrize("back_ms", [STEP_MS + 1, DAY_MS, 20 * YEAR_MS])
def test_a_clock_that_is_set_back_is_a_sign(back_ms: int) -> None:
    watch = ClockWatch(at(0), goes_on=False)
    assert told(watch, at(1, -back_ms)) == (
        [(RemarkKind.CLOCK_BACK, back_ms)],
        Tamper.CLOCK_SET_BACK,
    )
    assert told(watch, at(2, -back_ms)) == ([], Tamper.NONE)
    assert told(watch, at(3)) == ([(RemarkKind.CLOCK_AHEAD, back_ms)], Tamper.NONE)


def test_a_trip_without_a_clock_is_set_right_once() -> None:
    none, ntp = ClockOrigin.NONE, ClockOrigin.NTP
    watch = ClockWatch(at(0, -YEAR_MS, none), goes_on=False)
    assert told(watch, at(1, -YEAR_MS, none)) == ([], Tamper.NONE)
    assert told(watch, at(2, 0, ntp)) == (
        [(RemarkKind.CLOCK_AHEAD, YEAR_MS), (RemarkKind.CLOCK_CORRECTED, YEAR_MS)],
        Tamper.NONE,
    )
    assert told(watch, at(3, 0, ntp)) == ([], Tamper.NONE)


def test_a_clock_without_a_source_that_was_right_is_said_to_be_right() -> None:
    watch = ClockWatch(at(0, 0, ClockOrigin.NONE), goes_on=False)
    assert told(watch, at(1, 0, ClockOrigin.NTP)) == (
        [(RemarkKind.CLOCK_CORRECTED, 0)],
        Tamper.NONE,
    )


def test_a_time_server_that_sets_the_clock_back_sets_it_right_and_is_no_sign() -> None:
    watch = ClockWatch(at(0), goes_on=False)
    assert told(watch, at(1, -DAY_MS, ClockOrigin.NTP)) == (
        [(RemarkKind.CLOCK_BACK, DAY_MS), (RemarkKind.CLOCK_CORRECTED, DAY_MS)],
        Tamper.NONE,
    )


def test_a_reboot_on_the_road_is_a_sign_and_the_boot_before_cannot_be_set_right() -> None:
    watch = ClockWatch(at(10, 0, ClockOrigin.NONE), goes_on=True)
    now = at(70, 0, ClockOrigin.NTP, LATER, 20)
    assert told(watch, now) == ([(RemarkKind.REBOOTED, 60_000)], Tamper.REBOOTED)


def test_a_reboot_into_an_earlier_time_is_a_reboot_and_a_clock_set_back() -> None:
    watch = ClockWatch(at(10), goes_on=True)
    assert told(watch, at(0, -DAY_MS, boot=LATER, counter_s=5)) == (
        [(RemarkKind.REBOOTED, 0), (RemarkKind.CLOCK_BACK, DAY_MS + 10_000)],
        Tamper.REBOOTED | Tamper.CLOCK_SET_BACK,
    )


def test_a_reboot_before_the_first_reading_is_a_sign() -> None:
    watch = ClockWatch(at(0), goes_on=False)
    now = at(3_600, boot=LATER, counter_s=20)
    assert told(watch, now) == ([(RemarkKind.REBOOTED, 3_600_000)], Tamper.REBOOTED)


@pytest.mark.parametrize(("first_s", "says"), [(14, 0), (3_600, 1)])
def test_an_agent_that_was_killed_before_the_first_reading_says_so(first_s: int, says: int) -> None:
    watch = ClockWatch(at(0), goes_on=False)
    said = [(RemarkKind.INTERRUPTED, first_s * 1000)] * says
    assert told(watch, at(first_s)) == (said, Tamper.NONE)


def test_an_agent_that_was_killed_says_how_long_it_recorded_nothing() -> None:
    watch = ClockWatch(at(10), goes_on=True)
    assert told(watch, at(40)) == ([(RemarkKind.INTERRUPTED, 30_000)], Tamper.NONE)
    assert told(watch, at(41)) == ([], Tamper.NONE)


@pytest.fixture
def remarks() -> Remarks:
    return Remarks(lambda: at(0))


def kinds(taken: list[Remark]) -> list[tuple[RemarkKind, str, bool]]:
    return [(each.kind, each.subject, each.ended) for each in taken]


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


def test_the_first_reason_of_a_pause_is_told_once_it_is_over() -> None:
    times = iter([at(1), at(9)])
    remarks = Remarks(lambda: next(times))
    remarks.pause(RemarkKind.CARD_FULL)
    remarks.begin()
    assert [(each.kind, each.since_ms, each.ended) for each in remarks.take()[0]] == [
        (RemarkKind.CARD_FULL, START_MS + 1000, False),
        (RemarkKind.CARD_FULL, START_MS + 9000, True),
    ]
    remarks.begin()
    assert remarks.take()[0] == []


def failed(error: Exception) -> UnavailableError:
    with pytest.raises(UnavailableError) as caught, translated("journal"):
        raise error
    return caught.value


def full_database(path: Path) -> UnavailableError:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (b BLOB)")
        db.execute("PRAGMA max_page_count = 2")
        with pytest.raises(UnavailableError) as caught, translated("journal"):
            db.execute("INSERT INTO t VALUES (randomblob(100000))")
    db.close()
    return caught.value


def read_only_database(path: Path) -> UnavailableError:
    sqlite3.connect(path).close()
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(UnavailableError) as caught, translated("journal"):
        db.execute("CREATE TABLE t (b BLOB)")
    db.close()
    return caught.value


def test_why_nothing_is_recorded(tmp_path: Path) -> None:
    assert why_paused(BufferFullError("journal full")) is RemarkKind.CARD_FULL
    assert why_paused(full_database(tmp_path / "a")) is RemarkKind.CARD_FULL
    assert why_paused(read_only_database(tmp_path / "b")) is RemarkKind.CARD_READ_ONLY
    assert why_paused(failed(OSError(errno.EROFS, "read-only"))) is RemarkKind.CARD_READ_ONLY
    with pytest.raises(UnavailableError) as caught, disk_errors("write", tmp_path):
        raise OSError(errno.ENOSPC, "full")
    assert why_paused(caught.value) is RemarkKind.CARD_FULL
    assert why_paused(failed(OSError(errno.EIO, "broken"))) is None
    assert why_paused(UnavailableError("another reason")) is None


def test_a_file_sets_the_clock_right(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "clock"
    clock = FileClock(path, lambda: at(0))
    assert clock() == at(0)
    path.write_text("-86400000 gnss 250\n")
    right = replace(at(0, -DAY_MS, ClockOrigin.GNSS), error_ms=250)
    assert clock() == right
    for text in ("", "1", "x ntp", "5 sundial", "5 ntp 1 2", f"{10**18} ntp", "5 ntp -1"):
        path.write_text(text)
        assert clock() == at(0)
    assert "expected `OFFSET_MS ORIGIN [ERROR_MS]`" in caplog.text
    path.write_text("0 none")
    assert clock() == at(0, origin=ClockOrigin.NONE)


def test_a_reading_without_a_change_is_as_it_was() -> None:
    assert Reading(at(0)).told.remarks == ()


def opened(number: int = 0, readings: int = 9) -> Trip:
    return Trip(
        f"{number:032x}",
        b"",
        "truck-1",
        StartTrip(),
        TripState.OPEN,
        reported=False,
        readings=readings,
        head_sha256=b"",
        last_transaction_id="",
        clock=at(10),
    )


def times(taken: list[Remark]) -> list[tuple[RemarkKind, int, bool]]:
    return [(each.kind, each.since_ms - START_MS, each.ended) for each in taken]


def test_a_pause_over_many_tries_is_told_from_its_first_one_and_lost_film_too(
    tmp_path: Path,
) -> None:
    now = [0]
    remarks = Remarks(lambda: at(now[0]))
    reel = Reel(tmp_path, 1, [], lambda _: (0, 0))
    lost = [film_lost(opened(), LeftBehind("dock-000003.mp4", START_MS + 8_000))]
    for began_s, ended_s in ((20, 30), (31, 60), (61, 90)):
        now[0] = began_s
        remarks.pause(RemarkKind.CARD_FULL)
        now[0] = ended_s
        narrator = Narrator(opened(), [], reel, remarks, lost)
        said = narrator.complete(Reading(at(ended_s))).told.remarks
    assert times([each for each in said if each.kind is not RemarkKind.INTERRUPTED]) == [
        (RemarkKind.FILM_LOST, 8_000, False),
        (RemarkKind.CARD_FULL, 20_000, False),
        (RemarkKind.CARD_FULL, 90_000, True),
    ]
    Narrator(opened(readings=10), [], reel, remarks)
    assert remarks.take(11)[0] == []


def test_what_is_owed_is_said_once_by_readings_of_one_commit_and_dropped_after_it() -> None:
    remarks = Remarks(lambda: at(0))
    remarks.begin("trip")
    remarks.owe([Remark(RemarkKind.FILM_LOST, at(n).utc_ms, f"s{n}") for n in range(20)])
    first, second, third = (remarks.take(number)[0] for number in (1, 2, 3))
    assert (len(first), len(second), third) == (PER_READING, 20 - PER_READING, [])
    remarks.told(1)
    remarks.begin("trip", 1)
    assert remarks.take(2)[0] == second
    remarks.told(2)
    remarks.begin("trip", 2)
    assert remarks.take(3)[0] == []


@pytest.mark.parametrize("ends", [True, False])
def test_no_trip_says_what_is_owed_of_another_one(
    remarks: Remarks, caplog: pytest.LogCaptureFixture, *, ends: bool
) -> None:
    remarks.begin("one")
    remarks.owe([Remark(RemarkKind.FILM_LOST, START_MS, "dock-000003.mp4")])
    if ends:
        remarks.end()
    remarks.begin("two")
    assert remarks.take(1)[0] == []
    assert "trip one is sealed, so this is not signed" in caplog.text
    assert "dock-000003.mp4" in caplog.text


@pytest.mark.parametrize(
    ("ended_ms", "since_ms", "amount"),
    [(None, 10_000, FILM_LOST_MS), (8_000, 8_000, FILM_LOST_MS), (1_000, 1_000, 9_000)],
)
def test_how_much_film_is_lost_at_most(ended_ms: int | None, since_ms: int, amount: int) -> None:
    ended = None if ended_ms is None else START_MS + ended_ms
    lost = film_lost(opened(), LeftBehind("dock-000003.mp4", ended))
    assert (lost.since_ms - START_MS, lost.amount) == (since_ms, amount)


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


def test_film_that_was_lost_is_told_by_whoever_completes_the_next_reading(
    tmp_path: Path, remarks: Remarks
) -> None:
    """An agent that goes on with a trip may arrive before its first reading: the seal is next."""
    trip, reel = opened(), Reel(tmp_path, 1, [], lambda _: (0, 0))
    remarks.pause(RemarkKind.CARD_FULL)
    Narrator(trip, [], reel, remarks, [film_lost(trip, LeftBehind("dock-000003.mp4", None))])
    last = Narrator(trip, [], reel, remarks).last(at(12), in_order=True)
    assert last is not None
    assert kinds(list(last.told.remarks)) == [
        (RemarkKind.CARD_FULL, "", False),
        (RemarkKind.CARD_FULL, "", True),
        (RemarkKind.FILM_LOST, "dock-000003.mp4", False),
    ]
