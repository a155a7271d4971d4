"""Makes the missing copies of whole recordings in the background, oldest first."""

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
"""Failures in a row after which the pass ends: the storage is probably down."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Unfilled:
    """A recording that waits for a copy.

    Attributes:
        item: The recording, and the places where it lacks a copy.
        problem: Why the last try failed; empty if none failed.
    """

    item: Backlog
    problem: str


class Filling:
    """Makes the copies in the store's backlog, in its own thread.

    Attributes:
        worker: The thread; wake it when a recording came that may lack a copy.
    """

    def __init__(self, store: RecordingStore, on_copies: Callable[[], None]) -> None:
        """Prepare the thread.

        Args:
            store: The store with the backlog.
            on_copies: Called after copies were made, or may have been.
        """
        self._store = store
        self._on_copies = on_copies
        self._problems: dict[bytes, str] = {}
        self.worker = Worker("filling", self.step, idle_s=IDLE_S)

    def step(self) -> bool:
        """Go through the backlog once; say whether any recording now has all its copies.

        Unfinished removals continue first: a copy may be waiting for the room that they free.
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

    def waiting(self) -> Iterator[Unfilled]:
        """Yield the recordings that wait now, oldest first."""
        for item in self._store.backlog():
            yield Unfilled(item, self._problems.get(item.recording_id, ""))

    def _next(self) -> list[Backlog]:
        """Return the backlog: untried recordings first, then the ones that failed longest ago.

        So a recording that cannot be copied now, because it is too large, holds up no other one.
        """
        backlog = list(self._store.backlog())
        ids = {item.recording_id for item in backlog}
        self._problems = {key: why for key, why in self._problems.items() if key in ids}
        tried = {key: at for at, key in enumerate(self._problems, 1)}
        return sorted(backlog, key=lambda item: tried.get(item.recording_id, 0))

    def _fill(self, item: Backlog) -> bool:
        """Make the missing copies of one recording; say whether it has all of them now."""
        name = item.recording_id.hex()
        try:
            done = self._store.fill(item.recording_id, lambda: self.worker.stopping)
        except Exception as error:  # noqa: BLE001 - the others must not wait for one recording
            if not isinstance(error, WaysealError):
                _log.exception(
                    "cannot make the copies of recording %s", name, extra={"recording_id": name}
                )
            if self._problems.pop(item.recording_id, None) != str(error):
                _log.warning(
                    "recording %s lacks %s: %s",
                    name,
                    ", ".join(item.lacks),
                    error,
                    extra={"recording_id": name},
                )
            self._problems[item.recording_id] = str(error)  # now the most recent failure
            done = False
        else:
            self._problems.pop(item.recording_id, None)
        if done:
            _log.info("recording %s has all its copies now", name, extra={"recording_id": name})
        self._on_copies()  # after an error too: one of two copies may have been made
        return done
