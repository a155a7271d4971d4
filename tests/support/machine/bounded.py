"""Our HTTP server in a thread, with short limits and an application of a few lines."""

import asyncio
import contextlib
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from contracts.runtime.serving.connections import Bounds, Ending
from contracts.runtime.serving.server import Server, listening
from support.trucks.rogue import until

DEADLINE_S: Final = 20.0
LARGE_BYTES: Final = 64 << 20
"""More than the kernel's buffers of one connection take."""
PART: Final = bytes(1 << 20)


async def small(_: Request) -> Response:
    return PlainTextResponse("small")


async def take(request: Request) -> Response:
    try:
        return PlainTextResponse(str(len(await request.body())))
    except ClientDisconnect:
        return PlainTextResponse("left", 400)


async def refuse(_: Request) -> Response:
    return PlainTextResponse("who are you?", 401)


async def parts() -> AsyncIterator[bytes]:
    for _ in range(LARGE_BYTES // len(PART)):
        yield PART


async def stream(_: Request) -> Response:
    return StreamingResponse(parts(), headers={"Content-Length": str(LARGE_BYTES)})


async def closing(_: Request) -> Response:
    return PlainTextResponse(bytes(LARGE_BYTES), headers={"Connection": "close"})


async def wait(_: Request) -> Response:
    await asyncio.sleep(3_600)
    return PlainTextResponse("late")


ROUTES: Final = [
    Route("/small", small),
    Route("/take", take, methods=["POST"]),
    Route("/refuse", refuse, methods=["GET", "POST"]),
    Route("/stream", stream),
    Route("/closing", closing),
    Route("/wait", wait, methods=["GET", "POST"]),
]


OWN: Final = b"X-Own: yes\r\n"
"""What the server's own answers have."""


@dataclass
class Bounded:
    """A running server.

    Attributes:
        server: The server.
        port: Its TCP port, on every loopback address.
        ended: How many connections it ended, by reason.
    """

    server: Server
    port: int
    ended: Counter[Ending] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """Return the number of open connections."""
        return self.server.doors.count

    def connect(self, words: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
        """Connect from an address of the loopback, and say something."""
        made = socket.create_connection(
            ("127.0.0.1", self.port), DEADLINE_S, source_address=(address, 0)
        )
        made.sendall(words)
        return made

    def answers(self, count: int) -> None:
        """Return once that many requests are being answered."""
        tasks = self.server.server_state.tasks
        until("the requests", lambda: len(tasks) == count, DEADLINE_S)

    def emptied(self) -> None:
        """Return once no connection is open."""
        until("the end of every connection", lambda: self.count == 0, DEADLINE_S)


@contextmanager
def bounded(bounds: Bounds, app: Starlette | None = None) -> Iterator[Bounded]:
    """Run a server with these limits; without `app`, one of the routes above."""
    with listening("127.0.0.1", 0) as port:
        ended: Counter[Ending] = Counter()

        def note(why: Ending) -> None:
            ended[why] += 1

        made = app or Starlette(routes=ROUTES)
        server = Server(made, bounds=bounds, ended=note, headers=OWN, web_sockets=True)
        thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[port]),))
        number = port.getsockname()[1]
        thread.start()
        try:
            until("the server", lambda: server.started, DEADLINE_S)
            yield Bounded(server, number, ended)
        finally:
            server.should_exit = True
            thread.join()


def everything(client: socket.socket) -> bytes:
    """Return all that comes until the server ends the connection."""
    got = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while part := client.recv(1 << 16):
            got += part
    return bytes(got)


def answer(client: socket.socket, end: bytes) -> bytes:
    """Return what comes, up to and with `end`."""
    got = b""
    while not got.endswith(end):
        part = client.recv(1 << 16)
        assert part, got
        got += part
    return got
