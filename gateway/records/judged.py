"""Verdicts on trips that were reached a while ago, each with what it stands on.

A verdict is kept in memory with the footing that it stood on: the batches of its evidence, the
entries of the ledger's state that they touched, the keys that were trusted, the films that were
here. It counts again only while a look at index, ledger and catalogue finds the same footing.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from contracts.evidence.endstate import Scope
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict
from gateway.index.store import Head
from gateway.records.watch import Unit, Watch

VERDICTS_KEPT: Final = 64
"""Beyond that the one that was asked for longest ago goes."""
VERDICT_LASTS_MAX_S: Final = 3600.0
"""After that a trip is judged again: batches at the ledger may have rotted, and no index tells."""

_LOOK_EVERY_S: Final = 0.5
"""How often one who waits looks whether it was told to stop, seconds."""

Films = tuple[tuple[bytes, tuple[int, bytes] | None], ...]
"""The recordings of a trip, each with size and tree root of what is here, or None."""


@dataclass(frozen=True, slots=True)
class Footing:
    """What a verdict stands on.

    Attributes:
        head: The last block of its evidence.
        batches: The batches in its evidence, by block and place.
        scope: What their replay read and wrote.
        trust: The ledger's keys.
        films: What was here of the recordings.
    """

    head: Head
    batches: Mapping[tuple[int, int], str]
    scope: Scope
    trust: Trust
    films: Films


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and when it was reached.

    Attributes:
        verdict: On the evidence of one trip.
        at_ms: The time, UTC.
    """

    verdict: Verdict
    at_ms: int


class Turns:
    """Lets one at a time work on each name; safe to use from several threads."""

    def __init__(self) -> None:
        self._freed = threading.Condition()
        self._busy: set[str] = set()

    @contextmanager
    def take(self, name: str, watch: Watch) -> Iterator[None]:
        """Wait until nobody works on a name, and keep it until the end.

        Raises:
            StoppedError: The watch says so.
        """
        with self._freed:
            while name in self._busy:
                watch.tell("waits for a look that is under way", 0, 0, Unit.BATCHES)
                self._freed.wait(_LOOK_EVERY_S)
            self._busy.add(name)
        try:
            yield
        finally:
            with self._freed:
                self._busy.remove(name)
                self._freed.notify_all()


class KeptVerdicts:
    """The verdicts that were reached last; safe to use from several threads.

    Args:
        clock_s: A clock that never goes back, seconds.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Judged, Footing, float]] = OrderedDict()
        self._forgotten = 0

    def forgotten(self) -> int:
        """Return how often a verdict was forgotten, before a look begins."""
        return self._forgotten

    def put(self, trip_id: str, judged: Judged, footing: Footing, forgotten: int) -> None:
        """Keep a verdict, in place of an earlier one on the trip.

        A look that took longer than another one, which found something wrong, keeps nothing.

        Args:
            trip_id: The trip.
            judged: The verdict.
            footing: What it stands on.
            forgotten: How often a verdict had been forgotten when its look began.
        """
        with self._lock:
            if forgotten != self._forgotten:
                return
            self._kept[trip_id] = judged, footing, self._clock_s()
            self._kept.move_to_end(trip_id)
            while len(self._kept) > VERDICTS_KEPT:
                self._kept.popitem(last=False)

    def get(self, trip_id: str) -> tuple[Judged, Footing] | None:
        """Return the verdict on a trip and its footing; None without one, or if it is old."""
        with self._lock:
            found = self._kept.get(trip_id)
            if found is None or self._clock_s() - found[2] >= VERDICT_LASTS_MAX_S:
                return None
            self._kept.move_to_end(trip_id)
        return found[0], found[1]

    def forget(self, trip_id: str) -> None:
        """Forget the verdict on a trip."""
        with self._lock:
            self._forgotten += 1
            self._kept.pop(trip_id, None)
