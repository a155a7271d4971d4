"""How often strangers may try to sign in: each failure makes the next try wait longer.

Failures are counted by the client's address and by the name that was tried, so that neither many
names from one address nor one name from many addresses is a way around. A waiting client is told
how long, and a try that comes too early is not looked at.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Final

FREE_TRIES: Final = 3
"""Failures that cost no wait."""
LOCKED_OUT_S: Final = 900.0
"""The longest wait, seconds. So long may a stranger keep the owner of a name out, too."""
TRIES_KEPT: Final = 10_000
"""Addresses and names whose failures are counted; beyond that the oldest are forgotten."""


@dataclass(slots=True)
class _Failures:
    count: int = 0
    until_s: float = 0.0


class Tries:
    """Counts failures in memory; safe in any thread.

    Args:
        clock_s: A clock that never goes back, seconds.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._lock = Lock()
        self._failures: OrderedDict[str, _Failures] = OrderedDict()

    def wait_s(self, keys: Iterable[str]) -> float:
        """Return how long a try has to wait, seconds; 0: it may be made."""
        now_s = self._clock_s()
        with self._lock:
            found = [self._failures[key].until_s - now_s for key in keys if key in self._failures]
        return max(0.0, *found) if found else 0.0

    def failed(self, keys: Iterable[str]) -> None:
        """Count a failure."""
        now_s = self._clock_s()
        with self._lock:
            for key in keys:
                kept = self._failures.setdefault(key, _Failures())
                self._failures.move_to_end(key)
                kept.count += 1
                beyond = kept.count - FREE_TRIES
                if beyond > 0:
                    kept.until_s = now_s + min(LOCKED_OUT_S, 2.0 ** min(beyond, 20))
            while len(self._failures) > TRIES_KEPT:
                self._failures.popitem(last=False)

    def succeeded(self, keys: Iterable[str]) -> None:
        """Forget the failures of a person who has signed in."""
        with self._lock:
            for key in keys:
                self._failures.pop(key, None)
