"""The truck's clock: who keeps it right, and the time of a GNSS receiver where nobody does."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.records.clock import rfc3339
from contracts.records.reading import ERROR_MS_MAX, Clock, ClockOrigin
from contracts.records.remark import RemarkKind
from contracts.runtime.kernelclock import KernelClock
from device.live import clock as live_clock
from device.live import gnss
from device.live.clock import machine_now
from device.live.clockwatch import ClockWatch
from device.live.gnss import DRIFT_PPM, JUMP_MS, LATE_MS, GnssClock, time_of
from device.settings import SettingsError
from device.settings_file import load
from device.station import clock_of
from support.trucks.rogue import until
from support.trucks.telling import START_MS, at
from support.trucks.truck import Truck

YEAR_MS = 365 * 86_400_000
NONE, NTP, GNSS = ClockOrigin.NONE, ClockOrigin.NTP, ClockOrigin.GNSS


class Machine:
    """A machine's clock, which a test sets."""

    def __init__(self) -> None:
        self.now = at(0, -YEAR_MS, NONE)

    def __call__(self) -> Clock:
        return self.now


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def clock(machine: Machine) -> GnssClock:
    """A clock that hears what a test tells it, and listens to nobody."""
    made = GnssClock("127.0.0.1:1", machine)
    made.close()
    return made


def tpv(s: float, **more: object) -> dict[str, object]:
    """Return a report of a fix so many seconds after START_MS."""
    return {"class": "TPV", "mode": 3, "time": rfc3339(START_MS + round(s * 1000))} | more


def test_a_trip_without_a_clock_is_set_right_by_the_receiver(
    machine: Machine, clock: GnssClock
) -> None:
    watch = ClockWatch(clock(), goes_on=False)
    machine.now = at(1, -YEAR_MS, NONE)
    assert watch.follow(clock()) == ([], 0)
    clock.hear(tpv(1))
    machine.now = at(2, -YEAR_MS, NONE)
    now = clock()
    assert (now.utc_ms, now.monotonic_ms) == (START_MS + 2_000, 2_000)
    assert (now.origin, now.error_ms) == (GNSS, LATE_MS + 1)
    said, _ = watch.follow(now)
    assert [each.kind for each in said] == [RemarkKind.CLOCK_AHEAD, RemarkKind.CLOCK_CORRECTED]
    machine.now = at(3, -YEAR_MS, NONE)
    assert watch.follow(clock()) == ([], 0)


def test_a_time_server_that_keeps_the_machine_right_counts_before_the_receiver(
    machine: Machine, clock: GnssClock
) -> None:
    clock.hear(tpv(0))
    machine.now = Clock(START_MS + 7, 5_000, at(0).boot_id, NTP, 40)
    assert clock() == machine.now
    machine.now = Clock(START_MS + 7, 5_000, at(0).boot_id, NTP, None)  # long ago, at a site
    assert (clock().utc_ms, clock().origin) == (START_MS + 5_000, GNSS)


def test_time_goes_on_in_a_tunnel_and_the_error_grows(machine: Machine, clock: GnssClock) -> None:
    clock.hear(tpv(0, ept=0.25))
    clock.hear({"class": "TPV", "mode": 1, "time": rfc3339(0)})  # no fix: not even a time
    hour_s = 3_600
    machine.now = at(hour_s, -YEAR_MS, NONE)
    assert clock().utc_ms == START_MS + hour_s * 1000
    assert clock().error_ms == LATE_MS + 250 + hour_s * DRIFT_PPM // 1000


def test_reports_that_come_late_set_no_reading_before_another(
    machine: Machine, clock: GnssClock
) -> None:
    claimed = []
    for tick, late_s in enumerate((0.9, 0.1, 0.9, 0.5, 0.0, 0.9, 0.9)):
        machine.now = at(tick * 0.1, -YEAR_MS, NONE)
        clock.hear(tpv(tick * 0.1 - late_s))
        claimed.append(clock().utc_ms)
    assert claimed == sorted(claimed)
    assert abs(claimed[-1] - START_MS - 600) <= 1


def test_a_wrong_first_fix_is_left_at_once(machine: Machine, clock: GnssClock) -> None:
    clock.hear(tpv(JUMP_MS))
    assert clock().utc_ms > START_MS + JUMP_MS
    machine.now = at(1, -YEAR_MS, NONE)
    clock.hear(tpv(1))
    assert clock().utc_ms == START_MS + 1_000


def test_a_time_that_is_held_back_may_be_wrong_by_what_is_left(
    machine: Machine, clock: GnssClock
) -> None:
    clock.hear(tpv(1.5))
    machine.now = at(1, -YEAR_MS, NONE)
    clock.hear(tpv(1))
    now = clock()
    assert now.utc_ms - START_MS - 1_000 > LATE_MS
    assert now.error_ms is not None
    assert now.error_ms >= LATE_MS + now.utc_ms - START_MS - 1_000


@pytest.mark.parametrize(
    "error_s", [1e306, 10**400, float("inf")], ids=["large", "400 digits", "endless"]
)
def test_an_error_beyond_all_bounds_is_the_largest(clock: GnssClock, error_s: float) -> None:
    clock.hear(tpv(0, ept=error_s))
    assert (clock().origin, clock().error_ms) == (GNSS, ERROR_MS_MAX)


def test_a_time_that_no_reading_can_have_is_not_taken(machine: Machine, clock: GnssClock) -> None:
    clock.hear(tpv(0, time="9999-12-31T23:59:59.999Z"))
    machine.now = at(1, -YEAR_MS, NONE)
    assert clock() == machine.now


@pytest.mark.parametrize(
    "report", [{}, {"class": "SKY"}, tpv(0, mode=1), tpv(0, mode="3"), tpv(0, time=7)]
)
def test_a_report_without_a_time_says_nothing(report: dict[str, object]) -> None:
    assert time_of(report) is None


def test_a_malformed_time_is_refused() -> None:
    with pytest.raises(RejectedError, match="expected a time with zone"):
        time_of(tpv(0, time="noon"))


@contextmanager
def receiver(says: list[bytes], *, stays: bool = False) -> Iterator[str]:
    """Yield the address of a gpsd that tells each connection the next thing.

    Args:
        says: What it tells.
        stays: Whether it goes silent after that, in place of closing the connection.
    """
    server, over = socket.create_server(("127.0.0.1", 0)), ExitStack()

    def serve() -> None:
        for each in says:
            try:
                client = server.accept()[0]
                client.sendall(each)
            except OSError:
                return
            if stays:
                over.enter_context(client)
            else:
                client.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        over.close()


@pytest.mark.parametrize(("mode", "is_gnss"), [(3, True), (1, False)])
def test_an_agent_that_is_started_again_has_the_time_from_its_first_reading_on(
    mode: int, *, is_gnss: bool
) -> None:
    report = json.dumps(tpv(0, mode=mode)).encode() + b"\n"
    with receiver([report]) as address, closing(GnssClock(address)) as clock:
        assert (clock().origin is GNSS) is is_gnss


def test_a_lost_gpsd_is_told_and_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    says = [b"noise\n", json.dumps(tpv(0)).encode() + b"\n"]
    with receiver(says) as address, closing(GnssClock(address)) as clock:
        assert clock().origin is not GNSS
        until("it has the time", lambda: clock().origin is GNSS)
        assert abs(clock().utc_ms - START_MS) < YEAR_MS
    assert caplog.text.count("the time of GNSS is not known: gpsd at") >= 1
    assert "expected JSON, got b'noise'" in caplog.text


VERSION = b'{"class":"VERSION"}\n'


def test_a_gpsd_that_goes_silent_is_asked_again_and_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(gnss, "ANSWER_S", 0.05)
    monkeypatch.setattr(gnss, "RETRY_LIMIT_S", 0.01)
    caplog.set_level("INFO", gnss.__name__)
    says = [VERSION, VERSION, json.dumps(tpv(0)).encode() + b"\n"]
    with receiver(says, stays=True) as address, closing(GnssClock(address)) as clock:
        until("it has the time", lambda: clock().origin is GNSS)
    before = caplog.text.partition("gives the time")[0]
    assert before.count("reports nothing for") == 1


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (b"[" * 60_000, "expected JSON"),
        (json.dumps(tpv(0, time="noon")).encode(), "expected a time with zone"),
        (VERSION[:-2] + b',"mode":' + b"9" * 5_000 + b"}", "expected JSON"),
    ],
)
def test_a_damaged_report_does_not_end_the_clock(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, noise: bytes, said: str
) -> None:
    monkeypatch.setattr(gnss, "RETRY_LIMIT_S", 0.01)
    says = [noise + b"\n", json.dumps(tpv(0)).encode() + b"\n"]
    with receiver(says) as address, closing(GnssClock(address)) as clock:
        until("it has the time", lambda: clock().origin is GNSS)
    assert said in caplog.text


def test_a_defect_does_not_end_the_clock(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(gnss, "RETRY_LIMIT_S", 0.01)
    defects = [OverflowError("too large")]

    def fails_once(_: Mapping[str, object]) -> tuple[int, int]:
        if defects:
            raise defects.pop()
        return START_MS, 0

    monkeypatch.setattr(gnss, "time_of", fails_once)
    with receiver([VERSION, VERSION]) as address, closing(GnssClock(address)) as clock:
        until("it has the time", lambda: clock().origin is GNSS)
    assert "OverflowError('too large')" in caplog.text


@pytest.mark.parametrize(
    ("synchronised", "origin", "error_ms"), [(True, NTP, 20), (False, NONE, None)]
)
def test_who_keeps_the_kernel_s_clock_need_not_leave_a_file(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    origin: ClockOrigin,
    error_ms: int | None,
    *,
    synchronised: bool,
) -> None:
    kernel = KernelClock(synchronised, 0.0, 0.02)
    monkeypatch.setattr(live_clock, "kernel_clock", lambda: kernel)
    monkeypatch.setattr(live_clock, "_NTP_SYNCHRONISED", tmp_path / "synchronized")
    monkeypatch.setattr(live_clock, "_RTC", tmp_path / "rtc0")
    now = machine_now()
    assert (now.origin, now.error_ms) == (origin, error_ms)


def test_one_way_to_know_the_time(tmp_path: Path) -> None:
    one = Truck(tmp_path / "one", '[clock]\ngpsd = "127.0.0.1:1"\n')
    assert isinstance(clock_of(load(one.config, {})), GnssClock)
    both = Truck(tmp_path / "both", '[clock]\ngpsd = "127.0.0.1:1"\nfile = "clock"\n')
    with pytest.raises(SettingsError, match=r"clock\.gpsd: expected no value"):
        load(both.config, {})
