"""Bytes that cannot be kept make the gateway read an upload again only a few times."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from contracts.chunktree import BLOB_BYTES
from gateway.access import Caller, Role
from gateway.uploads.pouring import BrokenOffError, Checksum, ChecksumError, OversizedError
from gateway.uploads.service import Uploads
from gateway.uploads.spoiled import SPOILED_MAX, SpoiledError
from gateway.uploads.throttle import DEBT_S, Throttle
from storage.recordings.buffers import PIECE_BYTES
from storage.recordings.store import RecordingStore
from storage.recordings.writer import RecordingWriter
from support.gateways.uploads import uploads_to
from support.storage.stores import open_store

DATA: Final = bytes(range(256)) * (8 * BLOB_BYTES // 256)
ONE: Final = hashlib.sha256(DATA).digest()
KEPT: Final = 2 * BLOB_BYTES
TRUCK: Final = Caller("truck-1", Role.DEVICE)
WRONG: Final = Checksum("sha256", bytes(32))


@dataclass
class Truck:
    """Sends to an upload that has some bytes; counts how often these are read."""

    uploads: Uploads
    store: RecordingStore
    opened: list[bytes] = field(default_factory=list)

    async def begin(self) -> None:
        begin = self.store.begin

        def counted(recording_id: bytes, size: int, digest: bytes | None = None) -> RecordingWriter:
            self.opened.append(recording_id)
            return begin(recording_id, size, digest)

        self.store.begin = counted  # type: ignore[method-assign]  # it counts, and does the same
        await self.uploads.create(ONE, len(DATA), TRUCK)
        await self.send(DATA[:KEPT], 0)
        self.opened.clear()

    async def send(
        self,
        data: bytes,
        offset: int = KEPT,
        *,
        length: bool = True,
        checksum: Checksum | None = None,
        breaks: bool = False,
    ) -> bool:
        """Send one request; return whether the recording is whole."""

        async def body() -> AsyncIterator[bytes]:
            for start in range(0, len(data), BLOB_BYTES):
                yield data[start : start + BLOB_BYTES]
            if breaks:
                raise BrokenOffError("the connection broke")

        size = len(data) if length else None
        answer = await self.uploads.append(
            ONE, offset, body(), TRUCK, length=size, checksum=checksum
        )
        return answer.whole

    async def wrong_checksum(self) -> None:
        with pytest.raises(ChecksumError):
            await self.send(DATA[KEPT:][:9], checksum=WRONG)

    async def broken_before_its_checksum(self) -> None:
        with pytest.raises(BrokenOffError):
            await self.send(DATA[KEPT:][:PIECE_BYTES], checksum=WRONG, breaks=True)

    async def too_much(self) -> None:
        with pytest.raises(OversizedError):
            await self.send(DATA[KEPT:] + b"+", length=False)


Failing = Callable[[Truck], Coroutine[None, None, None]]


def play(tmp_path: Path, course: Failing) -> None:
    async def all_of_it(truck: Truck) -> None:
        await truck.begin()
        try:
            await course(truck)
        finally:
            await truck.uploads.close()

    with open_store(tmp_path) as store, uploads_to(store) as uploads:
        asyncio.run(all_of_it(Truck(uploads, store)))


@pytest.mark.parametrize(
    "failing", [Truck.wrong_checksum, Truck.broken_before_its_checksum, Truck.too_much]
)
def test_bytes_that_cannot_be_kept_are_refused_after_a_few(
    tmp_path: Path, failing: Failing
) -> None:
    async def course(truck: Truck) -> None:
        for _ in range(SPOILED_MAX):
            await failing(truck)
        opened = len(truck.opened)
        assert opened <= SPOILED_MAX
        for length, checksum in ((True, WRONG), (False, None)):
            with pytest.raises(SpoiledError, match="without Upload-Checksum, or delete"):
                await truck.send(DATA[KEPT:], length=length, checksum=checksum)
        assert len(truck.opened) == opened
        assert await truck.send(DATA[KEPT:])  # what the refusal asks for

    play(tmp_path, course)


def test_an_upload_that_was_deleted_may_use_checksums_again(tmp_path: Path) -> None:
    right = Checksum("sha256", hashlib.sha256(DATA).digest())

    async def course(truck: Truck) -> None:
        for _ in range(SPOILED_MAX):
            await truck.wrong_checksum()
        await truck.uploads.terminate(ONE, TRUCK)
        await truck.uploads.create(ONE, len(DATA), TRUCK)
        assert await truck.send(DATA, 0, checksum=right)

    play(tmp_path, course)


def test_what_must_be_read_again_is_charged_to_its_device() -> None:
    throttle = Throttle(1_000)
    throttle.charge("truck-1", 2_500, 50.0)
    assert throttle.delay_s("truck-1", 500, 50.0) == 2.0
    assert throttle.delay_s("truck-2", 500, 50.0) == 0.0
    throttle.charge("truck-1", 1 << 40, 50.0)
    assert throttle.delay_s("truck-1", 1_000, 50.0) == DEBT_S + 1.0
    unlimited = Throttle(0)
    unlimited.charge("truck-1", 1 << 40, 50.0)
    assert unlimited.delay_s("truck-1", 1, 50.0) == 0.0
