"""The bytes of a request reach the writer unchanged and in whole blobs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from contracts.chunktree import BLOB_BYTES
from gateway.uploads.claims import Claim
from gateway.uploads.lanes import Lane
from gateway.uploads.pouring import Pouring
from gateway.uploads.throttle import Throttle
from storage.recordings.buffers import PIECE_BYTES, Buffers
from storage.stages import NOT_RECORDED

BEGAN = 5


class _Writer:
    """Takes what comes."""

    def __init__(self, size: int) -> None:
        self.size, self.offset = size, BEGAN
        self.pieces: list[bytes] = []
        self.memories: set[int] = set()

    def write(self, data: memoryview, done: Callable[[], None]) -> None:
        self.pieces.append(bytes(data))
        self.memories.add(id(data.obj))
        self.offset += len(data)
        done()

    def sync(self) -> int:
        return self.offset


def test_pieces_end_on_the_bounds_of_blobs_and_their_memory_is_used_again() -> None:
    data = bytes(range(256)) * (6 * BLOB_BYTES // 256) + b"tail"
    chunks = [data[:7], data[7 : 2 * BLOB_BYTES + 1], data[2 * BLOB_BYTES + 1 :]]
    writer = _Writer(BEGAN + len(data))

    async def body() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def pour() -> None:
        lane = Lane(Claim(bytes(32), "truck-1", bytes(32), writer.size, 0), Buffers())
        lane._writer = cast("Any", writer)  # noqa: SLF001
        await Pouring(lane, None, 5.0, NOT_RECORDED, Throttle(0)).pour(body())

    asyncio.run(pour())
    assert b"".join(writer.pieces) == data
    assert [len(piece) for piece in writer.pieces] == [
        BLOB_BYTES - BEGAN,
        PIECE_BYTES,
        BLOB_BYTES + BEGAN + len(b"tail"),
    ]
    assert len(writer.memories) < len(writer.pieces)
