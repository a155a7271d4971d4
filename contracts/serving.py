"""HTTP servers of ours: a port of their own, bounded request heads, a clean end on signals.

Adapter: the only importer of uvicorn.
"""

import asyncio
import contextlib
import gc
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from contracts.errors import RejectedError

CONNECTIONS_MAX: Final = 1_000
BACKLOG: Final = 1_024
COLLECT_ALLOCATIONS: Final = 50_000
"""Objects more than were freed, after which Python looks for cycles; its default is 700."""
KEEP_ALIVE_S: Final = 75
GOODBYE_S: Final = 2
"""How long, seconds, answers may take to finish once the server is told to stop."""
HEAD_BYTES_MAX: Final = 256 << 10
"""Request line and headers together; the parser takes a line of 64 KiB, some 500 ids."""
HEAD_TIMEOUT_S: Final = 20
"""How long, seconds, a client may take for them."""

STALL_TIMEOUT_S: Final = 20.0
"""A program must go on reading its answer within so many seconds."""
SOCKET_MESSAGE_BYTES_MAX: Final = 64 << 10
"""A message that a WebSocket client sends."""
SOCKET_FRAGMENTS_MAX: Final = 64
"""Frames of such a message."""
SOCKET_SILENCE_S: Final = 20.0
"""After so many seconds a WebSocket client is asked for a sign of life, and has as long for it."""


class BoundedHttp(HttpToolsProtocol):
    """Ends a connection whose request's head is too large or too slow."""

    _in_head = False
    _head_bytes = 0
    _head_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  # uvicorn's own type
        """Begin a connection."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End it."""
        self._got_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._in_head = False
                self.send_400_response(f"Request head larger than {HEAD_BYTES_MAX} bytes.")

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._in_head, self._head_bytes = True, 0
        if self._head_due is None:
            self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """End its head."""
        self._in_head = False
        self._got_head()
        super().on_headers_complete()

    def _expect_head(self) -> None:
        self._head_due = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def _got_head(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _give_up(self) -> None:
        self._head_due = None
        if not self.transport.is_closing():
            self.transport.close()


class ImpatientHttp(BoundedHttp):
    """Also ends a connection whose client does not read; not for players of video, which pause."""

    _stalled: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """End it."""
        self._goes_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._goes_on()
        self._stalled = self.loop.call_later(STALL_TIMEOUT_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on after it has."""
        self._goes_on()
        super().resume_writing()

    def _goes_on(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Sends one message at a time, and ends a connection whose client floods or does not read."""

    async def send(self, message: Any) -> None:  # noqa: ANN401  # ASGI has no type of its own
        """Send a message; return once the client has taken most of it.

        Raises:
            ClientDisconnected: The client has left, or was told to go.
        """
        if self.close_sent:
            raise ClientDisconnected
        await super().send(message)
        await self.writable.wait()

    def handle_ping(self) -> None:
        """Answer a ping, unless the answers before it are not read."""
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
        """End the connection, whether or not the client takes what is on its way."""
        super().on_task_complete(task)
        self.loop.call_later(GOODBYE_S, self.transport.abort)


class Server(uvicorn.Server):
    """Serves on an open port; says where on standard output, once it accepts.

    Args:
        app: The ASGI application.
        also: Further words for the line that it says.
        on_exit: Called when a signal asks it to end, to let go of waiting requests.
        lifespan: Whether the application has something to do at its start and end.
        for_programs: Whether its clients are programs: they read what they ask for, and may
            open WebSockets.
    """

    def __init__(
        self,
        app: Any,  # noqa: ANN401  # ASGI has no type of its own
        *,
        also: str = "",
        on_exit: Callable[[], None] = lambda: None,
        lifespan: bool = False,
        for_programs: bool = False,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=ImpatientHttp if for_programs else BoundedHttp,
                ws=BoundedWebSocket if for_programs else "none",
                ws_max_size=SOCKET_MESSAGE_BYTES_MAX,
                ws_ping_interval=SOCKET_SILENCE_S,
                ws_ping_timeout=SOCKET_SILENCE_S,
                ws_per_message_deflate=False,
                lifespan="on" if lifespan else "off",
                log_config=None,
                access_log=False,
                server_header=False,
                limit_concurrency=CONNECTIONS_MAX,
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=GOODBYE_S,
            )
        )
        self._also = also
        self._on_exit = on_exit

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        for port in sockets or []:
            host, number, *_ = port.getsockname()
            shown = f"[{host}]" if ":" in host else host
            words = f"ready rest=http://{shown}:{number} {self._also}"
            sys.stdout.write(words.rstrip() + "\n")
            sys.stdout.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Answer to a signal."""
        self._on_exit()
        super().handle_exit(sig, frame)


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Hold a port; 0 takes a free one.

    Raises:
        RejectedError: It cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        held = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise RejectedError(f"cannot listen on {host}:{port}: {error}") from error
    with held:
        yield held


def event_loop() -> asyncio.Runner:
    """Return the runner for a server's event loop, in a process fit for many connections."""
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises the signal that ended it once more, which must not end us halfway.
        signal.signal(number, lambda *_: None)
    # What is loaded stays, and requests leave few cycles: looking for those among the many small
    # objects of a batch or an answer took a tenth of the time.
    gc.freeze()
    gc.set_threshold(COLLECT_ALLOCATIONS)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
