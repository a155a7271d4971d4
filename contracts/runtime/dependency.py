"""Something that a process needs and that may go and come: one log line when it does, not more."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from contracts.records.clock import now_ms

NOT_LOOKED_AT: Final = "not looked at yet"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a dependency stands.

    Attributes:
        name: For people, as in `volume main`.
        reason: Why it is out; empty while it works.
        since_ms: Since when it works or is out.
    """

    name: str
    reason: str
    since_ms: int


class Dependency:
    """Notes whether something works, and logs only changes; safe to use from many threads.

    It is out until the first `works`, which is told as well, and so is the first `fails`.

    Args:
        name: For people, as in `volume main`.
        clock_ms: The wall clock.
    """

    def __init__(self, name: str, clock_ms: Callable[[], int] = now_ms) -> None:
        self._clock_ms = clock_ms
        self._lock = threading.Lock()
        self._told = False
        self._standing = Standing(name, NOT_LOOKED_AT, clock_ms())

    @property
    def standing(self) -> Standing:
        """How it stands."""
        return self._standing

    @property
    def reason(self) -> str:
        """Why it is out; empty while it works."""
        return self._standing.reason

    def fails(self, reason: str) -> None:
        """Note that it is out; of a failure that goes on, the newest reason is kept, not logged."""
        with self._lock:
            before = self._standing
            if self._told and before.reason:
                self._standing = replace(before, reason=reason)
                return
            self._told = True
            self._standing = replace(before, reason=reason, since_ms=self._clock_ms())
        _log.warning("%s is out: %s", before.name, reason)

    def works(self) -> None:
        """Note that it works."""
        if not self.reason:
            return
        with self._lock:
            before, told = self._standing, self._told
            if not before.reason:
                return
            at_ms = self._clock_ms()
            self._told, self._standing = True, Standing(before.name, "", at_ms)
        if told:
            out_s = max(0, at_ms - before.since_ms) / 1000
            _log.info("%s is back, after %.0f s", before.name, out_s)
        else:
            _log.info("%s is in use", before.name)
