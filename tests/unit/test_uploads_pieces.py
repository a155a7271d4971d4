"""How the bytes of a request are handed to the writer: whole blobs, as they came."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from contracts.chunktree import BLOB_BYTES
from gateway.uploads.lanes import Lane, Pouring
from storage.stages import Untold

BEGAN = 5


class _Writer:
    """Takes what comes."""

    def __init__(self, size: int) -> None:
        self.size, self.offset = size, BEGAN
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.pieces.append(data)
        self.offset += len(data)

    def sync(self) -> int:
        return self.offset


def test_pieces_end_on_the_bounds_of_blobs_and_need_no_further_copy() -> None:
    data = bytes(range(256)) * (3 * BLOB_BYTES // 256) + b"tail"
    chunks = [data[:7], data[7 : 2 * BLOB_BYTES + 1], data[2 * BLOB_BYTES + 1 :]]
    writer = _Writer(BEGAN + len(data))

    async def body() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def pour() -> None:
        lane = Lane(bytes(32))
        lane._writer = cast("Any", writer)  # noqa: SLF001
        await Pouring(lane, None, 5.0, Untold()).pour(body())

    asyncio.run(pour())
    assert b"".join(writer.pieces) == data
    assert [len(piece) for piece in writer.pieces] == [
        BLOB_BYTES - BEGAN,
        BLOB_BYTES,
        BLOB_BYTES,
        BEGAN + len(b"tail"),
    ]
    assert {type(piece) for piece in writer.pieces} == {bytes}
