"""Stopping on request: SIGTERM and SIGINT end the work at the next sound moment."""

import contextlib
import os
import select
import signal
from collections.abc import Iterator


class Stop:
    """A request to stop that any thread may wait for.

    A pipe rather than a threading.Event, whose lock a signal handler could find
    taken by the very thread that it interrupts.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._requested = False

    @property
    def requested(self) -> bool:
        """Say whether to stop."""
        return self._requested

    def request(self) -> None:
        """Ask for the stop; safe in a signal handler, and when repeated."""
        if not self._requested:
            self._requested = True
            os.write(self._write, b"\0")

    def wait(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` seconds; return whether to stop."""
        if timeout_s > 0:
            select.select([self._read], [], [], timeout_s)
        return self._requested

    def close(self) -> None:
        """Release the pipe."""
        os.close(self._read)
        os.close(self._write)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """Give a stop that SIGTERM and SIGINT request; the main thread's use only."""
    stop = Stop()
    before = {
        number: signal.signal(number, lambda *_: stop.request())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()
