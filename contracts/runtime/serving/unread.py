"""Notices clients that do not read what we wrote to them."""

import asyncio

from contracts.runtime.serving.connections import LINGER_TIMEOUT_S, Bounds, Ending


class Unsent:
    """Watches whether a client takes what we wrote.

    Args:
        bounds: The limits.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._left: int | None = None
        self._since_s = 0.0
        self._closing_s: float | None = None

    def wait(self, left: int, now_s: float) -> None:
        """Begin to wait for the client to take `left` bytes; until then none is added."""
        self._left, self._since_s = left, now_s

    def taken(self) -> None:
        """End that wait."""
        self._left = None

    def overdue(self, transport: asyncio.Transport, now_s: float) -> Ending | None:
        """Say whether the client took too little, or too long once the connection was closed."""
        if transport.is_closing():
            self._closing_s = now_s if self._closing_s is None else self._closing_s
            if now_s - self._closing_s >= min(LINGER_TIMEOUT_S, self._bounds.unread_s):
                return Ending.UNREAD
        elif self._left is not None and now_s - self._since_s >= self._bounds.unread_s:
            left = transport.get_write_buffer_size()
            if self._left - left < self._bounds.rate * self._bounds.unread_s:
                return Ending.UNREAD
            self.wait(left, now_s)
        return None


class MustBeRead(asyncio.Protocol):
    """Notes how long a client lets what we wrote wait; goes before uvicorn's own protocol."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _unsent: Unsent

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._unsent.wait(self.transport.get_write_buffer_size(), self.loop.time())

    def resume_writing(self) -> None:
        """Go on once the client has read."""
        self._unsent.taken()
        super().resume_writing()
