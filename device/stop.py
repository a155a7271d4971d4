"""Stopping on request: SIGTERM and SIGINT end the work at the next safe moment."""

import contextlib
import os
import select
import signal
from collections.abc import Iterator

from contracts.errors import UnavailableError


class InterruptedByUserError(UnavailableError):
    """Ctrl-C ended the work before it was done; the same command continues it."""


class Stop:
    """A request to stop that any thread may wait for.

    It is a pipe and not a threading.Event: a signal handler could find the Event's lock held by
    the very thread that it interrupts.

    Attributes:
        requested: Whether to stop.
        by_ctrl_c: Whether SIGINT asked for it.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.requested = False
        self.by_ctrl_c = False

    def request(self) -> None:
        """Ask for the stop; may be repeated, and is safe in a signal handler."""
        if not self.requested:
            self.requested = True
            os.write(self._write, b"\0")

    def wait(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` seconds; return whether to stop."""
        if timeout_s > 0:
            select.select([self._read], [], [], timeout_s)
        return self.requested

    def close(self) -> None:
        """Release the pipe."""
        os.close(self._read)
        os.close(self._write)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """Yield a stop that SIGTERM and SIGINT request; for the main thread only.

    Raises:
        InterruptedByUserError: The block raised UnavailableError after SIGINT.
    """
    stop = Stop()

    def handle(number: int, _: object) -> None:
        stop.by_ctrl_c = stop.by_ctrl_c or number == signal.SIGINT
        stop.request()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    except UnavailableError as error:
        if stop.by_ctrl_c:
            raise InterruptedByUserError(str(error)) from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()
