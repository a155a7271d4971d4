"""Reads recordings, nearest copy first; every byte is verified against its leaf hash.

Each stream has a few threads that read blobs ahead. So the disk or peer, the hashing and the
consumer work at the same time, and no stream waits for the slow copy of another one. Measured on
2 cores: see docs/storage.md.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Final

from contracts.chunktree import BLOB_BYTES, blob_count
from contracts.errors import RejectedError, WaysealError
from storage.recordings.blobcopies import OnDamage, fetch
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places
from storage.recordings.repair import Mend, Mender

READ_THREADS: Final = 4
READ_AHEAD: Final = 8
"""Blobs of one stream that are being read or wait for the consumer."""

Fetch = Callable[[int], bytes]
"""Returns one blob of a recording, verified."""


class Reader:
    """Reads from intact copies, and has damaged ones mended in the background.

    Args:
        places: Where recordings are.
        on_damage: Called for every blob that a copy could not serve, in any thread.
        mend: Mends one blob of a recording; called in a thread of the reader.
    """

    def __init__(self, places: Places, on_damage: OnDamage, mend: Mend) -> None:
        self._places = places
        self._on_damage = on_damage
        self._mender = Mender(mend)

    def read(
        self, manifest: StoredRecording, start: int = 0, stop: int | None = None
    ) -> Iterator[bytes]:
        """Return an iterator over the bytes start..stop, a blob or less at a time.

        Raises:
            RejectedError: The range lies outside the recording, or (while iterating) no copy of a
                blob is intact.
            UnavailableError: No copy of a blob that answered is intact, and one did not answer.
        """
        stop = manifest.size if stop is None else stop
        if not 0 <= start <= stop <= manifest.size:
            raise RejectedError(f"expected a range within 0..{manifest.size}, got {start}..{stop}")
        return read_range(partial(self._fetch, manifest), start, stop)

    def close(self) -> None:
        """Stop after the repair that is under way."""
        self._mender.close()

    def _fetch(self, manifest: StoredRecording, index: int) -> bytes:
        damaged = False

        def note(copy: str, error: WaysealError) -> None:
            nonlocal damaged
            damaged |= isinstance(error, RejectedError)
            self._on_damage(manifest.sha256, index, copy)

        data = fetch(self._places, manifest, index, note)
        if damaged:
            self._mender.mend_later(manifest.sha256, index)
        return data


def read_range(fetch: Fetch, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes start..stop of a recording, a blob or less at a time.

    Raises:
        RejectedError: No copy of a blob is intact.
        UnavailableError: No copy of a blob that answered is intact, and one did not answer.
    """
    indexes = range(start // BLOB_BYTES, blob_count(stop)) if start < stop else range(0)
    for index, data in zip(indexes, read_blobs(fetch, indexes), strict=True):
        base = index * BLOB_BYTES
        yield data[max(start - base, 0) : stop - base]


def read_blobs(fetch: Fetch, indexes: Sequence[int]) -> Iterator[bytes]:
    """Yield blobs in order, reading ahead.

    Raises:
        RejectedError: `fetch` raised it for the next blob.
        UnavailableError: `fetch` raised it for the next blob.
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
