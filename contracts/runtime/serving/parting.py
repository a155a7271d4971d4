"""Ends a connection whose client may still be sending, so that it gets our last answer.

Closing a socket with bytes that nobody has read makes the kernel reset the connection, and a reset
destroys what the client has not read yet. So our half is closed once the answer is out, and what
still comes is dropped until the client closes its half too, or until it has taken too long.

Source: RFC 9112, 9.6.
"""

import asyncio
from collections.abc import Callable
from typing import Any


class Parting(asyncio.Protocol):
    """Takes the place of a connection's protocol for its end.

    Args:
        transport: The connection; nothing may be written to it any more.
        before: Its protocol so far, which still learns of writes and of the connection's end.
        limit_s: Time for the client to read and to stop sending, seconds.
        drop_bytes: How much it may send until then.
    """

    def __init__(self, transport: Any, before: Any, limit_s: float, drop_bytes: int) -> None:  # noqa: ANN401 - uvloop's own types
        self._transport = transport
        self._before = before
        self._left = drop_bytes
        transport.set_protocol(self)
        transport.write_eof()
        loop = asyncio.get_running_loop()
        self._end = loop.call_later(limit_s, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Drop what still comes, up to the limit."""
        self._left -= len(data)
        if self._left < 0:
            self._transport.close()

    def eof_received(self) -> None:
        """Close the connection: the client has seen its end."""

    def connection_lost(self, exc: Exception | None) -> None:
        """End it."""
        self._end.cancel()
        self._before.connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        self._before.pause_writing()

    def resume_writing(self) -> None:
        """Go on once the client has read."""
        self._before.resume_writing()


class LastWords:
    """A transport, as an answer sees it: closing goes by a function of the connection.

    Args:
        transport: The transport itself.
        close: Called in place of its `close`.
    """

    def __init__(self, transport: Any, close: Callable[[], None]) -> None:  # noqa: ANN401 - uvloop's own type
        self._transport = transport
        self.close = close

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a transport has
        """Return what the transport itself has."""
        return getattr(self._transport, name)
