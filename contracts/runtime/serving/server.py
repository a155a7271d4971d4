"""HTTP servers: their port, bounded connections, a clean end on signals.

Adapter: with `protocols`, the only importer of uvicorn.
"""

import asyncio
import contextlib
import gc
import logging
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from types import FrameType
from typing import Any, Final

import uvicorn
import uvloop

from contracts.errors import RejectedError
from contracts.runtime.seldom import Seldom
from contracts.runtime.serving.connections import GOODBYE_S, Bounds, Doors, Ending
from contracts.runtime.serving.early import closing_early
from contracts.runtime.serving.handshake import Entrance
from contracts.runtime.serving.protocols import BoundedConfig, BoundedHttp, BoundedWebSocket
from contracts.runtime.serving.tls import LOOK_EVERY_S, Peer, Tls

BACKLOG: Final = 1_024
COLLECT_ALLOCATIONS: Final = 50_000
"""Allocations above deallocations after which Python looks for cycles; its default is 700."""
SILENT_S: Final = 60
"""Silence of an idle connection, seconds, after which the kernel asks whether its peer is there."""
PROBE_EVERY_S: Final = 20
PROBES_MAX: Final = 3

SOCKET_MESSAGE_BYTES_MAX: Final = 64 << 10
"""Largest message of a WebSocket client."""
SOCKET_SILENCE_S: Final = 20.0
"""Silence after which a WebSocket client is pinged, seconds; it must answer in the same time."""


def address_of(port: socket.socket) -> str:
    """Return where an open port listens, `HOST:PORT`; an IPv6 address is in brackets."""
    host, number, *_ = port.getsockname()
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{number}"


class Server(uvicorn.Server):
    """Serves on an open port; writes its URL on standard output once it accepts connections.

    Args:
        app: The ASGI application.
        also: Further words for that line.
        on_exit: Called when a signal asks the server to end, to release waiting requests.
        lifespan: Whether the application has work at its start and end.
        bounds: The limits of its connections.
        ended: Called for every connection that was ended at a limit, with the reason.
        headers: Lines, each with CR LF, that the server's own answers have: 400, 408 and 503.
        web_sockets: Whether clients may open WebSockets.
    """

    def __init__(
        self,
        app: Any,  # noqa: ANN401  # ASGI has no type of its own
        *,
        also: str = "",
        on_exit: Callable[[], None] = lambda: None,
        lifespan: bool = False,
        bounds: Bounds | None = None,
        ended: Callable[[Ending], None] = lambda _: None,
        headers: bytes = b"",
        web_sockets: bool = False,
    ) -> None:
        self.doors = Doors(bounds or Bounds(), ended, headers)
        self._bounded = BoundedConfig(
            closing_early(app),
            self.doors,
            http=BoundedHttp,
            ws=BoundedWebSocket if web_sockets else "none",
            ws_max_size=SOCKET_MESSAGE_BYTES_MAX,
            ws_ping_interval=SOCKET_SILENCE_S,
            ws_ping_timeout=SOCKET_SILENCE_S,
            ws_per_message_deflate=False,
            lifespan="on" if lifespan else "off",
            log_config=None,
            access_log=False,
            server_header=False,
            # The doors count connections; what is left to bound is work without one.
            limit_concurrency=self.doors.bounds.connections + 1,
            backlog=BACKLOG,
            timeout_keep_alive=self.doors.bounds.keep_alive_s,
            timeout_graceful_shutdown=int(GOODBYE_S),
        )
        super().__init__(self._bounded)
        self._entrances: list[Entrance] = []
        self._next_look: asyncio.TimerHandle | None = None
        self._also = also
        self._on_exit = on_exit
        self._silent = False

    @property
    def tls(self) -> Tls | None:
        """Its TLS, set before it serves; None is plain text.

        SIGHUP has the files read again, and so has a change of them.
        """
        return self._bounded.tls

    @tls.setter
    def tls(self, tls: Tls | None) -> None:
        self._bounded.tls = tls

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets if self.tls is None else [])
        self.doors.open()
        tls = self.tls
        if tls is not None:
            loop = asyncio.get_running_loop()
            made_of = {
                "config": self._bounded,
                "server_state": self.server_state,
                "app_state": self.lifespan.state,
            }
            self._entrances = [
                Entrance(port, tls, self.doors, lambda begun: _Secured(begun, **made_of))
                for port in sockets or []
            ]
            loop.add_signal_handler(signal.SIGHUP, self._read_tls_again, tls)
            self._look_at_tls(loop, tls)
        scheme = "http" if self.tls is None else "https"
        for port in [] if self._silent else sockets or []:
            words = f"ready rest={scheme}://{address_of(port)} {self._also}"
            sys.stdout.write(words.rstrip() + "\n")
            sys.stdout.flush()

    @contextlib.asynccontextmanager
    async def beside(self, sockets: list[socket.socket]) -> AsyncIterator[None]:
        """Serve during the block, beside a server that heeds signals; no line is written."""
        self._silent = True
        task = asyncio.create_task(self._serve(sockets))
        try:
            yield
        finally:
            self.should_exit = True
            await task

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections."""
        self.doors.close()
        for entrance in self._entrances:
            entrance.close()
        if self._next_look is not None:
            self._next_look.cancel()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server on a signal."""
        self._on_exit()
        super().handle_exit(sig, frame)

    def _look_at_tls(self, loop: asyncio.AbstractEventLoop, tls: Tls) -> None:
        if tls.has_changed():
            self._read_tls_again(tls)
        self._next_look = loop.call_later(LOOK_EVERY_S, self._look_at_tls, loop, tls)

    def _read_tls_again(self, tls: Tls) -> None:
        """Read the files again, and end the connections of clients that are revoked now.

        If nobody reads serial numbers, each client with a certificate comes again, after the answer
        that it waits for, and its next handshake shows whether it is revoked.
        """
        if not tls.reload():
            return
        loop = asyncio.get_running_loop()
        for connection in list(self.server_state.connections):
            peer = Peer.of(connection.transport)
            if peer is None:
                continue
            if tls.revoked is None:
                connection.shutdown()
                loop.call_later(GOODBYE_S, connection.transport.abort)
            elif peer.serial in tls.revoked:
                connection.transport.abort()


class _Secured(BoundedHttp):
    """A connection whose handshake is done.

    Args:
        begun: Called as soon as it is.
        made_of: What every connection is made of.
    """

    def __init__(self, begun: Callable[[], None], **made_of: Any) -> None:  # noqa: ANN401  # uvicorn's own types
        super().__init__(**made_of)
        self._begun = begun

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  # uvicorn's own type
        """Begin to wait for a request."""
        self._begun()
        super().connection_made(transport)


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open a port; 0 takes a free one.

    Raises:
        RejectedError: The port cannot be opened.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        held = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise RejectedError(f"cannot listen on {host}:{port}: {error}") from error
    with held:
        # Accepted connections inherit these: a truck that left without a word is found out.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, SILENT_S),
            (socket.TCP_KEEPINTVL, PROBE_EVERY_S),
            (socket.TCP_KEEPCNT, PROBES_MAX),
        ):
            held.setsockopt(socket.IPPROTO_TCP, option, value)
        yield held


def event_loop() -> asyncio.Runner:
    """Return a server's event loop runner; prepare the process for many connections."""
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(Seldom())  # its lines are written for any client
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises the signal again after it has ended; that must not kill the process.
        signal.signal(number, lambda *_: None)
    # Loaded modules stay, and requests leave few cycles. Looking for cycles among the many small
    # objects of a batch or an answer took a tenth of the time.
    gc.freeze()
    gc.set_threshold(COLLECT_ALLOCATIONS)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
