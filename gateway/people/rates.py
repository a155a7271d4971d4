"""How many requests a client may make: so many at once, and so many a second in the long run.

Own code, because `limits` measures by the wall clock: one that is set back by an hour would keep
every client out for that hour. Source: the generic cell rate algorithm, ITU-T I.371, annex A.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

CLIENTS_KEPT: Final = 10_000
"""Clients whose requests are counted; beyond that the ones seen longest ago are forgotten."""


class Rates:
    """Counts requests in memory; for one event loop.

    Args:
        per_minute: Requests that a client may make in a minute, and at once.
        clock_s: A clock that never goes back, seconds.
    """

    def __init__(self, per_minute: int, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._every_s = 60.0 / per_minute
        self._clock_s = clock_s
        self._due_s: OrderedDict[str, float] = OrderedDict()

    def wait_s(self, client: str) -> float:
        """Count a request and return 0; or refuse it and return how long to wait, seconds."""
        now_s = self._clock_s()
        due_s = max(self._due_s.get(client, now_s), now_s)
        if due_s - now_s > 60.0 - self._every_s:
            return due_s - now_s - 60.0 + self._every_s
        self._due_s[client] = due_s + self._every_s
        self._due_s.move_to_end(client)
        if len(self._due_s) > CLIENTS_KEPT:
            self._due_s.popitem(last=False)
        return 0.0
