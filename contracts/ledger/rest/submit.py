"""`POST /batches`: verifies batches and submits them in order of arrival."""

import asyncio
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from contracts.errors import RejectedError
from contracts.ledger.engine.ports import BlockReader, Submitter
from contracts.ledger.engine.submissions import QUEUED_BATCHES_MAX
from contracts.ledger.execution.permissions import Permissions, permissions_after
from contracts.ledger.execution.verify import UndecodableError, VerifiedBatch, Verifier
from contracts.ledger.rest import errors
from contracts.ledger.rest.body import announced_length, read_body
from contracts.ledger.rest.envelope import JsonResponse, content_type, link
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth.counts import TooManyError, count_batches

BATCHES_BODY_BYTES_MAX: Final = 16 << 20


class Submit:
    """Takes batches in.

    Args:
        submitter: Takes the valid ones.
        verifier: Checks them.
        blocks: The chain, whose newest state names the keys that may sign.
    """

    def __init__(self, submitter: Submitter, verifier: Verifier, blocks: BlockReader) -> None:
        self._submitter = submitter
        self._verifier = verifier
        self._blocks = blocks
        self._last: asyncio.Future[None] | None = None
        self._permissions = (-1, Permissions())

    async def post(self, request: Request) -> Response:
        """`POST /batches`."""
        if content_type(request) != "application/octet-stream":
            raise errors.BATCHES_CONTENT_TYPE.error()
        self._submitter.check(min(announced_length(request) or 0, BATCHES_BODY_BYTES_MAX))
        size = count = 0

        def hold(more: int) -> None:  # bytes that arrived count, not the announced length
            nonlocal size
            self._submitter.hold(size=more)
            size += more

        try:
            body = await read_body(request, BATCHES_BODY_BYTES_MAX, hold)
            found = _count(body)
            self._submitter.hold(batches=found)
            count = found
            verified = await self._submit(body, count, size)
        except BaseException:
            self._submitter.release(batches=count, size=size)
            raise
        names = ",".join(batch.id for batch in verified)
        return JsonResponse({"link": link(request, "/batch_statuses", id=names)}, 202)

    async def _submit(self, body: bytes, count: int, size: int) -> Sequence[VerifiedBatch]:
        """Verify batches and submit them after all that arrived before."""
        before, done = self._last, asyncio.get_running_loop().create_future()
        self._last = done
        try:
            verified = await self._verify(body, count)
            if before is not None:
                await asyncio.shield(before)
        finally:
            _pass_on(before, done)
        self._submitter.submit(verified, size)
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
        self._check_permissions(verified)
        return verified

    def _check_permissions(self, batches: Sequence[VerifiedBatch]) -> None:
        """Refuse all batches if one is signed by a key that the chain does not permit.

        They are checked again when a block is made, for a policy may change in between.
        """
        permissions = self._permissions_now()
        for batch in batches:
            try:
                permissions.check(batch)
            except InvalidTransactionError as error:
                name = batch.id[:16]
                raise errors.BATCHES_INVALID.error(f" Batch {name}…: {error}.") from error

    def _permissions_now(self) -> Permissions:
        """Return the permissions after the newest block, read again once they may have changed."""
        since, head = self._blocks.governed_since, self._blocks.head
        if head is not None and since != self._permissions[0]:
            self._permissions = since, permissions_after(self._blocks.state_after(head.num))
        return self._permissions[1]


def _pass_on(before: asyncio.Future[None] | None, done: asyncio.Future[None]) -> None:
    """Complete `done` once `before` is complete, even if the submission itself failed."""
    if before is None or before.done():
        done.set_result(None)
    else:
        before.add_done_callback(lambda _: done.set_result(None))


def _count(body: bytes) -> int:
    """Return the number of batches, counted before they are parsed."""
    try:
        count = count_batches(body, QUEUED_BATCHES_MAX)
    except TooManyError as error:
        raise errors.TOO_MANY_BATCHES.error(str(error)) from error
    except RejectedError as error:
        raise errors.NOT_DECODABLE.error() from error
    if not count:
        raise errors.NO_BATCHES.error()
    return count
