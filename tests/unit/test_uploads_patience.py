"""A request ends once its sender is silent for too long; the gateway's own work does not count."""

from asyncio import TimerHandle
from collections.abc import Callable
from typing import cast

from gateway.uploads.patience import Patience

LIMIT_S = 30.0


class Time:
    """A clock that a test advances, with one timer."""

    def __init__(self) -> None:
        self.now_s, self.due_s, self.timers = 0.0, float("inf"), 0

    def time(self) -> float:
        return self.now_s

    def call_at(self, when: float, callback: Callable[[], None], /) -> TimerHandle:
        self.due_s, self._callback = when, callback
        self.timers += 1
        return cast("TimerHandle", self)

    def cancel(self) -> None:
        self.due_s = float("inf")

    def pass_s(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        while self.due_s <= until_s:
            self.now_s, self.due_s = self.due_s, float("inf")
            self._callback()
        self.now_s = until_s


def begun() -> tuple[Time, Patience, list[float]]:
    time, ended = Time(), list[float]()
    return time, Patience(time, LIMIT_S, lambda: ended.append(time.now_s)), ended


def test_a_silent_sender_ends_the_request() -> None:
    time, _, ended = begun()
    time.pass_s(29)
    assert ended == []
    time.pass_s(100)
    assert ended == [30]


def test_bytes_prolong_it_from_when_they_came_with_few_timers() -> None:
    time, patience, ended = begun()
    for _ in range(800):
        time.pass_s(0.125)
        patience.heard()
    assert ended == []
    assert time.timers == 4
    time.pass_s(40)
    assert ended == [130]


def test_the_gateways_own_work_does_not_count() -> None:
    time, patience, ended = begun()
    patience.pause()
    time.pass_s(1_000)
    patience.heard()
    time.pass_s(29)
    assert ended == []
    time.pass_s(2)
    assert ended == [1_030]


def test_it_ends_once() -> None:
    time, patience, ended = begun()
    patience.end()
    patience.end()
    time.pass_s(100)
    assert ended == [0]


def test_a_request_that_is_over_is_not_ended() -> None:
    time, patience, ended = begun()
    patience.close()
    time.pass_s(100)
    assert ended == []
