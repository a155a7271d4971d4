"""HTTP and WebSocket connections that end when their client keeps them waiting.

Adapter: with `server`, the only importer of uvicorn.
"""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from contracts.errors import RejectedError
from contracts.runtime.serving.connections import (
    GOODBYE_S,
    LINGER_TIMEOUT_S,
    Doors,
    Ending,
    Phase,
)
from contracts.runtime.serving.direct import EXTENSION, DirectReader, Exchange, body_length
from contracts.runtime.serving.parting import LastWords, Parting
from contracts.runtime.serving.tls import PEER, Peer, Tls
from contracts.runtime.serving.unread import MustBeRead, Unsent

HEAD_BYTES_MAX: Final = 256 << 10
"""Request line and headers together; the parser takes a line of 64 KiB, some 500 ids. Also the
bytes in a body of which none is content: extensions of chunks, and fields behind the last one."""
PROGRESS_BYTES: Final = 16 << 10
"""Bytes of a body after which its connection counts as the newest again."""
DROPPED_BYTES_MAX: Final = 128 << 20
"""Bytes of a request that are dropped after its early answer: twice a truck's longest request."""
PIPELINED_MAX: Final = 64
"""Requests of one connection that wait for the answer to the one before."""
_NO_MEMBER: Final = (
    "Expected the certificate of a server or a party, got none, or that of a device.\n"
)
SOCKET_FRAGMENTS_MAX: Final = 64
"""Frames of one message of a WebSocket client."""


class BoundedConfig(uvicorn.Config):
    """uvicorn's settings, the doors that its connections go through, and their TLS."""

    def __init__(self, app: Any, doors: Doors, **settings: Any) -> None:  # noqa: ANN401  # uvicorn's own types
        super().__init__(app, **settings)
        self.doors = doors
        self.tls: Tls | None = None


class BoundedHttp(MustBeRead, HttpToolsProtocol):
    """Ends a connection whose client sends or reads too slowly, or sends too large a head."""

    def __init__(self, config: BoundedConfig, **rest: Any) -> None:  # noqa: ANN401  # uvicorn's own types
        super().__init__(config, **rest)
        self._doors = config.doors
        self._tls = config.tls
        self._unsent = Unsent(config.doors.bounds)
        self._in_head = self._in_body = self._parted = False
        self._head_bytes = self._bare_bytes = 0
        self._came = self._moved_at = 0
        self._body_left = 0
        self._measure(self.loop.time())
        self._peer: Peer | None = None
        self.address = ""
        self.phase = Phase.HEAD

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  # uvicorn's own type
        """Begin a connection and wait for a request; without room, refuse it."""
        super().connection_made(transport)
        self._peer = Peer.of(transport)
        self.address = self.client[0] if self.client else ""
        if not self._doors.enter(self):
            transport.write(_answer(HTTPStatus.SERVICE_UNAVAILABLE, self._doors.headers))
            transport.close()
        elif self._tls is not None and not self._tls.admits(self._peer):
            transport.write(_answer(HTTPStatus.FORBIDDEN, self._doors.headers, _NO_MEMBER))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """End it."""
        self._doors.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if self.is_closing:
            return
        self.count(len(data))
        if self.phase is Phase.NEXT:
            self._turn_to(Phase.HEAD)  # also for an empty line, which is not a request yet
        if self._in_body:
            self._bare_bytes += len(data)
        super().data_received(data)
        if self._in_body and self._bare_bytes > HEAD_BYTES_MAX:
            self._refuse_body()
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._in_head = False
                self.send_400_response(f"Request head larger than {HEAD_BYTES_MAX} bytes.")

    def on_message_begin(self) -> None:
        """Begin a request.

        Raises:
            RejectedError: Too many wait already; the parser ends the connection.
        """
        if len(self.pipeline) >= PIPELINED_MAX:
            raise RejectedError(f"{len(self.pipeline)} requests wait for the one before")
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()
        extensions: dict[Any, Any] = {PEER: self._peer} if self._peer else {}
        self.scope["extensions"] = extensions

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of a head. One behind the body is dropped: nothing here waits for any.

        uvicorn would keep it, in the head that the application has, for as long as they come.
        """
        if not self._in_body:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._bare_bytes = 0
        self._body_left -= len(body)
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """End a request's head."""
        self._in_head, self._in_body, self._bare_bytes = False, True, 0
        self._body_left = 0 if self.parser.should_upgrade() else body_length(self.headers)
        super().on_headers_complete()
        if self.cycle is not None:  # a WebSocket has no cycle
            self.cycle.transport = LastWords(self.transport, self._close_after_answer)  # type: ignore[assignment] # it has all of it
        if self._body_left:
            direct: dict[Any, Any] = {EXTENSION: partial(self._direct, self.cycle)}
            self.scope["extensions"] |= direct
        self._turn()

    def on_message_complete(self) -> None:
        """End a request."""
        self._in_body = False
        super().on_message_complete()
        self._turn()

    def on_response_complete(self) -> None:
        """End an answer, and the connection if its request has not ended."""
        if self._in_body:
            self._part()
        if self._parted:
            return
        super().on_response_complete()
        if self.pipeline:  # uvicorn reads on, and so queues more than it answers
            self.flow.pause_reading()
        self._turn()

    def handle_websocket_upgrade(self) -> None:
        """Give the connection, and its place, to the WebSocket protocol."""
        self._doors.leave(self)
        super().handle_websocket_upgrade()

    @property
    def is_closing(self) -> bool:
        """See `direct.BodyConnection.is_closing`."""
        return self._parted or self.transport.is_closing()

    def pause(self) -> None:
        """See `direct.BodyConnection.pause`."""
        if not self.is_closing:
            self.flow.pause_reading()

    def resume(self) -> None:
        """See `direct.BodyConnection.resume`."""
        self.flow.resume_reading()

    def count(self, size: int) -> None:
        """See `direct.BodyConnection.count`."""
        self._came += size
        if self.phase is Phase.BODY and self._came - self._moved_at >= PROGRESS_BYTES:
            self._moved_at = self._came
            self._doors.moved(self)

    def give(self, body: bytes) -> None:
        """See `direct.BodyConnection.give`."""
        super().on_body(body)

    def take_back(self) -> None:
        """See `direct.BodyConnection.take_back`; the old parser waits for the body."""
        self.transport.set_protocol(self)
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.on_message_complete()
        self.resume()

    def overdue(self, now_s: float) -> Ending | None:
        """See `Guarded.overdue`."""
        if self._parted:
            return None  # it has its own limit
        bounds = self._doors.bounds
        why = self._unsent.overdue(self.transport, now_s)
        if why is not None or self.transport.is_closing():
            return why
        if self.phase is Phase.HEAD and now_s - self.since_s >= bounds.head_s:
            return Ending.HEAD
        if self.phase is Phase.BODY:
            if self.flow.read_paused:  # the client waits for us
                self._measure(now_s)
            elif now_s - self.since_s >= bounds.body_s:
                if self._came - self._came_before < bounds.rate * bounds.body_s:
                    return Ending.BODY
                self._measure(now_s)
        return None

    def end(self, why: Ending) -> None:
        """See `Guarded.end`."""
        if why in (Ending.DISPLACED, Ending.UNREAD):
            self.transport.abort()
            return
        if why is Ending.BODY and not self.cycle.response_started:
            self.transport.write(_answer(HTTPStatus.REQUEST_TIMEOUT, self._doors.headers))
        self.transport.close()

    def _direct(self, exchange: Exchange) -> DirectReader | None:
        """Return a reader for the rest of a body, once; None if all of the body came."""
        left, self._body_left = self._body_left, 0
        if not left or exchange is not self.cycle or self.is_closing:
            return None
        reader = DirectReader(self, exchange, left)
        self.pause()
        self.transport.set_protocol(reader)
        return reader

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not a request, and end the connection."""
        self.transport.write(_answer(HTTPStatus.BAD_REQUEST, self._doors.headers, msg))
        is_first = self.cycle is None  # whatever uvicorn's annotation says
        if is_first or self.cycle.response_complete:
            self._part(HEAD_BYTES_MAX)
        else:  # nothing may be written while parting, and an answer is under way
            self.transport.close()

    def _refuse_body(self) -> None:
        """End a connection whose body has too many bytes around its content."""
        if self.cycle.response_started:
            self.transport.close()
        else:
            self.send_400_response(f"More than {HEAD_BYTES_MAX} bytes beside a body's content.")

    def _close_after_answer(self) -> None:
        """Close the connection, as the answer that is out has said."""
        if self._in_body or self._in_head or self.pipeline:
            self._part()
        else:
            self.transport.close()

    def _part(self, drop_bytes: int = DROPPED_BYTES_MAX) -> None:
        """End the connection, with all answers out; its client may still be sending."""
        if self.is_closing:
            return
        if not self.transport.can_write_eof():  # TLS drops what still comes, until it is closed
            self.flow.resume_reading()
            self.transport.close()
            return
        self._parted = True
        self._turn_to(Phase.NEXT)  # its place is the first to be had
        limit_s = min(LINGER_TIMEOUT_S, self._doors.bounds.unread_s)
        Parting(self.transport, self.transport.get_protocol(), limit_s, drop_bytes)
        self.flow.resume_reading()

    def _turn(self) -> None:
        """Find out what the connection waits for now."""
        is_first = self.cycle is None  # whatever uvicorn's annotation says
        if not is_first and not self.cycle.response_complete:
            self._turn_to(Phase.BODY if self._in_body else Phase.ANSWER)
        else:
            self._turn_to(Phase.HEAD if self._in_head else Phase.NEXT)

    def _turn_to(self, phase: Phase) -> None:
        if phase is not self.phase:
            self.phase = phase
            self._measure(self.loop.time())
            self._doors.moved(self)

    def _measure(self, now_s: float) -> None:
        """Begin to measure how fast the client is."""
        self.since_s, self._came_before = now_s, self._came


class BoundedWebSocket(MustBeRead, WebSocketsSansIOProtocol):
    """Sends one message at a time, and ends a connection whose client floods or does not read."""

    def __init__(self, config: BoundedConfig, **rest: Any) -> None:  # noqa: ANN401  # uvicorn's own types
        super().__init__(config, **rest)
        self._doors = config.doors
        self._unsent = Unsent(config.doors.bounds)
        self.address = ""
        self.phase = Phase.SOCKET
        self.since_s = self.loop.time()

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  # uvicorn's own type
        """Go on with a connection that asked for a WebSocket; its place is still free."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._doors.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End it."""
        self._doors.leave(self)
        super().connection_lost(exc)

    def overdue(self, now_s: float) -> Ending | None:
        """See `Guarded.overdue`."""
        return self._unsent.overdue(self.transport, now_s)

    def end(self, why: Ending) -> None:
        """See `Guarded.end`."""
        del why
        self.transport.abort()

    async def send(self, message: Any) -> None:  # noqa: ANN401  # ASGI has no type of its own
        """Send a message; return once the client has taken most of it.

        Raises:
            ClientDisconnected: The client has left, or the server closed the connection.
        """
        if self.close_sent:
            raise ClientDisconnected
        await super().send(message)
        await self.writable.wait()

    def send_receive_event_to_app(self) -> None:
        """Give a message to the application; end the connection if its text is invalid."""
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self.frames = []  # uvicorn logs a traceback for each
            self.transport.abort()
        else:
            super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Answer a ping, unless the client does not read earlier answers."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.transport.abort()

    def handle_cont(self, event: Any) -> None:  # noqa: ANN401  # a frame of websockets
        """Take one more fragment of a message."""
        if len(self.frames) < SOCKET_FRAGMENTS_MAX:
            super().handle_cont(event)
        else:
            self.transport.abort()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """End the connection, even if the client does not read what is on its way."""
        super().on_task_complete(task)
        self.loop.call_later(GOODBYE_S, self.transport.abort)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _answer(status: HTTPStatus, headers: bytes, words: str = "") -> bytes:
    """Return an answer that ends its connection."""
    text = (words or status.phrase).encode()
    return (
        b"HTTP/1.1 %d %b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"
        b"Connection: close\r\n%b\r\n%b"
        % (status, status.phrase.encode(), len(text), headers, text)
    )
