"""Moves the bytes of one request into a lane, at the pace of the disk and of the device."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.serving.direct import BodyLostError, DirectBody, Filling
from gateway.uploads.lanes import Lane
from gateway.uploads.patience import Patience
from gateway.uploads.throttle import Throttle
from storage.recordings.buffers import PIECE_BYTES
from storage.stages import Stage, Stages

CHECKPOINT_BYTES: Final = 64 << 20
THROTTLED_BYTES: Final = 256 << 10
"""Bytes that a slowed-down device sends at once."""
_YIELDED: Final = "the request made way for another one, or the gateway stops; send the rest"


Rest = Callable[[], DirectBody | None]
"""Returns a direct way to the bytes that an iterator has not yielded; None without such a way."""


def no_rest() -> None:
    """Say that there is no direct way."""


class OversizedError(RejectedError):
    """More bytes than allowed or announced."""


class ChecksumError(RejectedError):
    """The bytes of one request do not match its checksum; none of them is kept."""


class BrokenOffError(UnavailableError):
    """The sender went silent or disconnected; its bytes are kept unless it sent a checksum."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksum that the bytes of one request must have.

    Attributes:
        algorithm: `sha256` or `sha1`.
        digest: The expected value.
    """

    algorithm: str
    digest: bytes

    def compare(self, actual: bytes) -> None:
        """Check the digest that the bytes have.

        Raises:
            ChecksumError: It is another one.
        """
        if not hmac.compare_digest(actual, self.digest):
            raise ChecksumError(
                f"{self.algorithm} of the bytes is {actual.hex()}, "
                f"expected {self.digest.hex()}; none of them is kept"
            )


class Pouring:
    """Moves the bytes of one request into a lane.

    Args:
        lane: A lane that the request holds.
        checksum: Checksum of the bytes, if the sender gave one.
        idle_limit_s: Longest silence of the sender, seconds.
        stages: Records how long the sender's bytes took.
        throttle: Slows down the device's uploads.
    """

    _patience: Patience  # with the sender, while bytes are received

    def __init__(
        self,
        lane: Lane,
        checksum: Checksum | None,
        idle_limit_s: float,
        stages: Stages,
        throttle: Throttle,
    ) -> None:
        self._throttle = throttle
        self._lane = lane
        self._checksum = checksum
        self._idle_limit_s = idle_limit_s
        self._stages = stages
        self._hash = hashlib.new(checksum.algorithm) if checksum else None
        self._buffer = lane.buffers.take()
        first = BLOB_BYTES - lane.writer.offset % BLOB_BYTES
        self._piece = Filling(self._buffer[: PIECE_BYTES if first == BLOB_BYTES else first])
        self._came = 0
        self._pending: asyncio.Future[None] | None = None
        self._unsynced = 0
        self._stalled_s = 0.0

    async def pour(self, body: AsyncIterator[bytes], rest: Rest = no_rest) -> None:
        """Return once all bytes of the request are durable.

        Args:
            body: The bytes.
            rest: Asked after each part of `body`; where it knows a direct way, that is taken.

        Raises:
            OversizedError: The bytes exceed the recording's size.
            ChecksumError: They do not match the checksum.
            BrokenOffError: The sender stopped early. Its bytes are durable unless it sent a
                checksum, which an incomplete request cannot match.
            UnavailableError: The medium failed or is full.
        """
        broken: BrokenOffError | None = None
        try:
            await self._receive(body, rest)
        except BrokenOffError as error:
            broken = error
        if broken is None or self._hash is None:
            await self._lane.run(partial(self._take, self._piece.came, self._buffer))
            self._check()
            await self._lane.run(self._lane.writer.sync)
        if broken is not None and self._lane.writer.offset < self._lane.writer.size:
            raise broken

    async def _receive(self, body: AsyncIterator[bytes], rest: Rest) -> None:
        loop, lane = asyncio.get_running_loop(), self._lane
        direct: DirectBody | None = None
        start_s = time.perf_counter()
        try:
            async with asyncio.timeout(None) as limit:
                self._patience = lane.await_sender(
                    self._idle_limit_s, lambda: limit.reschedule(loop.time())
                )
                room = lane.writer.size - lane.writer.offset
                async for chunk in body:
                    await self._copy(chunk, room)
                    if (direct := rest()) is not None:
                        break
                while direct is not None and not direct.ended:
                    await self._fill(direct)
        except BodyLostError as error:
            raise BrokenOffError(str(error)) from error
        except TimeoutError as error:
            if lane.yields:
                raise BrokenOffError(_YIELDED) from error
            silent_s = loop.time() - self._patience.heard_s
            raise BrokenOffError(f"no bytes came for {silent_s:.1f} s; send the rest") from error
        finally:
            lane.no_longer_await_sender()
            taken_s = time.perf_counter() - start_s - self._stalled_s
            self._stages.took(Stage.RECEIVE, taken_s, self._came)
            if self._pending is not None:
                await self._pending

    async def _copy(self, chunk: bytes, room: int) -> None:
        """Take bytes that are in memory already, at most as many as there is room for."""
        if self._came + len(chunk) > room:
            raise OversizedError(
                f"recording {self._lane.recording_id.hex()} has {self._lane.writer.size} bytes, "
                f"got at least {self._came + len(chunk) - room} more"
            )
        self._heard(len(chunk))
        view = memoryview(chunk)
        while view:
            view = view[self._piece.take(view) :]
            if self._piece.is_full:
                await self._hand_over()
        await self._pace(len(chunk))

    async def _fill(self, direct: DirectBody) -> None:
        """Have the socket fill the piece; the head has promised no more bytes than fit."""
        if not self._throttle.bytes_per_s:
            await direct.fill(self._piece, self._heard)
        else:
            await self._fill_a_little(direct)
        if self._piece.is_full:
            await self._hand_over()
        self._let_others()

    async def _fill_a_little(self, direct: DirectBody) -> None:
        piece = self._piece
        before = piece.filled
        little = Filling(piece.memory[before : before + THROTTLED_BYTES])
        try:
            await direct.fill(little, self._heard)
        finally:
            piece.filled += little.filled
        await self._pace(little.filled)

    def _heard(self, size: int) -> None:
        """Note that bytes came."""
        self._came += size
        self._patience.heard()

    def _let_others(self) -> None:
        if self._lane.yields:
            raise BrokenOffError(_YIELDED)

    async def _pace(self, size: int) -> None:
        """Make the device wait if it is ahead of its pace."""
        if self._throttle.bytes_per_s:
            self._patience.pause()
            await self._throttle.pass_on(self._lane.claim.device_id, size)
            self._patience.heard()
        self._let_others()

    async def _hand_over(self) -> None:
        """Give the full piece to the lane's thread once it has written the one before."""
        self._patience.pause()
        if self._pending is not None:
            since_s = time.perf_counter()
            await self._pending
            self._stalled_s += time.perf_counter() - since_s
        self._pending = self._lane.run(partial(self._take, self._piece.came, self._buffer))
        self._buffer = self._lane.buffers.take()
        self._piece = Filling(self._buffer)
        self._patience.heard()

    def _take(self, data: memoryview, buffer: memoryview) -> None:
        """Write a piece, in the lane's thread; its buffer comes back once all of it is stored."""
        if self._hash is not None:
            self._hash.update(data)
        writer = self._lane.writer
        writer.write(data, partial(self._lane.buffers.give_back, buffer))
        if self._hash is not None:
            return  # no checkpoint: the offset may only advance over checked bytes
        self._unsynced += len(data)
        if self._unsynced >= CHECKPOINT_BYTES:
            writer.sync()
            self._unsynced = 0

    def _check(self) -> None:
        if self._checksum is not None and self._hash is not None:
            self._checksum.compare(self._hash.digest())
