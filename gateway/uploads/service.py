"""Takes in recordings as their bytes arrive, and knows which ones are whole.

The rules of tus 1.0 without HTTP: the offset counts only durable bytes, one
request at a time writes an upload, and bytes that arrived before a connection
broke are kept. A partial upload belongs to the device that began it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial

from contracts.errors import RejectedError, UnavailableError
from gateway.access import Caller
from gateway.uploads.claims import Claim, Claims, ConflictError
from gateway.uploads.known import KnownUploads
from gateway.uploads.lanes import Lane, Lanes
from gateway.uploads.limits import Places
from gateway.uploads.pouring import BrokenOffError, Checksum, OversizedError, Pouring, Rest, no_rest
from gateway.uploads.repeats import Repeats
from gateway.uploads.spoiled import Spoiled
from gateway.uploads.status import (
    Accepts,
    NotAcceptedError,
    UploadLimits,
    UploadStatus,
)
from gateway.uploads.throttle import Throttle
from storage.recordings.staging import promote
from storage.recordings.store import RecordingStore
from storage.stages import NOT_RECORDED, Stages

_log = logging.getLogger(__name__)


class Uploads:
    """The uploads of one gateway; used from one event loop.

    Args:
        store: Where recordings are written.
        claims: Whose partial uploads there are.
        on_finished: Called in the event loop with the id of a recording that became whole, and
            again when it is announced again; must not block. After a kill ask `known.status`.
        accepts: Asked at creation and before each change.
        places: How many uploads may be open at once.
        limits: How long and how fast uploads may be.
        stages: Records how long senders' bytes took.

    Attributes:
        claims: Whose partial uploads there are.
        known: Where uploads stand.
        lanes: The uploads that are open now.
        limits: How long and how fast uploads may be.
    """

    def __init__(
        self,
        store: RecordingStore,
        claims: Claims,
        on_finished: Callable[[bytes], None],
        accepts: Accepts,
        *,
        places: Places | None = None,
        limits: UploadLimits | None = None,
        stages: Stages = NOT_RECORDED,
    ) -> None:
        self._store = store
        self._on_finished = on_finished
        self._stages = stages
        self.lanes = Lanes(store, places or Places())
        self.limits = limits or UploadLimits()
        self.known = KnownUploads(store, claims, self.limits, accepts)
        self._throttle = Throttle(self.limits.bytes_per_s)
        self._spoiled = Spoiled()
        self._repeats = Repeats(self.limits.idle_s, self._throttle)
        self.claims = claims

    async def settled_status(self, recording_id: bytes, caller: Caller) -> UploadStatus:
        """Return where the caller's upload stands; one with all its bytes is finished first.

        A kill or a full disk may have come between the last byte and the manifest. Then the
        sender sees the full offset, sends nothing more, and must not wait for ever. A sender that
        asks continues there, also if it had announced the recording again.

        Raises:
            UnknownUploadError: It was never begun, or age has deleted it.
            DigestError: All bytes are here, but they are the wrong ones; the upload starts over.
            UnavailableError: The medium failed or is full.
        """
        self._repeats.forget(recording_id, caller.name)
        whole = await asyncio.to_thread(self.known.whole, recording_id)
        if whole is not None:
            said = await asyncio.to_thread(self.claims.metadata, recording_id, caller.name)
            return replace(whole, metadata=said)
        return await self._settled(
            await asyncio.to_thread(self.known.claim_of, recording_id, caller)
        )

    async def create(
        self, recording_id: bytes, size: int, caller: Caller, metadata: str = ""
    ) -> UploadStatus:
        """Begin an upload, or return the one that the caller began with the same size.

        The caller may then begin at 0, or ask where the upload stands and continue there. A
        recording that another site has put into the blob store is whole here too. It need not be
        uploaded again, unless its blobs were found to be bad.

        Args:
            recording_id: 32 bytes.
            size: Bytes of the whole recording.
            caller: The sender.
            metadata: The sender's Upload-Metadata about it.

        Raises:
            OversizedError: More than `limits` allow.
            NotAcceptedError: `accepts` refuses.
            ConflictError: The caller began it with another size, or it is whole with another size.
            QuotaError: The caller has too many partial uploads.
            CrowdedError: Too many uploads are open.
            DigestError: The recording is empty, but was announced with another digest.
            UnavailableError: No room, or the medium failed.
        """
        if not 0 <= size <= self.limits.bytes_max:
            raise OversizedError(f"upload must have 0..{self.limits.bytes_max} bytes, got {size}")
        self.known.check_accepted(recording_id, size, caller)
        status = await asyncio.to_thread(self.known.found, recording_id, size)
        if status is None:
            claim = await asyncio.to_thread(self._claimed, recording_id, caller, size, metadata)
            is_begun = await asyncio.to_thread(self._store.progress, claim.upload) is not None
            status = await (self._settled(claim) if is_begun else self._begin(claim))
        elif status.size != size:
            raise ConflictError(f"size of recording {recording_id.hex()}", status.size, size)
        else:
            await asyncio.to_thread(self.claims.finish, recording_id, caller.name, metadata)
            self._on_finished(recording_id)  # a kill may have prevented the first call
        self._repeats.forget(recording_id, caller.name)
        if status.offset:
            self._repeats.move(recording_id, caller.name, 0)
        return status

    async def append(
        self,
        recording_id: bytes,
        offset: int,
        body: AsyncIterator[bytes],
        caller: Caller,
        *,
        length: int | None = None,
        checksum: Checksum | None = None,
        rest: Rest = no_rest,
    ) -> UploadStatus:
        """Take the bytes of one request and return where the upload stands after it.

        Args:
            recording_id: 32 bytes.
            offset: The upload's offset as the sender knows it.
            body: The bytes; raises BrokenOffError when the connection breaks.
            caller: The sender.
            length: How many bytes will come, if the sender said so.
            checksum: Checksum of the bytes; if it is given, all of them are kept or none.
            rest: Returns a direct way to the bytes that `body` has not yielded, if there is one.

        Raises:
            UnknownUploadError: It was never begun, or age has deleted it.
            NotAcceptedError: `accepts` refuses.
            ConflictError: The upload has another offset.
            OversizedError: The bytes exceed the announced size.
            ChecksumError: They do not match the checksum.
            SpoiledError: Too many requests of this upload failed so.
            DigestError: The recording is complete, but is not the announced one.
            BusyError: Another request is writing it.
            CrowdedError: Too many uploads are open.
            BrokenOffError: The sender stopped early, or it is another device's turn.
            UnavailableError: No room, or the medium failed.
        """
        if offset == self._repeats.at(recording_id, caller.name):
            here = await asyncio.to_thread(self.known.here, recording_id, caller)
            if here.offset > offset:
                return await self._append_again(
                    recording_id, offset, body, caller, here, length=length, checksum=checksum
                )
        whole = await asyncio.to_thread(self.known.whole, recording_id)
        if whole is not None:
            self.known.check_accepted(recording_id, whole.size, caller)
            whole.check_place(offset, length)
            await self._repeats.check_empty(body)
            return whole
        claim = await asyncio.to_thread(self.known.claim_of, recording_id, caller)
        self.known.check_accepted(recording_id, claim.size, caller)
        self._spoiled.check(claim, length, checksum)
        async with self.lanes.hold(claim) as lane:
            here = UploadStatus(lane.writer.offset, claim.size, whole=False)
            here.check_place(offset, length)
            pouring = Pouring(lane, checksum, self.limits.idle_s, self._stages, self._throttle)
            try:
                await pouring.pour(body, rest)
            except (RejectedError, BrokenOffError):
                self._count_spoiled(lane, offset)
                raise
            return await self._end_if_full(lane)

    async def terminate(self, recording_id: bytes, caller: Caller) -> None:
        """Delete the caller's partial upload and its bytes; end a request that is writing it.

        Raises:
            UnknownUploadError: It was never begun, or age has deleted it.
            NotAcceptedError: `accepts` refuses, or the recording is whole and is kept.
            BusyError: A request is writing it and does not end.
            UnavailableError: The medium failed.
        """
        whole = await asyncio.to_thread(self.known.whole, recording_id)
        if whole is not None:
            self.known.check_accepted(recording_id, whole.size, caller)
            raise NotAcceptedError(f"recording {recording_id.hex()} is whole and is kept")
        claim = await asyncio.to_thread(self.known.claim_of, recording_id, caller)
        self.known.check_accepted(recording_id, claim.size, caller)
        await self.drop(claim)

    async def drop(self, claim: Claim) -> None:
        """Delete a partial upload and its bytes; end a request that is writing it.

        Raises:
            BusyError: The request does not end.
            UnavailableError: The medium failed.
        """
        await self._delete(claim)
        await asyncio.to_thread(self.claims.forget, claim)
        self._spoiled.forget(claim)

    def let_go(self, upload: bytes) -> None:
        """Close an upload that no request is writing, so that it can be deleted; from any thread.

        Raises:
            UnavailableError: A request is writing it, or the event loop does not answer.
        """
        self.lanes.expel_soon(upload)

    async def close(self) -> None:
        """Close every upload; durable bytes stay, and the uploads can continue."""
        await self.lanes.close()

    async def _append_again(
        self,
        recording_id: bytes,
        offset: int,
        body: AsyncIterator[bytes],
        caller: Caller,
        here: UploadStatus,
        *,
        length: int | None,
        checksum: Checksum | None,
    ) -> UploadStatus:
        """Take a request that begins with bytes that are here; see `append`.

        With a checksum it brings nothing new: the answer's offset says where to continue.
        """
        self.known.check_accepted(recording_id, here.size, caller)
        replace(here, offset=offset).check_place(offset, length)
        behind = await self._repeats.drop(recording_id, caller.name, here, offset, body, checksum)
        if behind is None:
            return replace(here, offset=self._repeats.at(recording_id, caller.name) or 0)
        left = None if length is None else length - (here.offset - offset)
        status = await self.append(recording_id, here.offset, behind, caller, length=left)
        self._repeats.forget(recording_id, caller.name)
        return status

    def _claimed(self, recording_id: bytes, caller: Caller, size: int, metadata: str) -> Claim:
        claim = self.claims.claim(recording_id, caller.name, size, metadata)
        progress = self._store.progress(claim.upload)
        if progress is not None and progress.size != size:
            self._store.delete(claim.upload)  # nobody's, of an older gateway
        return claim

    async def _delete(self, claim: Claim) -> None:
        await self.lanes.expel(claim.upload, active=True)
        await asyncio.to_thread(self._store.delete, claim.upload)

    async def _settled(self, claim: Claim) -> UploadStatus:
        status = await asyncio.to_thread(self.known.standing, claim)
        if status.offset < status.size or self.lanes.is_held(claim.upload):
            return status
        return await self._begin(claim)

    async def _begin(self, claim: Claim) -> UploadStatus:
        async with self.lanes.hold(claim) as lane:
            return await self._end_if_full(lane)

    async def _end_if_full(self, lane: Lane) -> UploadStatus:
        writer, claim = lane.writer, lane.claim
        if writer.offset < writer.size:
            return await asyncio.to_thread(self.known.partial, claim, writer.offset)
        if claim.is_staged:
            await lane.run(writer.check)
            await lane.run(writer.close)
            async with self.lanes.barred(claim.recording):
                await lane.run(partial(promote, self._store, claim.upload, claim.recording))
        else:
            await lane.run(writer.finish)
        self._on_finished(claim.recording)
        self._spoiled.forget(claim)
        await self._forget_all(claim)
        return UploadStatus(writer.size, writer.size, whole=True)

    def _count_spoiled(self, lane: Lane, offset: int) -> None:
        """Charge the sender if its kept bytes must be read again."""
        if not lane.writer.rests:
            now_s = asyncio.get_running_loop().time()
            self._throttle.charge(lane.claim.device_id, offset, now_s)
            self._spoiled.count(lane.claim)

    async def _forget_all(self, done: Claim) -> None:
        """Forget the uploads of a recording that is whole now, and drop the ones that were not."""
        for claim in await asyncio.to_thread(self.claims.of, done.recording):
            try:
                if claim.upload != done.upload and claim.is_staged:
                    await self._delete(claim)
                await asyncio.to_thread(
                    self.claims.finish, claim.recording, claim.device_id, claim.metadata
                )
            except UnavailableError as error:  # age will delete it
                about = {"recording_id": claim.recording.hex(), "device_id": claim.device_id}
                _log.warning("upload %s stays: %s", claim.upload.hex(), error, extra=about)
