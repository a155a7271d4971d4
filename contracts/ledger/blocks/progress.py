"""Says how far a long replay of blocks is, every few seconds."""

import logging
import time
from collections.abc import Callable
from typing import Final

_LOG = logging.getLogger(__name__)

EVERY_S: Final = 3.0


class Progress:
    """Counts replayed blocks; silent about a replay that is short.

    Args:
        of: How many blocks there are to replay; asked once, when there is something to say.
        what: The source of the blocks, in words.
        now_s: Returns the time, seconds, from any origin.
    """

    def __init__(
        self,
        of: Callable[[], int],
        what: str = "the block log",
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._of = of
        self._what = what
        self._now_s = now_s
        self._began_s = self._said_s = now_s()
        self._all: int | None = None
        self._done = 0

    def step(self, number: int) -> None:
        """Count block `number`; say how far the replay is if it is time to."""
        self._done += 1
        now_s = self._now_s()
        if now_s - self._said_s < EVERY_S:
            return
        self._said_s = now_s
        if self._all is None:
            self._all = self._of()
        left_s = (now_s - self._began_s) / self._done * max(self._all - self._done, 0)
        _LOG.info(
            "replaying %s: %d of %d blocks, at block %d; about %.0f s left",
            self._what,
            self._done,
            self._all,
            number,
            left_s,
        )

    def end(self) -> None:
        """Say that the replay is over, if it said that it was going on."""
        if self._all is not None:
            took_s = self._now_s() - self._began_s
            _LOG.info("replayed %d blocks in %.0f s", self._done, took_s)
