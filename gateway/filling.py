"""Makes the copies that whole recordings lack, in the background, oldest first."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from contracts.errors import WaysealError
from gateway.worker import Worker
from storage.recordings.backlog import Backlog
from storage.recordings.store import RecordingStore

IDLE_S: Final = 10.0
FAILURES_MAX: Final = 3
"""Recordings in a row that could not be filled, after which a place counts as down for now."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A recording that waits for a copy.

    Attributes:
        item: Which, and what it lacks.
        problem: Why the last try failed; empty without one.
    """

    item: Backlog
    problem: str


class Filling:
    """Works the store's backlog off, in a thread of its own.

    Attributes:
        worker: The thread; to be woken when a recording came that may lack a copy.
    """

    def __init__(self, store: RecordingStore, on_copies: Callable[[], None]) -> None:
        """Prepare the thread.

        Args:
            store: Whose backlog.
            on_copies: Called after copies were made, or may have been.
        """
        self._store = store
        self._on_copies = on_copies
        self._problems: dict[bytes, str] = {}
        self.worker = Worker("filling", self.step, idle_s=IDLE_S)

    def step(self) -> bool:
        """Go through the backlog once; say whether any recording lacks nothing any more.

        Removals go on before that: what they free may be the room that a copy waits for.
        """
        self._store.tidy()
        filled, failures = False, 0
        for item in self._next():
            if self.worker.stopping or failures >= FAILURES_MAX:
                break
            if self._fill(item):
                filled, failures = True, 0
            else:
                failures += 1
        return filled

    def waiting(self) -> Iterator[Waiting]:
        """Yield what waits now, oldest first."""
        for item in self._store.backlog():
            yield Waiting(item, self._problems.get(item.recording_id, ""))

    def _next(self) -> list[Backlog]:
        """Return what waits: what was not tried first, then what failed longest ago.

        So what cannot be filled for now, too large for what room there is, holds up nothing else.
        """
        backlog = list(self._store.backlog())
        ids = {item.recording_id for item in backlog}
        self._problems = {key: why for key, why in self._problems.items() if key in ids}
        tried = {key: at for at, key in enumerate(self._problems, 1)}
        return sorted(backlog, key=lambda item: tried.get(item.recording_id, 0))

    def _fill(self, item: Backlog) -> bool:
        """Make the copies of one recording; say whether it lacks none now."""
        name = item.recording_id.hex()
        try:
            done = self._store.fill(item.recording_id, lambda: self.worker.stopping)
        except Exception as error:  # noqa: BLE001 - one recording must not hold up all others
            if not isinstance(error, WaysealError):
                _log.exception("recording %s cannot be filled", name)
            if self._problems.pop(item.recording_id, None) != str(error):
                _log.warning("recording %s lacks %s: %s", name, ", ".join(item.lacks), error)
            self._problems[item.recording_id] = str(error)  # the last one now
            done = False
        else:
            self._problems.pop(item.recording_id, None)
        if done:
            _log.info("recording %s lacks no copy any more", name)
        self._on_copies()  # even after an error: one of two copies may have been made
        return done
