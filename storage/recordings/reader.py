"""Reads recordings near first; no byte leaves that its leaf hash does not vouch for.

Blobs are read ahead by a few threads of the stream's own, so that disk or peer, the
hashing, and who takes the bytes work at the same time, and no stream waits for another
one's slow copy. Measured on 2 cores: see docs/storage.md.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from contracts.chunktree import BLOB_BYTES, blob_count

READ_THREADS: Final = 4
READ_AHEAD: Final = 8
"""Blobs of one stream that are read or wait to be taken."""

Fetch = Callable[[int], bytes]
"""Returns one blob of a recording, verified."""


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
