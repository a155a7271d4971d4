"""Answers that come before the end of their request: the connection closes after them.

A client that is refused may still be sending a long body. Waiting for all of it
would hold the connection for as long as the client likes; closing at once would
take the answer from a client that has not read it yet. So the answer goes out
whole, a little more of the body is read and dropped, and the connection closes.

Source: RFC 9112, 9.3 and 9.6; RFC 9110, 10.1.1; ASGI 3.0.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

DRAIN_BYTES_MAX: Final = 256 << 10
DRAIN_TIMEOUT_S: Final = 2.0

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def closing_early(app: Application) -> Application:
    """Return an application whose early answers close their connection."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _announces_body(scope):
            exchange = _Exchange(scope, receive, send)
            await app(scope, exchange.receive, exchange.send)
        else:
            await app(scope, receive, send)

    return serve


class _Exchange:
    """One request with a body, and its answer."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_expected = (b"expect", b"100-continue") in scope["headers"]
        self._ended = False
        self._early = False

    async def receive(self) -> Message:
        """Return the next part of the request."""
        message = await self._receive()
        self._is_expected = False
        if message["type"] != "http.request" or not message.get("more_body", False):
            self._ended = True
        return message

    async def send(self, message: Message) -> None:
        """Send the next part of the answer; an early one says that the connection closes."""
        if message["type"] == "http.response.start":
            await self._take_what_came()
            self._early = not self._ended
            if self._early:
                others = [each for each in message.get("headers", []) if each[0] != b"connection"]
                message = {**message, "headers": [*others, (b"connection", b"close")]}
        elif self._early and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._drain()
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)

    async def _take_what_came(self) -> None:
        """Find out whether the whole body is here already, although nobody asked for it."""
        if not self._ended and not self._is_expected:
            try:
                async with asyncio.timeout(0):
                    await self.receive()
            except TimeoutError:
                return

    async def _drain(self) -> None:
        """Drop what still comes, up to the limits; a client that waits for `100` sends nothing."""
        dropped = 0
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                while not (self._ended or self._is_expected) and dropped <= DRAIN_BYTES_MAX:
                    dropped += len((await self.receive()).get("body", b""))
        except TimeoutError:
            return


def _announces_body(scope: Message) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
        for name, value in scope["headers"]
    )
