"""A body straight from the socket into the application's memory.

ASGI hands a body over as `bytes` objects, and each byte is copied several times on the way: the
event loop makes an object of what it read, the parser another one, uvicorn joins them. An
application that expects a large body of a known length asks the scope for this way, once it has
accepted the head. It may still `receive` at any time: then bytes come as ASGI says.

Source: RFC 9112, 6.2: a body with Content-Length is exactly so many bytes, nothing around them.
"""

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, Final, Protocol

from contracts.errors import UnavailableError

EXTENSION: Final = "wayseal.direct_body"
"""Key in `scope["extensions"]`; the value returns the request's DirectBody, or None."""
SCRATCH_BYTES: Final = 64 << 10


class BodyLostError(UnavailableError):
    """The connection broke before the end of the body."""


class Filling:
    """Memory that is filled from its start.

    Args:
        memory: Writable bytes.

    Attributes:
        memory: The same.
        filled: Bytes that have come.
    """

    __slots__ = ("filled", "memory")

    def __init__(self, memory: memoryview) -> None:
        self.memory = memory
        self.filled = 0

    @property
    def is_full(self) -> bool:
        """Say whether nothing more fits."""
        return self.filled == len(self.memory)

    @property
    def came(self) -> memoryview:
        """Return the bytes that have come."""
        return self.memory[: self.filled]

    def take(self, data: bytes | bytearray | memoryview) -> int:
        """Copy what fits of `data`; return how many bytes that were."""
        taken = min(len(data), len(self.memory) - self.filled)
        self.memory[self.filled : self.filled + taken] = memoryview(data)[:taken]
        self.filled += taken
        return taken


class DirectBody(Protocol):
    """The rest of one request's body."""

    @property
    def ended(self) -> bool:
        """Say whether all of it was taken."""
        ...

    async def fill(self, filling: Filling, heard: Callable[[int], None]) -> None:
        """Return once the memory is full or the body has ended.

        After an error or a cancellation, `filling.filled` tells what came until then.

        Args:
            filling: Where the bytes go.
            heard: Called with their number whenever some have come.

        Raises:
            BodyLostError: The connection broke.
        """
        ...


class Exchange(Protocol):
    """One request, as its server sees it.

    Attributes:
        body: Bytes of the body that came through the parser and were not received yet.
        disconnected: Whether the connection was lost.
    """

    body: bytearray
    disconnected: bool


class BodyConnection(Protocol):
    """A connection whose request has a body of known length, as its reader sees it."""

    loop: asyncio.AbstractEventLoop

    @property
    def is_closing(self) -> bool:
        """Say whether nothing more will be read."""
        ...

    def pause(self) -> None:
        """Read nothing for now."""
        ...

    def resume(self) -> None:
        """Read again."""
        ...

    def count(self, size: int) -> None:
        """Note that bytes of the body have come."""
        ...

    def give(self, body: bytes) -> None:
        """Let the application receive a part of the body."""
        ...

    def take_back(self) -> None:
        """End the body and take the socket back."""
        ...

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        ...

    def pause_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        ...

    def resume_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        ...


class DirectReader(asyncio.BufferedProtocol):
    """Reads the rest of one body; it never reads a byte behind the body's end.

    From its making on it must be the protocol of the connection's transport, which is paused.

    Args:
        connection: Where the body comes from.
        exchange: The request; the reader has nothing to do with later ones of the connection.
        left: Bytes of the body that have not come yet, 1 or more.
    """

    def __init__(self, connection: BodyConnection, exchange: Exchange, left: int) -> None:
        self._connection = connection
        self._exchange = exchange
        self._left = left
        self._scratch = memoryview(b"")
        self._filling: Filling | None = None
        self._heard: Callable[[int], None] = lambda _: None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def ended(self) -> bool:
        """See `DirectBody.ended`."""
        return not (self._left or self._exchange.body)

    async def fill(self, filling: Filling, heard: Callable[[int], None]) -> None:
        """See `DirectBody.fill`."""
        early = self._exchange.body
        if early:
            taken = filling.take(early)
            del early[:taken]
            heard(taken)
        if filling.is_full or not self._left:
            return
        self._filling, self._heard = filling, heard
        self._waiter = self._connection.loop.create_future()
        try:
            if not self._is_broken:
                self._connection.resume()
                await self._waiter
        finally:
            self._filling = self._waiter = None
            if self._left:
                self._connection.pause()
        if self._left and not filling.is_full:
            raise BodyLostError("the connection broke before the end of the body")

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the memory for the next bytes; without a request to fill, memory of our own."""
        del sizehint
        if self._filling is not None:
            memory = self._filling.memory[self._filling.filled :]
        else:
            self._scratch = self._scratch or memoryview(bytearray(SCRATCH_BYTES))
            memory = self._scratch
        return memory[: self._left]

    def buffer_updated(self, nbytes: int) -> None:
        """Note that bytes came."""
        if self._is_broken:
            return
        self._connection.count(nbytes)
        self._left -= nbytes
        filling = self._filling
        if filling is None:
            self._connection.give(bytes(self._scratch[:nbytes]))
        else:
            filling.filled += nbytes
            self._heard(nbytes)
            if filling.is_full or not self._left:
                self._filling = None
                self._connection.pause()
                self._wake()
        if not self._left:
            self._connection.take_back()

    def eof_received(self) -> None:
        """Close the connection, as its own protocol does: the body can no longer end."""

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection."""
        self._connection.connection_lost(exc)
        self._wake()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """Go on once the client has read."""
        self._connection.resume_writing()

    @property
    def _is_broken(self) -> bool:
        return self._exchange.disconnected or self._connection.is_closing

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def body_length(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Return the length of a body; 0 without a body, or if chunks mark its end.

    The parser has refused requests with both, with two lengths, and with other digits.
    """
    found = dict(headers)
    return 0 if b"transfer-encoding" in found else int(found.get(b"content-length", 0))


def direct_body(scope: MutableMapping[str, Any]) -> DirectBody | None:
    """Return the direct way to the rest of a request's body; None if its server has none.

    Ask after the head was accepted, and best after the first `receive`: that is what answers
    `Expect: 100-continue`.
    """
    begin = scope.get("extensions", {}).get(EXTENSION)
    found: DirectBody | None = begin() if begin is not None else None
    return found
