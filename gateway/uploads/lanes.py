"""One lane for each open upload: its writer, its thread, and the one request that feeds it.

All disk work for an upload happens in its lane's thread, in order. The event
loop only moves bytes, and stops reading while two pieces wait for the disk. A
lane stays open between requests, since opening it again reads and hashes all
earlier bytes; the lane unused for longest makes room for a new one. If all are
in use, devices take turns.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from contracts.errors import UnavailableError
from gateway.uploads.claims import Claim
from gateway.uploads.limits import Places
from gateway.uploads.patience import Patience
from storage.recordings.buffers import Buffers
from storage.recordings.store import RecordingStore
from storage.recordings.writer import RecordingWriter

TAKEOVER_WAIT_S: Final = 10.0

_T = TypeVar("_T")


class BusyError(UnavailableError):
    """Another request is writing the recording."""


class CrowdedError(UnavailableError):
    """The largest allowed number of uploads is open."""


class Lane:
    """An open upload.

    Attributes:
        claim: Whose upload it is.
        buffers: Memory for its pieces.
        free: Set while no request holds it.
        patience: With the sender of the request; None while it receives no bytes.
        held_s: Event loop time at which the request came that holds it.
        yields: Whether the request must end: it is another's turn, or the gateway stops.
    """

    def __init__(self, claim: Claim, buffers: Buffers) -> None:
        self.buffers = buffers
        self._thread = ThreadPoolExecutor(1, f"upload-{claim.upload.hex()[:8]}")
        self.claim = claim
        self._writer: RecordingWriter | None = None
        self.free = asyncio.Event()
        self.patience: Patience | None = None
        self.held_s = asyncio.get_running_loop().time()
        self.yields = False

    @property
    def recording_id(self) -> bytes:
        """The recording that the upload is to become."""
        return self.claim.recording

    @property
    def held(self) -> bool:
        """Say whether a request holds it."""
        return not self.free.is_set()

    @property
    def writer(self) -> RecordingWriter:
        """The open writer; the request that holds the lane calls it through `run`."""
        if self._writer is None:
            raise UnavailableError(f"recording {self.recording_id.hex()} is not open")
        return self._writer

    def run(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """Do blocking work in the lane's thread, after all earlier work."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    def await_sender(self, limit_s: float, end: Callable[[], None]) -> Patience:
        """Begin to receive bytes; `end` is called when the request has to end, as after `limit_s`.

        The request ends it with `no_longer_await_sender`.
        """
        self.patience = Patience(asyncio.get_running_loop(), limit_s, end)
        return self.patience

    def no_longer_await_sender(self) -> None:
        """Receive no more bytes."""
        if self.patience is not None:
            self.patience.close()
            self.patience = None

    def end_request(self) -> None:
        """Have the request that holds it end soon, with what came."""
        self.yields = True
        if self.patience is not None and self.patience.waiting:
            self.patience.end()

    async def open(self, store: RecordingStore) -> None:
        """Begin or resume the upload."""
        claim = self.claim

        def begin() -> None:  # in the thread, so that a cancelled request leaks no writer
            self._writer = store.begin(claim.upload, claim.size, claim.recording)

        await self.run(begin)

    async def close(self) -> None:
        """Close the recording; unsynced bytes are dropped."""
        try:
            await self.run(lambda: self._writer.close() if self._writer else None)
        finally:
            self._thread.shutdown(wait=False)


class Lanes:
    """The open uploads of one gateway; their number is bounded.

    Args:
        store: Where recordings are written.
        places: How many may be open at once.
    """

    def __init__(self, store: RecordingStore, places: Places) -> None:
        self._store = store
        self._places = places
        self._buffers = Buffers()
        self._lanes: dict[bytes, Lane] = {}  # the ones unused for longest come first
        self._barred: set[bytes] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        """Return how many uploads are open."""
        return len(self._lanes)

    def is_held(self, upload: bytes) -> bool:
        """Say whether a request holds an upload at the moment."""
        lane = self._lanes.get(upload)
        return lane is not None and lane.held

    @asynccontextmanager
    async def hold(self, claim: Claim) -> AsyncIterator[Lane]:
        """Hold an upload alone, with its writer open at the durable offset.

        Raises:
            BusyError: An active request holds it.
            CrowdedError: Too many uploads are open, and none can be closed.
            RejectedError: As `RecordingStore.begin`.
            UnavailableError: As `RecordingStore.begin`.
        """
        self._loop = asyncio.get_running_loop()
        lane = await self._enter(claim)
        if lane is None:
            lane = self._lanes[claim.upload] = Lane(claim, self._buffers)
            try:
                await lane.open(self._store)
            except BaseException:
                await asyncio.shield(self._drop(lane))
                raise
        lane.held_s, lane.yields = self._loop.time(), False
        try:
            yield lane
        except asyncio.CancelledError:
            await asyncio.shield(self._drop(lane))
            raise
        finally:
            if self._lanes.get(claim.upload) is lane:
                await asyncio.shield(self._leave(lane))

    async def expel(self, upload: bytes, *, active: bool = False) -> None:
        """Close the lane of an upload, if it has one.

        Args:
            upload: Its id in the store.
            active: Whether a request that holds it must end.

        Raises:
            BusyError: A request holds it that need not end, or does not.
        """
        lane = self._lanes.get(upload)
        if lane is not None and lane.held and active:
            await self._free(lane)
        if upload in self._lanes:
            lane = await self._taken(upload)
            if lane is not None:
                await asyncio.shield(self._drop(lane))

    @asynccontextmanager
    async def barred(self, upload: bytes) -> AsyncIterator[None]:
        """Close an upload's lane, also an active one, and keep it closed for the block.

        Raises:
            BusyError: The request that holds it does not end.
        """
        self._barred.add(upload)
        try:
            await self.expel(upload, active=True)
            yield
        finally:
            self._barred.discard(upload)

    def expel_soon(self, upload: bytes) -> None:
        """Close a lane from another thread than the event loop's; return once it is closed.

        Raises:
            BusyError: An active request holds it.
            UnavailableError: The event loop does not answer.
        """
        loop = self._loop
        if loop is None or loop.is_closed():
            return  # nothing is open
        closing = asyncio.run_coroutine_threadsafe(self.expel(upload), loop)
        try:
            closing.result(TAKEOVER_WAIT_S)
        except (TimeoutError, CancelledError) as error:
            closing.cancel()
            raise UnavailableError(f"upload {upload.hex()} was not closed") from error

    def leave(self) -> None:
        """Have every request end soon, with what came: the gateway stops.

        Safe in a signal handler and in any thread.
        """
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._end_requests)

    async def close(self) -> None:
        """Close every lane; uploads can continue from their durable offsets."""
        for lane in list(self._lanes.values()):
            await self._drop(lane)

    def _end_requests(self) -> None:
        for lane in self._lanes.values():
            if lane.held:
                lane.end_request()

    async def _enter(self, claim: Claim) -> Lane | None:
        """Hold the upload's lane and return it; None if it has no lane and may get one."""
        while True:
            if claim.upload in self._barred:
                raise BusyError(f"recording {claim.recording.hex()} is being completed")
            lane = await self._taken(claim.upload)
            if lane is not None:
                return lane
            own = [each for each in self._lanes.values() if _is_of(each, claim.device_id)]
            if len(own) >= self._places.of_device:
                await self._make_room(own, claim.device_id, f" of {claim.device_id}")
            elif len(self._lanes) >= self._places.open_max:
                await self._make_room(list(self._lanes.values()), claim.device_id)
            else:
                return None

    async def _taken(self, upload: bytes) -> Lane | None:
        """Hold the upload's lane and return it; None if it has no lane."""
        while (lane := self._lanes.get(upload)) is not None:
            if not lane.held:
                lane.free.clear()
                return lane
            await self._take_over(lane)
        return None

    async def _take_over(self, lane: Lane) -> None:
        """End the request that holds the lane if it has gone silent, and wait until it has left.

        A truck whose connection broke returns over a new one long before the old one is known to
        be dead, and must not wait for that.
        """
        now_s, patience = asyncio.get_running_loop().time(), lane.patience
        quiet_s = self._places.quiet_s
        if patience is None or not patience.waiting or now_s - patience.heard_s < quiet_s:
            raise BusyError(f"recording {lane.recording_id.hex()} is being written by a request")
        await self._free(lane)

    async def _free(self, lane: Lane) -> None:
        """End the request that holds the lane, and wait until it has left."""
        lane.end_request()
        try:
            async with asyncio.timeout(TAKEOVER_WAIT_S):
                await lane.free.wait()
        except TimeoutError as error:
            raise BusyError(
                f"recording {lane.recording_id.hex()}: the previous request did not end "
                f"within {TAKEOVER_WAIT_S} s"
            ) from error

    async def _make_room(self, among: list[Lane], device_id: str, whose: str = "") -> None:
        """Close one of these lanes: one that rests, or one whose turn is over."""
        lane = next((lane for lane in among if not lane.held), None)
        if lane is None:
            lane = self._of_the_greediest(among, device_id)
            if lane is None:
                raise CrowdedError(
                    f"{len(among)} uploads{whose} are under way, the most that are allowed"
                )
            await self._free(lane)
        if not lane.held and self._lanes.get(lane.claim.upload) is lane:
            lane.free.clear()
            await asyncio.shield(self._drop(lane))

    def _of_the_greediest(self, among: list[Lane], device_id: str) -> Lane | None:
        """Return the lane that must yield to another device: of the one with the most lanes.

        A device that would still have more than the newcomer yields at once, others after a turn.
        """
        counts = Counter(each.claim.device_id for each in self._lanes.values())
        others = [lane for lane in among if not (_is_of(lane, device_id) or lane.yields)]
        if not others:
            return None
        lane = min(others, key=lambda lane: (-counts[lane.claim.device_id], lane.held_s))
        held_for_s = asyncio.get_running_loop().time() - lane.held_s
        has_more = counts[lane.claim.device_id] > counts[device_id] + 1
        return lane if has_more or held_for_s >= self._places.turn_s else None

    async def _leave(self, lane: Lane) -> None:
        if not lane.writer.rests:
            await self._drop(lane)
            return
        self._lanes[lane.claim.upload] = self._lanes.pop(lane.claim.upload)
        lane.free.set()

    async def _drop(self, lane: Lane) -> None:
        try:
            await lane.close()
        finally:
            self._lanes.pop(lane.claim.upload, None)
            lane.free.set()


def _is_of(lane: Lane, device_id: str) -> bool:
    return lane.claim.device_id == device_id
