"""Mends behind the readers: one blob at a time, in a thread of its own."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from contracts.errors import WaysealError

MENDS_WAITING_MAX: Final = 64

_log: Final = logging.getLogger(__name__)


class Mender:
    """Mends later what a reader found damaged.

    Args:
        mend: Mends one blob of a recording; says what was found.
    """

    def __init__(self, mend: Callable[[bytes, int], object]) -> None:
        self._mend = mend
        self._pool = ThreadPoolExecutor(1, "mend")
        self._lock = threading.Lock()
        self._waiting: set[tuple[bytes, int]] = set()

    def mend_later(self, recording_id: bytes, index: int) -> None:
        """Queue a blob; with too many waiting it is left to the next reader, or the scrub."""
        blob = recording_id, index
        with self._lock:
            if blob in self._waiting or len(self._waiting) >= MENDS_WAITING_MAX:
                return
            self._waiting.add(blob)
        self._pool.submit(self._run, *blob)

    def close(self) -> None:
        """Stop after the repair at hand."""
        self._pool.shutdown(cancel_futures=True)

    def _run(self, recording_id: bytes, index: int) -> None:
        with self._lock:  # first: what is damaged meanwhile must be queued again
            self._waiting.discard((recording_id, index))
        try:
            _log.info("mending: %s", self._mend(recording_id, index))
        except WaysealError as error:
            _log.warning("cannot mend recording %s blob %d: %s", recording_id.hex(), index, error)
