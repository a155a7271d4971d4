"""Limits for large answers: how many are made at a time, and how many bytes are unread.

Without these limits, a thousand clients that request pages and do not read
them would hold a thousand pages in memory. When unread answers take too much
together, the oldest one is dropped: its reader is the slowest.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from contracts.ledger.rest.leaving import while_there
from contracts.runtime.seldom import Seldom

_LOG = logging.getLogger(__name__)
_LOG.addFilter(Seldom())

MAKING_MAX: Final = 2
"""Answers made at a time; others wait for their turn."""
UNREAD_BYTES_MAX: Final = 64 << 20
"""Answers being sent, together."""
ANSWER_TIMEOUT_S: Final = 60.0
"""Time, seconds, for a client to take an answer."""
PART_BYTES: Final = 64 << 10


class Answers:
    """Makes and sends answers within these limits."""

    def __init__(self) -> None:
        self._making = asyncio.Semaphore(MAKING_MAX)
        self._unread: dict[asyncio.Timeout, int] = {}

    def route(self, path: str, make: Callable[[Request], Response]) -> Route:
        """Return a route for GET; `make` runs in a worker thread and may return a large answer."""

        async def answer(request: Request) -> Response:
            return self.later(partial(make, request))

        return Route(path, answer)

    def later(self, make: Callable[[], Response]) -> Response:
        """Return a response that `make` makes, in a worker thread, when it is sent."""
        return _Later(self, make)

    async def make(self, make: Callable[[], Response]) -> Response:
        """Make a response once there is a turn for it."""
        async with self._making:
            return await run_in_threadpool(make)

    @asynccontextmanager
    async def room_for(self, size: int) -> AsyncIterator[None]:
        """Hold room for an answer of `size` bytes while it is sent.

        Raises:
            TimeoutError: Sending took too long, or other answers need the room.
        """
        loop = asyncio.get_running_loop()
        while self._unread and sum(self._unread.values()) + size > UNREAD_BYTES_MAX:
            longest = next(iter(self._unread))
            del self._unread[longest]
            longest.reschedule(loop.time())
        async with asyncio.timeout(ANSWER_TIMEOUT_S) as limit:
            self._unread[limit] = size
            try:
                yield
            finally:
                self._unread.pop(limit, None)


class _Later(Response):
    """A response that is made only when it is sent.

    Args:
        answers: Applies the limits.
        make: Makes the response.
    """

    def __init__(self, answers: Answers, make: Callable[[], Response]) -> None:
        super().__init__()
        self._answers = answers
        self._make = make

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Make the response and send it in parts, each once the part before is taken."""
        made = await while_there(receive, self._answers.make(self._make))
        try:
            async with self._answers.room_for(len(made.body)):
                await _send(made, send)
        except TimeoutError:
            _LOG.info("%s does not read its answer", scope.get("client"))


async def _send(made: Response, send: Send) -> None:
    await send(
        {"type": "http.response.start", "status": made.status_code, "headers": made.raw_headers}
    )
    body = memoryview(made.body)
    for start in range(0, len(body), PART_BYTES):
        part = bytes(body[start : start + PART_BYTES])
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
