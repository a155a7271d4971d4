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
from contracts.node.rest.envelope import JsonResponse, content_type, link
from contracts.node.statuses import Outcome, Statuses
from contracts.node.verify import UndecodableError, VerifiedBatch, Verifier
from contracts.sawtooth.counts import TooManyError, count_batches

BATCHES_BODY_BYTES_MAX: Final = 16 << 20


class Room:
    """The queue's limits: what is being received, verified or queued counts."""

    def __init__(self) -> None:
        self._batches = 0
        self._bytes = 0

    def has(self, size: int) -> bool:
        """Say whether so many bytes more would fit."""
        return self._bytes + size <= QUEUED_BYTES_MAX

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
        if content_type(request) != "application/octet-stream":
            raise errors.BATCHES_CONTENT_TYPE.error()
        if self._publisher.trouble is not None:
            raise errors.CANNOT_WRITE.error(self._publisher.trouble)
        if not self._room.has(min(announced_length(request) or 0, BATCHES_BODY_BYTES_MAX)):
            raise errors.QUEUE_FULL.error()
        size = 0

        def hold(more: int) -> None:  # what has arrived counts, not what was announced
            nonlocal size
            self._room.take(size=more)
            size += more

        try:
            body = await read_body(request, BATCHES_BODY_BYTES_MAX, hold)
            count = _count(body)
            self._room.take(batches=count)
        except BaseException:
            self._room.give_back(size=size)
            raise
        try:
            verified = await self._enqueue(body, count, size)
        except BaseException:
            self._room.give_back(batches=count, size=size)
            raise
        names = ",".join(batch.id for batch in verified)
        return JsonResponse({"link": link(request, "/batch_statuses", id=names)}, 202)

    async def _enqueue(self, body: bytes, count: int, size: int) -> Sequence[VerifiedBatch]:
        """Verify batches and put them into the queue, behind all that arrived before."""
        before, done = self._last, asyncio.get_running_loop().create_future()
        self._last = done
        try:
            verified = await self._verify(body, count)
            if before is not None:
                await asyncio.shield(before)
        finally:
            _pass_on(before, done)
        self._statuses.add_pending(batch.id for batch in verified)
        self._publisher.submit(Submission(verified, size))
        return verified

    async def _verify(self, body: bytes, count: int) -> Sequence[VerifiedBatch]:
        try:
            verified = await self._verifier.check(body)
        except UndecodableError as error:
            if isinstance(error.__cause__, TooManyError):
                raise errors.TOO_MANY_BATCHES.error(str(error)) from error
            raise errors.NOT_DECODABLE.error() from error
        except RejectedError as error:
            raise errors.BATCHES_INVALID.error() from error
        if len(verified) != count:
            raise errors.NOT_DECODABLE.error()
        return verified


def _pass_on(before: asyncio.Future[None] | None, done: asyncio.Future[None]) -> None:
    """Complete `done` once `before` is complete, whatever became of the one between them."""
    if before is None or before.done():
        done.set_result(None)
    else:
        before.add_done_callback(lambda _: done.set_result(None))


def _count(body: bytes) -> int:
    """Return how many batches there are, before any memory is spent on them."""
    try:
        count = count_batches(body, QUEUED_BATCHES_MAX)
    except TooManyError as error:
        raise errors.TOO_MANY_BATCHES.error(str(error)) from error
    except RejectedError as error:
        raise errors.NOT_DECODABLE.error() from error
    if not count:
        raise errors.NO_BATCHES.error()
    return count
