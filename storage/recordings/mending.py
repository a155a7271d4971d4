"""Mends behind the readers: one blob at a time, in a thread of its own."""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from contracts.errors import WaysealError
from storage.recordings.examining import Finding

MENDS_WAITING_MAX: Final = 64

Mend = Callable[[bytes, int], Iterable[Finding]]
"""Mends one blob of a recording; says what was found."""

_log: Final = logging.getLogger(__name__)


class Mender:
    """Mends later what a reader found damaged.

    Args:
        mend: Mends a blob.
    """

    def __init__(self, mend: Mend) -> None:
        self._mend = mend
        self._pool = ThreadPoolExecutor(1, "mend")
        self._lock = threading.Lock()
        self._waiting: set[tuple[bytes, int]] = set()
        self._closed = False

    def mend_later(self, recording_id: bytes, index: int) -> None:
        """Queue a blob; when closed, or with too many, it is left to the next reader or the scrub.

        Readers may outlive the store by a blob or two.
        """
        blob = recording_id, index
        with self._lock:
            if self._closed or blob in self._waiting or len(self._waiting) >= MENDS_WAITING_MAX:
                return
            self._waiting.add(blob)
            self._pool.submit(self._run, *blob)

    def close(self) -> None:
        """Stop after the repair at hand."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(cancel_futures=True)

    def _run(self, recording_id: bytes, index: int) -> None:
        with self._lock:  # first: what is damaged meanwhile must be queued again
            self._waiting.discard((recording_id, index))
        try:
            found = self._mend(recording_id, index)
        except WaysealError as error:
            _log.warning("cannot mend recording %s blob %d: %s", recording_id.hex(), index, error)
            return
        for each in found:
            level, outcome = (logging.INFO, "is") if each.repaired else (logging.WARNING, "is not")
            name = (recording_id.hex(), index, each.copy)
            _log.log(
                level, "recording %s blob %d: copy %s %s mended: %s", *name, outcome, each.detail
            )
