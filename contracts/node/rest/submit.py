"""`POST /batches`: in order of arrival, within the queue's limits."""

import asyncio
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from contracts.errors import RejectedError
from contracts.node.publisher import (
    QUEUED_BATCHES_MAX,
    QUEUED_BYTES_MAX,
    Publisher,
    Submission,
)
from contracts.node.rest import errors
from contracts.node.rest.body import announced_length, read_body
from contracts.node.rest.envelope import JsonResponse, link
from contracts.node.statuses import Outcome, Statuses
from contracts.node.verify import VerifiedBatch, Verifier, parse_batches
from contracts.proto.sawtooth_pb2 import Batch

BATCHES_BODY_BYTES_MAX: Final = 16 << 20


class Room:
    """The queue's limits: what is being received, verified or queued counts."""

    def __init__(self) -> None:
        self._batches = 0
        self._bytes = 0

    def take(self, *, batches: int = 0, size: int = 0) -> None:
        """Reserve room.

        Raises:
            ApiError: There is none.
        """
        if self._batches + batches > QUEUED_BATCHES_MAX or self._bytes + size > QUEUED_BYTES_MAX:
            raise errors.QUEUE_FULL.error()
        self._batches += batches
        self._bytes += size

    def give_back(self, *, batches: int = 0, size: int = 0) -> None:
        """Free what was reserved."""
        self._batches -= batches
        self._bytes -= size


class Submit:
    """Takes batches in.

    Args:
        publisher: Makes blocks of them.
        verifier: Checks them.
        statuses: Learns that they are pending.
    """

    def __init__(self, publisher: Publisher, verifier: Verifier, statuses: Statuses) -> None:
        self._publisher = publisher
        self._verifier = verifier
        self._statuses = statuses
        self._room = Room()
        self._last: asyncio.Future[None] | None = None

    def apply(self, outcome: Outcome) -> None:
        """Take note of what the publisher decided."""
        self._room.give_back(batches=outcome.queued_batches, size=outcome.queued_bytes)
        self._statuses.apply(outcome)

    async def post(self, request: Request) -> Response:
        """`POST /batches`."""
        if request.headers.get("content-type") != "application/octet-stream":
            raise errors.BATCHES_CONTENT_TYPE.error()
        if self._publisher.trouble is not None:
            raise errors.CANNOT_WRITE.error(self._publisher.trouble)
        size = _announced(request)
        self._room.take(size=size)
        try:
            body = await read_body(request, BATCHES_BODY_BYTES_MAX)
            batches = _parse(body)
            self._room.take(batches=len(batches))
        except BaseException:
            self._room.give_back(size=size)
            raise
        try:
            await self._enqueue(batches, size)
        except BaseException:
            self._room.give_back(batches=len(batches), size=size)
            raise
        names = ",".join(batch.header_signature for batch in batches)
        return JsonResponse({"link": link(request, "/batch_statuses", id=names)}, 202)

    async def _enqueue(self, batches: Sequence[Batch], size: int) -> None:
        """Verify batches and put them into the queue, behind all that arrived before."""
        before, done = self._last, asyncio.get_running_loop().create_future()
        self._last = done
        try:
            verified = await self._verify(batches)
            if before is not None:
                await asyncio.shield(before)
        finally:
            _pass_on(before, done)
        self._statuses.add_pending(batch.id for batch in verified)
        self._publisher.submit(Submission(verified, size))

    async def _verify(self, batches: Sequence[Batch]) -> list[VerifiedBatch]:
        try:
            return await self._verifier.verify(batches)
        except RejectedError as error:
            raise errors.BATCHES_INVALID.error() from error


def _pass_on(before: asyncio.Future[None] | None, done: asyncio.Future[None]) -> None:
    """Complete `done` once `before` is complete, whatever became of the one between them."""
    if before is None or before.done():
        done.set_result(None)
    else:
        before.add_done_callback(lambda _: done.set_result(None))


def _announced(request: Request) -> int:
    """Return how many bytes the body may turn out to have."""
    length = announced_length(request)
    return BATCHES_BODY_BYTES_MAX if length is None else min(length, BATCHES_BODY_BYTES_MAX)


def _parse(body: bytes) -> list[Batch]:
    if not body:
        raise errors.NO_BATCHES.error()
    try:
        batches = parse_batches(body)
    except RejectedError as error:
        raise errors.NOT_DECODABLE.error() from error
    if not batches:
        raise errors.NO_BATCHES.error()
    return batches
