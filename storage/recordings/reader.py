"""Reads recordings near first; no byte leaves that its leaf hash does not vouch for.

Blobs are read ahead by a few threads of the stream's own, so that disk or peer, the
hashing, and who takes the bytes work at the same time, and no stream waits for another
one's slow copy. Measured on 2 cores: see docs/storage.md.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

from contracts.chunktree import BLOB_BYTES, blob_count
from contracts.errors import RejectedError, WaysealError
from storage.recordings.fetching import OnDamage, fetch
from storage.recordings.manifest import StoredRecording
from storage.recordings.mending import Mend, Mender
from storage.recordings.shelves import Shelves

READ_THREADS: Final = 4
READ_AHEAD: Final = 8
"""Blobs of one stream that are read or wait to be taken."""

Fetch = Callable[[int], bytes]
"""Returns one blob of a recording, verified."""


class Reader:
    """Reads from whichever copies hold, and has mended behind it what did not.

    Args:
        shelves: Where recordings are.
        on_damage: Told of every blob that a copy could not serve; by any thread.
        mend: Mends one blob of a recording; called by a thread of the reader's own.
    """

    def __init__(self, shelves: Shelves, on_damage: OnDamage, mend: Mend) -> None:
        self._shelves = shelves
        self._on_damage = on_damage
        self._mender = Mender(mend)

    def read(
        self, manifest: StoredRecording, start: int = 0, stop: int | None = None
    ) -> Iterator[bytes]:
        """Return an iterator over the bytes start..stop, a blob or less at a time.

        Raises:
            RejectedError: The range lies outside the recording, or (while iterating) no copy of a
                blob holds.
            UnavailableError: No copy of a blob holds, but one did not answer.
        """
        stop = manifest.size if stop is None else stop
        if not 0 <= start <= stop <= manifest.size:
            raise RejectedError(f"range {start}..{stop} of a recording of {manifest.size} bytes")
        return read_range(partial(self._fetch, manifest), start, stop)

    def close(self) -> None:
        """Stop after the repair at hand."""
        self._mender.close()

    def _fetch(self, manifest: StoredRecording, index: int) -> bytes:
        damaged = False

        def note(copy: str, error: WaysealError) -> None:
            nonlocal damaged
            damaged |= isinstance(error, RejectedError)
            self._on_damage(manifest.sha256, index, copy)

        data = fetch(self._shelves, manifest, index, note)
        if damaged:
            self._mender.mend_later(manifest.sha256, index)
        return data


def read_range(fetch: Fetch, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes start..stop of a recording, a blob or less at a time.

    Raises:
        RejectedError: No copy of a blob holds.
        UnavailableError: No copy of a blob holds, but one did not answer.
    """
    indexes = range(start // BLOB_BYTES, blob_count(stop)) if start < stop else range(0)
    for index, data in zip(indexes, read_blobs(fetch, indexes), strict=True):
        base = index * BLOB_BYTES
        yield data[max(start - base, 0) : stop - base]


def read_blobs(fetch: Fetch, indexes: Sequence[int]) -> Iterator[bytes]:
    """Yield blobs in order, reading ahead.

    Raises:
        RejectedError: As `fetch` did for the next of them.
        UnavailableError: As `fetch` did for the next of them.
    """
    if len(indexes) <= 1:
        yield from map(fetch, indexes)
        return
    waiting: deque[Future[bytes]] = deque()
    pool = ThreadPoolExecutor(min(READ_THREADS, len(indexes)), "read")
    try:
        for index in indexes:
            waiting.append(pool.submit(fetch, index))
            if len(waiting) == READ_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
