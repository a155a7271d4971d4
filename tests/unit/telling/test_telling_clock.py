"""What a truck says of its clock."""

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.records.reading import Clock, ClockOrigin, Tamper
from contracts.records.remark import RemarkKind
from device.live.clock import FileClock
from device.live.clockwatch import STEP_MS, ClockWatch
from support.trucks.telling import at

LATER = b"\x02" * 16


YEAR_MS = 365 * 86_400_000


DAY_MS = 86_400_000


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
