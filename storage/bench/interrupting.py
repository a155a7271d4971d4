"""Signals that ask a benchmark to end: what it made is removed on the way out."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asks the benchmark to end."""


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Turn the first of these signals into `Interrupted`, and ignore all that follow."""
    before = [(number, signal.signal(number, _interrupt)) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)  # what it made is removed, however impatient one is
    raise Interrupted(f"interrupted by {signal.Signals(number).name}")
