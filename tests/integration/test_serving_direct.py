"""A body that goes straight from the socket into the application's memory keeps every rule."""

import asyncio
import hashlib
import os
import socket
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from contracts.runtime.serving.connections import Bounds, Ending
from contracts.runtime.serving.direct import BodyLostError, Filling, direct_body
from support.machine.bounded import Bounded, answer, bounded, everything
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

SHORT = Bounds(head_s=20, rate=1_000, body_s=3, unread_s=20, keep_alive_s=60)
"""A body that is ended with unread bytes resets the connection, and its answer may be lost: the
server has time to read all that was sent."""
BODY = os.urandom((3 << 20) + 5)
MEMORY_BYTES = 1 << 20
SMALL = b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n"
lost: list[int] = []
gave_up: list[int] = []


async def small(_: Request) -> Response:
    return PlainTextResponse("small")


async def digest(request: Request) -> Response:
    """Answer the SHA-256 of the body; with `?receive` every other part comes as ASGI says."""
    sha256 = hashlib.sha256()
    size = int(request.query_params.get("memory", MEMORY_BYTES))
    message = await request.receive()
    sha256.update(message["body"])
    direct = direct_body(request.scope) if message["more_body"] else None
    assert direct_body(request.scope) is None  # it is given away once
    while direct is not None and not direct.ended:
        filling = Filling(memoryview(bytearray(size)))
        try:
            await direct.fill(filling, lambda _: None)
        except BodyLostError:
            lost.append(filling.filled)
            raise
        sha256.update(filling.came)
        await asyncio.sleep(0)  # the socket may have more by now
        if "receive" in request.query_params and not direct.ended:
            sha256.update((await request.receive())["body"])
    return PlainTextResponse(sha256.hexdigest())


async def enough(request: Request) -> Response:
    """Answer after the first MiB, while the client still sends."""
    await request.receive()
    direct = direct_body(request.scope)
    assert direct is not None
    await direct.fill(Filling(memoryview(bytearray(MEMORY_BYTES))), lambda _: None)
    return PlainTextResponse("enough", 400)


async def impatient(request: Request) -> Response:
    """Wait for bytes that do not come, give up, and take them with the next call."""
    await request.receive()
    direct = direct_body(request.scope)
    assert direct is not None
    filling = Filling(memoryview(bytearray(MEMORY_BYTES)))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await direct.fill(filling, lambda _: None)
    gave_up.append(filling.filled)
    while not direct.ended:
        await direct.fill(filling, lambda _: None)
    return PlainTextResponse(f"got {filling.filled}")


ROUTES = [
    Route("/small", small),
    Route("/digest", digest, methods=["POST"]),
    Route("/enough", enough, methods=["POST"]),
    Route("/impatient", impatient, methods=["POST"]),
]


def head(path: str, length: int, *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {length}", *more, "", ""]
    return "\r\n".join(lines).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[Bounded]:
    with bounded(Bounds(), Starlette(routes=ROUTES)) as running:
        yield running


@pytest.fixture
def hasty() -> Iterator[Bounded]:
    with bounded(SHORT, Starlette(routes=ROUTES)) as running:
        yield running


@pytest.mark.parametrize("path", ["/digest", "/digest?receive=on", "/digest?memory=5000"])
@pytest.mark.parametrize("split", [1, MEMORY_BYTES - 1, MEMORY_BYTES, len(BODY) - 1])
def test_every_byte_arrives_once_and_the_next_requests_are_answered(
    server: Bounded, path: str, split: int
) -> None:
    expected = hashlib.sha256(BODY).hexdigest().encode()
    with server.connect(head(path, len(BODY)) + BODY[:split]) as client:
        client.sendall(BODY[split:] + SMALL)  # in a row
        got = answer(client, b"small")
        assert (got.count(b"HTTP/1.1 200 OK\r\n"), got.count(expected)) == (2, 1)
        client.sendall(head(path, len(BODY)) + BODY + head("/digest", 3) + b"abc")
        assert expected in answer(client, hashlib.sha256(b"abc").hexdigest().encode())


def test_a_client_that_waits_for_leave_gets_it(server: Bounded) -> None:
    with server.connect(head("/digest", len(BODY), "Expect: 100-continue")) as client:
        answer(client, b"100 Continue\r\n\r\n")
        client.sendall(BODY)
        answer(client, hashlib.sha256(BODY).hexdigest().encode())


def test_chunks_come_as_ever(server: Bounded) -> None:
    said = b"POST /digest HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with server.connect(said + b"3\r\nabc\r\n0\r\n\r\n") as client:
        answer(client, hashlib.sha256(b"abc").hexdigest().encode())


def test_a_slow_body_is_ended(hasty: Bounded) -> None:
    with hasty.connect(head("/digest", len(BODY)) + BODY[: 2 * MEMORY_BYTES]) as client:
        assert everything(client).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    until("the end", lambda: hasty.ended == {Ending.BODY: 1})


def test_what_came_before_the_connection_broke_is_told(server: Bounded) -> None:
    lost.clear()
    sent = MEMORY_BYTES + 70_000
    with server.connect(head("/digest", len(BODY)) + BODY[:sent]) as client:
        client.shutdown(socket.SHUT_WR)
        everything(client)
    until("the broken connection", lambda: bool(lost))
    assert 0 <= lost[0] <= sent
    server.emptied()


def test_an_early_answer_arrives_and_closes_the_connection(server: Bounded) -> None:
    with server.connect(head("/enough", len(BODY)) + BODY[: 2 * MEMORY_BYTES]) as client:
        got = answer(client, b"enough")
        assert b"connection: close\r\n" in got
        assert everything(client) == b""
    server.emptied()


def test_a_reader_that_gave_up_goes_on_where_it_was(server: Bounded) -> None:
    with server.connect(head("/impatient", 9) + b"abc") as client:
        until("the reader that gives up", lambda: bool(gave_up))
        client.sendall(b"defghi")
        answer(client, b"got 6")
