"""Takes recordings in, byte by byte as they come, and knows which of them are whole.

The rules of tus 1.0 without HTTP: an offset is only ever what is durable, one
request at a time writes a recording, and what arrived before a link broke is
kept.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from contracts.copies import Copy
from contracts.errors import RejectedError, WaysealError
from gateway.access import Caller
from gateway.uploads.lanes import Checksum, Lane, Lanes, OversizedError, Pouring
from storage.recordings.manifest import RECORDING_BYTES_MAX
from storage.recordings.store import RecordingStore
from storage.stages import Stages, Untold

UPLOAD_BYTES_MAX: Final = RECORDING_BYTES_MAX
OPEN_UPLOADS_MAX: Final = 8
IDLE_LIMIT_S: Final = 30.0
QUIET_S: Final = 5.0

_log = logging.getLogger(__name__)


class UnknownUploadError(RejectedError):
    """No upload of that recording was begun."""


class NotAcceptedError(RejectedError):
    """This caller may not upload, continue or end that recording."""


class ConflictError(RejectedError):
    """The request does not fit what is already here.

    Attributes:
        expected: What is here: an offset or a size in bytes.
        actual: What the request named.
    """

    def __init__(self, what: str, expected: int, actual: int) -> None:
        super().__init__(f"{what}: expected {expected}, got {actual}")
        self.expected = expected
        self.actual = actual


Accepts = Callable[[bytes, int, Caller], None]
"""Raises RejectedError unless the caller may upload that recording id with that size."""


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """Where an upload stands.

    Attributes:
        offset: Durable bytes.
        size: Bytes that the recording will have.
        whole: Whether all of it is stored, under the digest it was announced with.
        copies: The whole copies; none before.
    """

    offset: int
    size: int
    whole: bool
    copies: tuple[Copy, ...] = ()


class Uploads:
    """The uploads of one gateway; used from one event loop.

    Args:
        store: Where recordings go.
        on_finished: Called in the event loop with the id of a recording that became whole, and
            again when it is announced again; must not block. After a kill ask `status`.
        accepts: Asked at creation and before each change.
        open_max: How many uploads may be under way at once.
        idle_limit_s: A request that sends nothing for that long is ended.
        quiet_s: A request that sends nothing for that long yields to a newer one.
        stages: Told how long senders' bytes were awaited.
    """

    def __init__(
        self,
        store: RecordingStore,
        on_finished: Callable[[bytes], None],
        accepts: Accepts | None = None,
        *,
        open_max: int = OPEN_UPLOADS_MAX,
        idle_limit_s: float = IDLE_LIMIT_S,
        quiet_s: float = QUIET_S,
        stages: Stages | None = None,
    ) -> None:
        self._store = store
        self._on_finished = on_finished
        self._accepts = accepts
        self._idle_limit_s = idle_limit_s
        self._stages = stages or Untold()
        self._lanes = Lanes(store, open_max=open_max, quiet_s=quiet_s)

    def status(self, recording_id: bytes) -> UploadStatus | None:
        """Return where the upload stands, None when it was never begun. Reads a small file.

        Raises:
            RejectedError: The recording's manifest is damaged.
            UnavailableError: The medium failed.
        """
        progress = self._store.progress(recording_id)
        if progress is not None:
            return UploadStatus(progress.offset, progress.size, whole=False)
        manifest = self._store.manifest(recording_id)
        if manifest is None:
            return None
        return UploadStatus(manifest.size, manifest.size, whole=True, copies=manifest.copies)

    def is_damaged(self, recording_id: bytes) -> bool:
        """Say whether another site's blobs of it did not hold, so that a sender has to bring it.

        Raises:
            UnavailableError: The medium failed.
        """
        return self._store.shelves.catalogue.is_damaged(recording_id)

    async def settled_status(self, recording_id: bytes) -> UploadStatus:
        """Return where the upload stands; one that has all its bytes is first brought to an end.

        A kill or a full disk may have come between the last byte and the manifest. The sender
        sees the full offset then, sends nothing more, and must not wait for ever.

        Raises:
            UnknownUploadError: It was never begun.
            DigestError: All bytes are here and they are the wrong ones; the upload starts over.
            UnavailableError: The medium failed or is full.
        """
        status = await self._known(recording_id)
        if status.whole or status.offset < status.size or self._lanes.is_held(recording_id):
            return status
        return await self._begin(recording_id, status.size)

    async def create(self, recording_id: bytes, size: int, caller: Caller) -> UploadStatus:
        """Begin an upload, or find the one that was begun with the same size.

        What another site has put into the blob store, whole, is whole here too: not taken again,
        unless it did not hold when it was read.

        Raises:
            OversizedError: More than UPLOAD_BYTES_MAX.
            NotAcceptedError: The gate refuses.
            ConflictError: It was begun with another size.
            CrowdedError: Too many are under way.
            DigestError: An empty recording that was announced with another digest.
            UnavailableError: No room, or the medium failed.
        """
        if not 0 <= size <= UPLOAD_BYTES_MAX:
            raise OversizedError(f"upload must have 0..{UPLOAD_BYTES_MAX} bytes, got {size}")
        self._check_accepted(recording_id, size, caller)
        known = await asyncio.to_thread(self._found, recording_id, size)
        if known is None:
            return await self._begin(recording_id, size)
        if known.size != size:
            raise ConflictError(f"size of recording {recording_id.hex()}", known.size, size)
        if known.whole:
            self._on_finished(recording_id)  # the first call may have died with a process
        return await self.settled_status(recording_id)

    async def append(
        self,
        recording_id: bytes,
        offset: int,
        body: AsyncIterator[bytes],
        caller: Caller,
        *,
        length: int | None = None,
        checksum: Checksum | None = None,
    ) -> UploadStatus:
        """Take the bytes of one request and return what is durable after it.

        Args:
            recording_id: 32 bytes.
            offset: Where the sender believes the upload stands.
            body: The bytes; it raises BrokenOffError when the link breaks.
            caller: Who sends.
            length: How many bytes will come, if the sender said so.
            checksum: What they must hash to; with it they count as a whole or not at all.

        Raises:
            UnknownUploadError: It was never begun.
            NotAcceptedError: The gate refuses.
            ConflictError: The upload stands elsewhere.
            OversizedError: The bytes reach beyond the announced size.
            ChecksumError: They differ from the checksum.
            DigestError: The recording is complete and not the announced one.
            BusyError: Another request is at it.
            CrowdedError: Too many uploads are under way.
            BrokenOffError: The sender stopped early.
            UnavailableError: No room, or the medium failed.
        """
        known = await self._known(recording_id)
        self._check_accepted(recording_id, known.size, caller)
        if known.whole:
            _check_place(known, offset, length)
            return known
        async with self._lanes.hold(recording_id, known.size) as lane:
            here = UploadStatus(lane.writer.offset, known.size, whole=False)
            _check_place(here, offset, length)
            await Pouring(lane, checksum, self._idle_limit_s, self._stages).pour(body)
            return await self._end_if_full(lane)

    async def terminate(self, recording_id: bytes, caller: Caller) -> None:
        """Forget a partial upload and its bytes.

        Raises:
            UnknownUploadError: It was never begun.
            NotAcceptedError: The gate refuses, or the recording is whole: those are kept.
            BusyError: A request is writing it.
            UnavailableError: The medium failed.
        """
        known = await self._known(recording_id)
        self._check_accepted(recording_id, known.size, caller)
        if known.whole:
            raise NotAcceptedError(f"recording {recording_id.hex()} is whole and is kept")
        await self._lanes.expel(recording_id)
        await asyncio.to_thread(self._store.delete, recording_id)

    def let_go(self, recording_id: bytes) -> None:
        """Close an upload that no request is at, so that it can be deleted; from any thread.

        Raises:
            UnavailableError: A request is at it, or the event loop does not answer.
        """
        self._lanes.expel_soon(recording_id)

    async def close(self) -> None:
        """Let go of every upload; what is durable stays and can be continued."""
        await self._lanes.close()

    def _found(self, recording_id: bytes, size: int) -> UploadStatus | None:
        """Return where the upload stands, once it was looked for in the blob store of all sites."""
        known = self.status(recording_id)
        if known is not None and (known.whole or known.size != size):
            return known
        try:
            adopted = self._store.adopt(recording_id, size)
        except WaysealError as error:
            _log.info("recording %s is taken from its sender: %s", recording_id.hex(), error)
            return known
        return UploadStatus(size, size, whole=True) if adopted else known

    async def _known(self, recording_id: bytes) -> UploadStatus:
        status = await asyncio.to_thread(self.status, recording_id)
        if status is None:
            raise UnknownUploadError(f"no upload of recording {recording_id.hex()} was begun")
        return status

    async def _begin(self, recording_id: bytes, size: int) -> UploadStatus:
        async with self._lanes.hold(recording_id, size) as lane:
            return await self._end_if_full(lane)

    async def _end_if_full(self, lane: Lane) -> UploadStatus:
        writer = lane.writer
        if writer.offset < writer.size:
            return UploadStatus(writer.offset, writer.size, whole=False)
        await lane.run(writer.finish)
        self._on_finished(lane.recording_id)
        return UploadStatus(writer.size, writer.size, whole=True)

    def _check_accepted(self, recording_id: bytes, size: int, caller: Caller) -> None:
        if self._accepts is None:
            return
        try:
            self._accepts(recording_id, size, caller)
        except RejectedError as error:
            raise NotAcceptedError(str(error)) from error


def _check_place(here: UploadStatus, offset: int, length: int | None) -> None:
    if offset != here.offset:
        raise ConflictError("upload offset", here.offset, offset)
    if offset + (length or 0) > here.size:
        raise OversizedError(f"upload has {here.size} bytes, got {length} more at {offset}")
