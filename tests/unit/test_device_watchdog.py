"""The watchdog: systemd hears of a recorder that lives, and nothing of one that hangs."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.runtime.systemd import notify, watchdog_s
from device.stop import Stop
from device.watchdog import OVERDUE_LEAST_S, Watchdog


class Clock:
    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watchdog(told: list[str], clock: Clock) -> Watchdog:
    return Watchdog(lambda *lines: told.extend(lines), clock)


@pytest.fixture
def stop() -> Iterator[Stop]:
    with closing(Stop()) as made:
        yield made


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as pipe:
        pipe.bind(str(tmp_path / "notify"))
        pipe.settimeout(20)
        yield pipe


def test_a_docked_truck_lives(watchdog: Watchdog, clock: Clock, told: list[str]) -> None:
    clock.s = 1e6
    assert watchdog.look()
    assert told == ["WATCHDOG=1"]


def test_a_recorder_that_hangs_is_not_told_of(
    watchdog: Watchdog,
    clock: Clock,
    told: list[str],
    stop: Stop,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with watchdog.expecting(1.0, stop) as beat:
        clock.s = 1e6
        assert watchdog.look()
        beat(1)
        clock.s += OVERDUE_LEAST_S
        assert watchdog.look()
        clock.s += 1
        assert not watchdog.look()
        assert not watchdog.look()
        assert caplog.text.count("no reading for 61 s: the recorder hangs") == 1
        beat(7)
        assert watchdog.look()
        clock.s += 1e6
        assert not watchdog.look()
        stop.request()
        assert watchdog.look()
    assert watchdog.look()
    assert told == ["WATCHDOG=1"] * 5


def test_a_slow_truck_is_given_three_intervals(
    watchdog: Watchdog, clock: Clock, stop: Stop
) -> None:
    with watchdog.expecting(3_600.0, stop) as beat:
        beat(1)
        clock.s = 3 * 3_600.0
        assert watchdog.look()
        clock.s += 1
        assert not watchdog.look()


def test_systemd_hears_that_the_agent_is_ready_lives_and_stops(
    systemd: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", systemd.getsockname())
    monkeypatch.setenv("WATCHDOG_USEC", "300000")
    with Watchdog().running():
        assert [systemd.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
    heard = b""
    while heard != b"STOPPING=1":
        heard = systemd.recv(100)


def test_an_abstract_name_is_understood() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as pipe:
        pipe.bind("")  # the kernel gives an abstract name
        pipe.settimeout(20)
        name = pipe.getsockname().decode()
        notify("READY=1", "STATUS=ok", environment={"NOTIFY_SOCKET": f"@{name[1:]}"})
        assert pipe.recv(100) == b"READY=1\nSTATUS=ok"


@pytest.mark.parametrize("address", ["", "/nowhere/at/all"])
def test_without_systemd_nothing_fails(address: str) -> None:
    notify("READY=1", environment={"NOTIFY_SOCKET": address})


@pytest.mark.parametrize(
    ("given", "expected_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "120000000"}, 120.0),
        ({"WATCHDOG_USEC": "120000000", "WATCHDOG_PID": str(os.getpid())}, 120.0),
        ({"WATCHDOG_USEC": "120000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_when_systemd_wants_to_hear(given: dict[str, str], expected_s: float | None) -> None:
    assert watchdog_s(given) == expected_s
