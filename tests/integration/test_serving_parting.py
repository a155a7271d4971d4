"""An answer that ends its connection arrives whole, though its client is still sending."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from contracts.runtime.serving.connections import Bounds
from contracts.runtime.serving.direct import direct_body
from support.machine.bounded import ROUTES, Bounded, bounded, everything

pytestmark = pytest.mark.integration

WORDS = b"no" * (4 << 20)
"""More than the kernel keeps of one connection: the end of it goes out after the client reads."""
BODY = bytes(24 << 20)
"""The same the other way: the client is still sending when the answer has begun."""
LARGEST = 1 << 40


async def refuse(_: Request) -> Response:
    return PlainTextResponse(WORDS, 401)


async def refuse_midway(request: Request) -> Response:
    await request.receive()
    assert direct_body(request.scope) is not None
    return PlainTextResponse(WORDS, 460)


APP = Starlette(
    routes=[
        *ROUTES,
        Route("/large", refuse, methods=["POST"]),
        Route("/midway", refuse_midway, methods=["POST"]),
    ]
)


@pytest.fixture
def server() -> Iterator[Bounded]:
    with bounded(Bounds(), APP) as made:
        yield made


def head(path: str, length: str) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{length}\r\n\r\n".encode()


@contextlib.contextmanager
def sending(client: socket.socket, words: bytes) -> Iterator[None]:
    """Send from another thread for as long as the server takes it."""

    def send() -> None:
        with contextlib.suppress(OSError):
            client.sendall(words)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    ("path", "length", "status"),
    [
        ("/large", f"Content-Length: {len(BODY)}", b"401"),
        ("/large", f"Content-Length: {LARGEST}", b"401"),
        ("/large", "Transfer-Encoding: chunked", b"401"),
        ("/midway", f"Content-Length: {len(BODY)}", b"460"),
    ],
)
def test_a_client_that_is_still_sending_gets_the_whole_answer(
    server: Bounded, path: str, length: str, status: bytes
) -> None:
    body = b"%x\r\n%b\r\n" % (len(BODY), BODY) if "chunked" in length else BODY
    with server.connect() as client, sending(client, head(path, length) + body):
        got = everything(client)
    assert got.startswith(b"HTTP/1.1 " + status)
    assert got.endswith(b"\r\n\r\n" + WORDS)
    assert b"connection: close" in got[:500].lower()
    server.emptied()


def test_a_client_that_sends_all_before_it_reads_gets_the_whole_answer(server: Bounded) -> None:
    with server.connect(head("/refuse", f"Content-Length: {len(BODY)}") + BODY) as client:
        assert everything(client).endswith(b"who are you?")
    server.emptied()


def test_a_request_behind_the_rest_of_a_refused_body_is_not_answered(server: Bounded) -> None:
    """The client sends it again, on another connection (RFC 9112, 9.3.2)."""
    words = head("/large", f"Content-Length: {len(BODY)}") + BODY + head("/large", "Expect: x")
    with server.connect() as client, sending(client, words):
        got = everything(client)
    assert got.endswith(b"\r\n\r\n" + WORDS)
    assert got.count(b"HTTP/1.1") == 1


def test_what_is_no_request_is_told_while_more_comes(server: Bounded) -> None:
    with server.connect() as client, sending(client, b"nonsense\r\n\r\n" + BODY):
        assert everything(client).startswith(b"HTTP/1.1 400 ")
    server.emptied()


def test_a_client_that_never_stops_is_left_in_the_end() -> None:
    with bounded(Bounds(unread_s=0.3), APP) as server, server.connect() as client:
        client.sendall(head("/refuse", f"Content-Length: {LARGEST}"))
        with contextlib.suppress(ConnectionError):
            while True:
                client.sendall(BODY)
        server.emptied()
