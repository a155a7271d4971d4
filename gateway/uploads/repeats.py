"""Uploads that were announced again: their sender may begin at 0, although bytes of them are here.

A client that lost the answer to its announcement, or never kept the upload's URL, announces the
recording again and begins at 0, as tus lets it. The bytes that are here already are read once more
and dropped, the ones behind them are written. A client that asks for the offset instead continues
there.

Source: tus resumable upload protocol 1.0.0, creation: "implicit offset of 0".
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final

from gateway.uploads.pouring import BrokenOffError, Checksum, OversizedError
from gateway.uploads.status import UploadStatus
from gateway.uploads.throttle import Throttle

REPEATS_MAX: Final = 4_096
"""Repeated uploads that are remembered; the sender of a forgotten one must ask for the offset."""


Pace = Callable[[int], Awaitable[None]]


class Repeats:
    """The offsets that senders of repeated uploads have reached; for one event loop.

    Args:
        idle_limit_s: Longest silence of a sender, seconds.
        throttle: Slows down each device's uploads.
    """

    def __init__(self, idle_limit_s: float, throttle: Throttle) -> None:
        self._idle_limit_s = idle_limit_s
        self._throttle = throttle
        self._offsets: dict[tuple[bytes, str], int] = {}

    def move(self, recording_id: bytes, device_id: str, offset: int) -> None:
        """Note how far a sender has come again; 0 begins."""
        self._offsets.pop((recording_id, device_id), None)
        self._offsets[recording_id, device_id] = offset
        if len(self._offsets) > REPEATS_MAX:
            del self._offsets[next(iter(self._offsets))]

    def at(self, recording_id: bytes, device_id: str) -> int | None:
        """Return how far a sender has come again; None if it does not repeat the upload."""
        return self._offsets.get((recording_id, device_id))

    def forget(self, recording_id: bytes, device_id: str) -> None:
        """Have a sender continue at the upload's own offset."""
        self._offsets.pop((recording_id, device_id), None)

    async def check_empty(self, body: AsyncIterator[bytes]) -> None:
        """Read a request for a whole upload to its end; it has no bytes.

        A client that waits for `100 Continue` takes an answer before it for a refusal.

        Raises:
            OversizedError: It has bytes.
            BrokenOffError: The sender stopped early.
        """
        await _Body(body, 0, 0, self._idle_limit_s).drop(_unpaced, None)

    async def drop(
        self,
        recording_id: bytes,
        device_id: str,
        here: UploadStatus,
        offset: int,
        body: AsyncIterator[bytes],
        checksum: Checksum | None,
    ) -> AsyncIterator[bytes] | None:
        """Drop the bytes of a request that are here, and note how far its sender has come.

        With a checksum, all bytes are dropped: they count as a whole or not at all, and the ones
        that are here are not hashed together with the ones that are not.

        Returns:
            The bytes that are not here; None if the request brings none.

        Raises:
            OversizedError: The bytes exceed the upload's size.
            ChecksumError: They do not match the checksum.
            BrokenOffError: The sender stopped early.
        """
        repeated = _Body(body, here.offset - offset, here.size - offset, self._idle_limit_s)
        kept = 0
        try:
            goes_on = await repeated.drop(partial(self._throttle.pass_on, device_id), checksum)
            kept = repeated.dropped
        except BrokenOffError:
            kept = 0 if checksum else repeated.dropped
            raise
        finally:
            self.move(recording_id, device_id, offset + kept)
        return repeated.rest() if goes_on else None


async def _unpaced(_: int) -> None:
    pass


class _Body:
    """The body of a request that begins with bytes that are here.

    Args:
        body: All bytes; raises BrokenOffError when the connection breaks.
        here: How many of them are here.
        most: How many may come.
        idle_limit_s: Longest silence of the sender, seconds.

    Attributes:
        dropped: How many of the ones that are here came, and were dropped.
    """

    def __init__(
        self, body: AsyncIterator[bytes], here: int, most: int, idle_limit_s: float
    ) -> None:
        self._body = body
        self._here = here
        self._most = most
        self._idle_limit_s = idle_limit_s
        self._came = 0
        self._behind = b""
        self.dropped = 0

    async def drop(self, pace: Pace, checksum: Checksum | None) -> bool:
        """Drop the bytes that are here; with a checksum all bytes, which must match it.

        Returns:
            Whether more bytes come, which are not here.

        Raises:
            OversizedError: More bytes came than may come.
            ChecksumError: The bytes do not match the checksum.
            BrokenOffError: The sender stopped early.
        """
        hashed = hashlib.new(checksum.algorithm) if checksum else None
        while chunk := await self._next():
            known = chunk[: self._here - self.dropped]
            self.dropped += len(known)
            if hashed is None and len(known) < len(chunk):
                self._behind = chunk[len(known) :]
                return True
            if hashed is not None:
                hashed.update(chunk)
            await pace(len(chunk))
        if checksum is not None and hashed is not None:
            checksum.compare(hashed.digest())
        return False

    async def rest(self) -> AsyncIterator[bytes]:
        """Yield the bytes that are not here."""
        yield self._behind
        async for chunk in self._body:
            yield chunk

    async def _next(self) -> bytes:
        """Return the next bytes of the body, or none at its end."""
        chunk = b""
        try:
            async with asyncio.timeout(self._idle_limit_s):
                while not chunk:
                    chunk = await anext(self._body)
        except StopAsyncIteration:
            return b""
        except TimeoutError as error:
            raise BrokenOffError(
                f"no bytes came for {self._idle_limit_s} s; send the rest"
            ) from error
        self._came += len(chunk)
        if self._came > self._most:
            raise OversizedError(f"expected at most {self._most} bytes, got {self._came} or more")
        return chunk
