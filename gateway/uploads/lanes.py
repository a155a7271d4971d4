"""One lane for each open recording: its writer, its thread, and the one request that feeds it.

Everything about a recording happens in its lane's thread, in order; the event
loop only moves bytes, and stops reading while two pieces wait for the disk. A
lane stays open between requests, since opening it again reads and hashes all
that came before; the one unused for longest makes room for a new one.
"""

import asyncio
import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.store import RecordingStore
from storage.recordings.writer import RecordingWriter
from storage.stages import Stage, Stages

TAKEOVER_WAIT_S: Final = 10.0
WRITE_BYTES: Final = BLOB_BYTES
CHECKPOINT_BYTES: Final = 64 << 20

_T = TypeVar("_T")


class OversizedError(RejectedError):
    """More bytes than allowed or announced."""


class ChecksumError(RejectedError):
    """The bytes of one request differ from its checksum; none of them is kept."""


class BusyError(UnavailableError):
    """Another request is writing that recording."""


class CrowdedError(UnavailableError):
    """As many uploads as allowed are under way."""


class BrokenOffError(UnavailableError):
    """The sender fell silent or its link broke; what arrived is kept, unless it had a checksum."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the bytes of one request must hash to.

    Attributes:
        algorithm: `sha256` or `sha1`.
        digest: Its value.
    """

    algorithm: str
    digest: bytes


class Lane:
    """An open recording.

    Attributes:
        held: Whether a request holds it.
        free: Set while none does.
        clock: Ends the request when it falls silent; None while it waits for no bytes.
        heard_s: Event loop time at which bytes last came.
    """

    def __init__(self, recording_id: bytes) -> None:
        self._thread = ThreadPoolExecutor(1, f"upload-{recording_id.hex()[:8]}")
        self.recording_id = recording_id
        self._writer: RecordingWriter | None = None
        self.held = True
        self.free = asyncio.Event()
        self.clock: asyncio.Timeout | None = None
        self.heard_s = 0.0

    @property
    def writer(self) -> RecordingWriter:
        """The open writer; its work is done through `run`, by whoever holds the lane."""
        if self._writer is None:
            raise UnavailableError(f"recording {self.recording_id.hex()} is not open")
        return self._writer

    def run(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """Do blocking work in the lane's thread, after what was queued before."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def open(self, store: RecordingStore, size: int) -> None:
        """Begin or resume the recording."""

        def begin() -> None:  # in the thread, so that a cancelled request leaks no writer
            self._writer = store.begin(self.recording_id, size)

        await self.run(begin)

    async def close(self) -> None:
        """Let go of the recording; what is not synced is forgotten."""
        try:
            await self.run(lambda: self._writer.close() if self._writer else None)
        finally:
            self._thread.shutdown(wait=False)


class Lanes:
    """The open recordings of one gateway, a bounded number of them.

    Args:
        store: Where recordings go.
        open_max: How many may be open at once.
        quiet_s: A request that sends nothing for that long yields to a newer one.
    """

    def __init__(self, store: RecordingStore, *, open_max: int, quiet_s: float) -> None:
        self._store = store
        self._open_max = open_max
        self._quiet_s = quiet_s
        self._lanes: dict[bytes, Lane] = {}  # those unused for longest first
        self._loop: asyncio.AbstractEventLoop | None = None

    def is_held(self, recording_id: bytes) -> bool:
        """Say whether a request is at that recording right now."""
        lane = self._lanes.get(recording_id)
        return lane is not None and lane.held

    @asynccontextmanager
    async def hold(self, recording_id: bytes, size: int) -> AsyncIterator[Lane]:
        """Have a recording for oneself, its writer open where it is durable.

        Raises:
            BusyError: A request that is alive has it.
            CrowdedError: Too many are open and none can make room.
            RejectedError: As `RecordingStore.begin`.
            UnavailableError: As `RecordingStore.begin`.
        """
        self._loop = asyncio.get_running_loop()
        lane = await self._enter(recording_id)
        if lane is None:
            lane = self._lanes[recording_id] = Lane(recording_id)
            try:
                await lane.open(self._store, size)
            except BaseException:
                await asyncio.shield(self._drop(lane))
                raise
        try:
            yield lane
        except asyncio.CancelledError:
            await asyncio.shield(self._drop(lane))
            raise
        finally:
            if self._lanes.get(recording_id) is lane:
                await asyncio.shield(self._leave(lane))

    async def expel(self, recording_id: bytes) -> None:
        """Close the lane of a recording, if it has one.

        Raises:
            BusyError: A request that is alive has it.
        """
        if recording_id in self._lanes:
            lane = await self._enter(recording_id)
            if lane is not None:
                await asyncio.shield(self._drop(lane))

    def expel_soon(self, recording_id: bytes) -> None:
        """Have the event loop close a lane, from another thread; return once it is closed.

        Raises:
            BusyError: A request that is alive has it.
            UnavailableError: The event loop does not answer.
        """
        loop = self._loop
        if loop is None or loop.is_closed():
            return  # nothing is open
        closing = asyncio.run_coroutine_threadsafe(self.expel(recording_id), loop)
        try:
            closing.result(TAKEOVER_WAIT_S)
        except (TimeoutError, CancelledError) as error:
            closing.cancel()
            raise UnavailableError(
                f"upload of recording {recording_id.hex()} was not closed"
            ) from error

    async def close(self) -> None:
        """Close every lane; what is durable can be continued."""
        for lane in list(self._lanes.values()):
            await self._drop(lane)

    async def _enter(self, recording_id: bytes) -> Lane | None:
        """Hold the lane and return it; None when there is none and there is room for it."""
        while True:
            lane = self._lanes.get(recording_id)
            if lane is not None and lane.held:
                await self._take_over(lane)
            elif lane is not None:
                lane.held = True
                lane.free.clear()
                return lane
            elif len(self._lanes) < self._open_max:
                return None
            else:
                await self._make_room()

    async def _take_over(self, lane: Lane) -> None:
        """End the request that holds the lane if it has fallen silent, and wait until it is out.

        A truck whose link broke comes back over a new connection long before the old one is
        known to be dead; it must not wait for that.
        """
        now = asyncio.get_running_loop().time()
        clock = lane.clock
        if clock is None or clock.when() is None or now - lane.heard_s < self._quiet_s:
            raise BusyError(f"recording {lane.recording_id.hex()} is being written by a request")
        if not clock.expired():
            clock.reschedule(now)
        try:
            async with asyncio.timeout(TAKEOVER_WAIT_S):
                await lane.free.wait()
        except TimeoutError as error:
            raise BusyError(
                f"recording {lane.recording_id.hex()}: the request before did not end "
                f"within {TAKEOVER_WAIT_S} s"
            ) from error

    async def _make_room(self) -> None:
        lane = next((lane for lane in self._lanes.values() if not lane.held), None)
        if lane is None:
            raise CrowdedError(f"{self._open_max} uploads are under way, as many as allowed")
        lane.held = True
        lane.free.clear()
        await asyncio.shield(self._drop(lane))

    async def _leave(self, lane: Lane) -> None:
        if not lane.writer.rests:
            await self._drop(lane)
            return
        self._lanes[lane.recording_id] = self._lanes.pop(lane.recording_id)
        lane.held = False
        lane.free.set()

    async def _drop(self, lane: Lane) -> None:
        try:
            await lane.close()
        finally:
            self._lanes.pop(lane.recording_id, None)
            lane.free.set()


class Pouring:
    """Moves the bytes of one request into a lane.

    Args:
        lane: A lane that the request holds.
        checksum: What the bytes must hash to, if the sender said so.
        idle_limit_s: Longest silence of the sender, seconds.
        stages: Told how long its bytes were awaited.
    """

    def __init__(
        self, lane: Lane, checksum: Checksum | None, idle_limit_s: float, stages: Stages
    ) -> None:
        self._lane = lane
        self._checksum = checksum
        self._idle_limit_s = idle_limit_s
        self._stages = stages
        self._hash = hashlib.new(checksum.algorithm) if checksum else None
        self._waiting: list[memoryview] = []
        self._room = WRITE_BYTES - lane.writer.offset % WRITE_BYTES
        self._pending: asyncio.Future[None] | None = None
        self._unsynced = 0
        self._stalled_s = 0.0

    async def pour(self, body: AsyncIterator[bytes]) -> None:
        """Return once all bytes of `body` are durable.

        Raises:
            OversizedError: They reach beyond the recording's size.
            ChecksumError: They differ from the checksum.
            BrokenOffError: The sender stopped early; what came is durable unless it had a
                checksum, which an incomplete request cannot meet.
            UnavailableError: The medium failed or is full.
        """
        broken: BrokenOffError | None = None
        try:
            await self._receive(body)
        except BrokenOffError as error:
            broken = error
        if broken is None or self._hash is None:
            await self._lane.run(partial(self._take, self._waiting))
            self._check()
            await self._lane.run(self._lane.writer.sync)
        if broken is not None and self._lane.writer.offset < self._lane.writer.size:
            raise broken

    async def _receive(self, body: AsyncIterator[bytes]) -> None:
        loop, lane = asyncio.get_running_loop(), self._lane
        room = expected = lane.writer.size - lane.writer.offset
        start_s = time.perf_counter()
        lane.heard_s = loop.time()
        try:
            async with asyncio.timeout(self._idle_limit_s) as clock:
                lane.clock = clock
                async for chunk in body:
                    room -= len(chunk)
                    if room < 0:
                        raise OversizedError(
                            f"recording {lane.recording_id.hex()} has {lane.writer.size} bytes, "
                            f"got at least {-room} more"
                        )
                    for taken in self._cut(chunk):
                        self._waiting.append(taken)
                        self._room -= len(taken)
                        if not self._room:
                            clock.reschedule(None)  # now the sender waits for us
                            await self._hand_over()
                    lane.heard_s = loop.time()
                    clock.reschedule(lane.heard_s + self._idle_limit_s)
        except TimeoutError as error:
            silent_s = loop.time() - lane.heard_s
            raise BrokenOffError(f"no bytes came for {silent_s:.1f} s; send the rest") from error
        finally:
            lane.clock = None
            taken_s = time.perf_counter() - start_s - self._stalled_s
            self._stages.took(Stage.RECEIVE, taken_s, expected - room)
            if self._pending is not None:
                await self._pending

    def _cut(self, chunk: bytes) -> Iterator[memoryview]:
        """Yield the chunk in parts that end where pieces do: on the bounds of blobs."""
        view = memoryview(chunk)
        while view:
            taken = view[: self._room]
            view = view[len(taken) :]
            yield taken

    async def _hand_over(self) -> None:
        if self._pending is not None:
            since_s = time.perf_counter()
            await self._pending
            self._stalled_s += time.perf_counter() - since_s
        self._pending = self._lane.run(partial(self._take, self._waiting))
        self._waiting, self._room = [], WRITE_BYTES

    def _take(self, parts: list[memoryview]) -> None:
        """Runs in the lane's thread; joins the parts once, and nobody copies them again."""
        data, writer = b"".join(parts), self._lane.writer
        parts.clear()
        writer.write(data)
        if self._hash is not None:
            self._hash.update(data)
            return  # no checkpoint: an offset may only advance over checked bytes
        self._unsynced += len(data)
        if self._unsynced >= CHECKPOINT_BYTES:
            writer.sync()
            self._unsynced = 0

    def _check(self) -> None:
        if self._checksum is None or self._hash is None:
            return
        actual = self._hash.digest()
        if not hmac.compare_digest(actual, self._checksum.digest):
            raise ChecksumError(
                f"{self._checksum.algorithm} of the bytes is {actual.hex()}, "
                f"expected {self._checksum.digest.hex()}; none of them is kept"
            )
