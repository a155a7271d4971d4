"""Log lines that strangers can cause: seldom, with the number of those left out."""

import logging

from contracts.runtime.seldom import REPEAT_AFTER_S, WORDINGS_MAX, Seldom


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def said(filter_: Seldom, wording: str, level: int = logging.WARNING) -> str | None:
    """Return what is written of a line, if it is."""
    record = logging.LogRecord("x", level, "", 0, wording, ("a",), None)
    return record.getMessage() if filter_.filter(record) else None


def test_a_wording_comes_once_a_minute() -> None:
    clock = Clock()
    seldom = Seldom(clock)
    assert said(seldom, "%s left") == "a left"
    assert [said(seldom, "%s left") for _ in range(3)] == [None] * 3
    assert said(seldom, "%s came") == "a came"
    clock.now_s = REPEAT_AFTER_S
    assert said(seldom, "%s left") == "a left (3 more like it were left out)"
    clock.now_s = 2 * REPEAT_AFTER_S
    assert said(seldom, "%s left") == "a left"


def test_any_argument_can_be_part_of_the_wording() -> None:
    """An exception here would end the thread that writes a line, such as paho's."""
    seldom = Seldom(Clock(), arguments=1)
    record = logging.LogRecord("x", logging.WARNING, "", 0, "%s left", ({"un": "hashable"},), None)
    assert [seldom.filter(record) for _ in range(2)] == [True, False]


def test_errors_always_pass() -> None:
    seldom = Seldom(Clock())
    assert [said(seldom, "%s", logging.ERROR) for _ in range(2)] == ["a", "a"]


def test_wordings_are_bounded() -> None:
    seldom = Seldom(Clock())
    assert said(seldom, "%s first") == "a first"
    for number in range(WORDINGS_MAX):
        said(seldom, f"%s {number}")
    assert said(seldom, "%s first") == "a first"
