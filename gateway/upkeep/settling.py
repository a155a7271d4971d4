"""Repeats deletions until every replica of the blob store has confirmed them."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from contracts.errors import UnavailableError
from contracts.records.clock import now_ms
from gateway.worker import Worker
from storage.blobs.port import BlobStore, OpenDeletions

SETTLE_EVERY_S: Final = 60.0
LATE_MS: Final = 7 * 86_400_000
"""A node that has not confirmed a deletion for so long should be replaced: after ten days it would
bring back tables that the gateway does not watch, such as roles."""
SAY_AGAIN_S: Final = 86_400.0

_log = logging.getLogger(__name__)


class Settling:
    """Looks for open deletions, now and then.

    Args:
        blobs: Where they were deleted.
        clock_ms: The wall clock.

    Attributes:
        open: What was left when it looked last; before `looked` only `reason` says something.
        looked: Whether it could look since the start.
        worker: The thread.
    """

    def __init__(self, blobs: BlobStore, clock_ms: Callable[[], int] = now_ms) -> None:
        self.open = OpenDeletions()
        self.looked = False
        self.worker = Worker("settling", self.step, idle_s=SETTLE_EVERY_S)
        self._blobs = blobs
        self._clock_ms = clock_ms
        self._say_s = 0.0

    @property
    def count(self) -> int | None:
        """Return how many deletions were open when it looked last; None before it could look."""
        return self.open.count if self.looked else None

    def step(self) -> bool:
        """Repeat what is open; there is nothing more to do for a while."""
        before = self.open
        try:
            self.open = self._blobs.repeat_deletions(lambda: self.worker.stopping)
        except UnavailableError as error:  # others say that the blob store is down
            self.open = replace(before, reason=str(error))
            return False
        self.looked = True
        if before.count and not self.open.count:
            _log.info("every replica has confirmed all deletions")
        elif self.open.count:
            self._say(new=not before.count)
        return False

    def _say(self, *, new: bool) -> None:
        late = self._clock_ms() - (self.open.since_ms or 0) > LATE_MS
        if not new and not (late and time.monotonic() >= self._say_s):
            return
        self._say_s = time.monotonic() + SAY_AGAIN_S
        what = "replace the node that is away" if late else "they are repeated until then"
        _log.warning(
            "%d deletions are not confirmed by every replica; %s: %s",
            self.open.count,
            what,
            self.open.reason,
        )
