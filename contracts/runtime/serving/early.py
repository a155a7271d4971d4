"""Answers that come before the end of their request: the connection closes after them.

A client that is refused may still be sending a long body. Waiting for all of it
would hold the connection for as long as the client likes. So the answer says that
the connection closes, and `parting` closes it once the answer is out.

Source: RFC 9112, 9.3; RFC 9110, 10.1.1; ASGI 3.0.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

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
            if not self._ended:
                others = [each for each in message.get("headers", []) if each[0] != b"connection"]
                message = {**message, "headers": [*others, (b"connection", b"close")]}
        await self._send(message)

    async def _take_what_came(self) -> None:
        """Find out whether the whole body is here already, although nobody asked for it."""
        if not self._ended and not self._is_expected:
            try:
                async with asyncio.timeout(0):
                    await self.receive()
            except TimeoutError:
                return


def _announces_body(scope: Message) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
        for name, value in scope["headers"]
    )
