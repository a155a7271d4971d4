"""A thread that repeats one step: at once while the step makes progress, else after a pause.

A failure that goes on is logged once, however often the step is repeated.
"""

import logging
import threading
from collections.abc import Callable
from typing import Final

from contracts.errors import UnavailableError, WaysealError
from contracts.ledger.client import UnreachableError

BACK_OFF_S: Final = 2.0
"""Pause after a step that failed."""

_log = logging.getLogger(__name__)


class CountingError(UnavailableError):
    """A failure whose words count progress, so that they differ at every attempt."""


class Worker:
    """Runs `step` until closed; a failed step is tried again, whatever the reason."""

    def __init__(self, name: str, step: Callable[[], bool], *, idle_s: float) -> None:
        """Prepare the thread.

        Args:
            name: Of the thread, also in log lines.
            step: Does one round of work, and returns whether it made progress.
            idle_s: Pause after a step without progress, unless woken.
        """
        self._step = step
        self._idle_s = idle_s
        self._failure = ""
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def stopping(self) -> bool:
        """Say whether the worker was told to stop; long steps ask now and then."""
        return self._stop.is_set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """End the pause, because there may be work."""
        self._wake.set()

    def rest(self, seconds: float) -> None:
        """Pause within a step, until told to stop at the latest."""
        self._stop.wait(seconds)

    def close(self) -> None:
        """Stop after the current step."""
        self._stop.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self.stopping:
            self._wake.clear()
            try:
                pause_s = 0.0 if self._step() else self._idle_s
                self._go_on()
            except WaysealError as error:
                self._tell(error)
                pause_s = BACK_OFF_S
            except Exception:  # noqa: BLE001
                # A thread that died would leave the gateway looking alive and doing nothing.
                _log.exception("%s failed, trying again", self._thread.name)
                pause_s = BACK_OFF_S
            self._wake.wait(pause_s)

    def _tell(self, error: WaysealError) -> None:
        """Log why the step failed, unless that was the last failure, too, or is told elsewhere."""
        failure = type(error).__name__ if isinstance(error, CountingError) else str(error)
        if not isinstance(error, UnreachableError) and failure != self._failure:
            _log.warning("%s waits: %s", self._thread.name, error)
            self._failure = failure

    def _go_on(self) -> None:
        if self._failure:
            _log.info("%s goes on", self._thread.name)
            self._failure = ""
