"""Every connection of our HTTP servers is bounded in time, in every state, and in number."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

import contracts.ledger.rest.subscriptions
import contracts.runtime.serving.connections
from contracts.ledger.rest.subscriptions import Subscriptions
from contracts.runtime.serving.connections import Bounds, Ending, network_of
from contracts.runtime.serving.protocols import PIPELINED_MAX
from support.ledgers.subscriber import HANDSHAKE
from support.machine.bounded import OWN, Bounded, answer, bounded, everything

if TYPE_CHECKING:
    from contracts.ledger.engine.ports import BlockReader

pytestmark = pytest.mark.integration

SHORT = Bounds(head_s=0.3, rate=1_000, body_s=0.3, unread_s=0.3, keep_alive_s=60)
SMALL = b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n"
WAIT = b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def short() -> Iterator[Bounded]:
    with bounded(SHORT) as server:
        yield server


def post(path: str, length: int, *more: str) -> bytes:
    """Return the head of a request with a body."""
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {length}", *more, "", ""]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\nX: "], ids=["nothing", "half"])
def test_a_slow_head(short: Bounded, words: bytes) -> None:
    with short.connect(words) as client:
        assert everything(client) == b""
    assert short.ended == {Ending.HEAD: 1}


@pytest.mark.parametrize("more", [b"\r\n", b"GET / HTTP/1.1\r\n"], ids=["empty line", "half"])
def test_a_slow_head_after_an_answer(short: Bounded, more: bytes) -> None:
    with short.connect(SMALL) as client:
        answer(client, b"small")
        client.sendall(more)
        assert everything(client) == b""
    assert short.ended == {Ending.HEAD: 1}


def test_half_a_head_behind_a_request(short: Bounded) -> None:
    with short.connect(SMALL + b"GET / HTTP/1.1\r\n") as client:
        assert everything(client).endswith(b"small")
    assert short.ended == {Ending.HEAD: 1}


def test_a_slow_body(short: Bounded) -> None:
    with short.connect(post("/take", 1_000_000) + b"x") as client:
        said = everything(client)
    assert said.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert OWN in said
    assert short.ended == {Ending.BODY: 1}


def test_what_is_no_request(short: Bounded) -> None:
    with short.connect(b"no request\r\n\r\n") as client:
        said = everything(client)
    assert said.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert OWN in said
    assert said.endswith(b"\r\n\r\nInvalid HTTP request received.")


def test_a_body_that_trickles(short: Bounded) -> None:
    with short.connect(post("/take", 1_000_000)) as client:
        until_ended(client)
    assert short.ended == {Ending.BODY: 1}


def until_ended(client: socket.socket) -> None:
    """Send a byte now and then until the server has ended the connection."""
    deadline = time.monotonic() + 20
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < deadline:
            client.send(b"x")
            time.sleep(0.01)
    assert time.monotonic() < deadline


CHUNKED = b"POST /take HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"
MIB = 1 << 20
MANY = 600_000  # requests: more than the kernel's buffers take


@pytest.mark.parametrize(
    ("begun", "endless"),
    [
        (b"0\r\n", b"a: " + b"b" * 60_000 + b"\r\n"),
        (b"0\r\n", b"a:\r\n" * 10_000),
        (b"0\r\na: ", b"b" * 60_000),
        (b"1;", b"b" * 60_000),
    ],
    ids=["long fields", "short fields", "one field", "an extension"],
)
def test_what_surrounds_a_body_fills_no_memory(begun: bytes, endless: bytes) -> None:
    with bounded(Bounds()) as server, server.connect(CHUNKED + begun) as client:
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 100 * MIB:
                client.sendall(endless)
                sent += len(endless)
        assert sent < 16 * MIB  # what the kernel had taken by then


def test_a_few_fields_behind_a_body_change_nothing() -> None:
    with bounded(Bounds()) as server, server.connect(CHUNKED + b"0\r\na: b\r\n\r\n") as client:
        assert answer(client, b"1").startswith(b"HTTP/1.1 200 OK\r\n")
        client.sendall(SMALL)
        answer(client, b"small")


def test_requests_in_a_row_are_answered_in_their_order() -> None:
    with bounded(Bounds()) as server, server.connect(SMALL * PIPELINED_MAX) as client:
        got = b""
        while got.count(b"small") < PIPELINED_MAX:
            got += client.recv(1 << 16)


def test_requests_in_a_row_fill_no_memory() -> None:
    """A client that reads its answers gets one for each, and can send many more in that time."""
    with bounded(Bounds()) as server, server.connect() as client:
        reading = threading.Thread(target=everything, args=(client,))
        reading.start()
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < MANY:
                client.sendall(SMALL * 1_000)
                sent += 1_000
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        reading.join()
    assert sent < MANY


def test_a_message_that_is_no_text_is_not_worth_a_traceback(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contracts.ledger.rest.subscriptions, "SUBSCRIBE_TIMEOUT_S", 5.0)
    hub = Subscriptions(cast("BlockReader", None))
    app = Starlette(routes=[WebSocketRoute("/subscriptions", hub.serve)])
    with bounded(Bounds(), app) as server, server.connect(HANDSHAKE) as client:
        answer(client, b"\r\n\r\n")
        client.sendall(b"\x81\x82\0\0\0\0\xff\xfe")
        with contextlib.suppress(ConnectionError):
            assert everything(client) == b""
    assert "Traceback" not in caplog.text


def test_a_slow_but_honest_body_passes() -> None:
    with (
        bounded(replace(SHORT, body_s=1.5)) as server,
        server.connect(post("/take", 60_000)) as client,
    ):
        for _ in range(60):  # 20 kB/s, over more than one measurement
            client.sendall(bytes(1_000))
            time.sleep(0.05)
        assert answer(client, b"60000").startswith(b"HTTP/1.1 200")


def test_a_byte_more_after_an_early_answer(short: Bounded) -> None:
    with short.connect(post("/refuse", 1 << 40)) as client:
        got = answer(client, b"who are you?")
        assert got.startswith(b"HTTP/1.1 401")
        assert b"\r\nconnection: close\r\n" in got
        until_ended(client)
    short.emptied()


def test_a_flood_after_an_early_answer(short: Bounded) -> None:
    with short.connect(post("/refuse", 1 << 40)) as client:
        answer(client, b"who are you?")
        with contextlib.suppress(ConnectionError):
            while True:
                client.sendall(bytes(1 << 16))
    short.emptied()


def test_a_client_that_waits_for_leave_is_refused_without_it(short: Bounded) -> None:
    with short.connect(post("/refuse", 1 << 40, "Expect: 100-continue")) as client:
        got = everything(client)
        assert got.startswith(b"HTTP/1.1 401")
        assert got.endswith(b"who are you?")
    short.emptied()


def test_a_refused_request_that_came_whole_keeps_its_connection() -> None:
    with bounded(Bounds()) as server, server.connect() as client:
        for _ in range(2):
            client.sendall(post("/refuse", 3) + b"abc")
            got = answer(client, b"who are you?")
            assert b"connection: close" not in got


@pytest.mark.parametrize("path", ["stream", "closing"])
def test_an_answer_that_nobody_reads(short: Bounded, path: str) -> None:
    with short.connect(f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) as client:
        assert client.recv(1) == b"H"
        short.emptied()
    assert short.ended == {Ending.UNREAD: 1}


def test_an_idle_connection() -> None:
    with bounded(replace(SHORT, head_s=60, keep_alive_s=1)) as server:
        with server.connect(SMALL) as client:
            assert everything(client).endswith(b"small")
        server.emptied()
        assert not server.ended  # it was not the client's fault


@pytest.mark.parametrize("words", [WAIT, post("/wait", 9) + b"x"], ids=["whole", "half"])
def test_a_client_that_closes_its_half(short: Bounded, words: bytes) -> None:
    with short.connect(words) as client:
        client.shutdown(socket.SHUT_WR)
        assert everything(client) == b""
    short.emptied()


def test_a_newcomer_takes_the_place_of_the_greediest_address() -> None:
    bounds = Bounds(connections=5, per_address=4)
    with bounded(bounds) as server, contextlib.ExitStack() as stack:
        honest = stack.enter_context(server.connect(SMALL, "127.0.0.3"))
        answer(honest, b"small")
        rogues = [stack.enter_context(server.connect(b"GET", "127.0.0.2")) for _ in range(4)]
        newcomer = stack.enter_context(server.connect(SMALL, "127.0.0.4"))
        answer(newcomer, b"small")
        assert everything(rogues[0]) == b""
        assert server.ended == {Ending.DISPLACED: 1}
        honest.sendall(SMALL)
        answer(honest, b"small")


def test_an_address_at_its_limit_displaces_its_own() -> None:
    with bounded(Bounds(per_address=2)) as server, contextlib.ExitStack() as stack:
        held = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in held[1:]:
            client.sendall(SMALL)
            answer(client, b"small")
        assert everything(held[0]) == b""
        assert server.count == 2


def test_idle_connections_go_before_uploads() -> None:
    with bounded(Bounds(connections=2)) as server, contextlib.ExitStack() as stack:
        upload = stack.enter_context(server.connect(post("/take", 2) + b"a"))
        idle = stack.enter_context(server.connect(SMALL))
        answer(idle, b"small")
        answer(stack.enter_context(server.connect(SMALL)), b"small")
        assert everything(idle) == b""
        upload.sendall(b"b")
        answer(upload, b"2")


def test_a_request_that_is_being_answered_keeps_its_place() -> None:
    with bounded(Bounds(connections=2)) as server, contextlib.ExitStack() as stack:
        for held in (1, 2):
            stack.enter_context(server.connect(WAIT))
            server.answers(held)
        with server.connect(SMALL) as client:
            assert everything(client).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert server.ended == {Ending.REFUSED: 1}


def test_many_requests_that_are_answered_for_long_make_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts.runtime.serving.connections, "ANSWER_PATIENCE_S", 0.0)
    with bounded(Bounds(connections=4)) as server, contextlib.ExitStack() as stack:
        honest = stack.enter_context(server.connect(WAIT, "127.0.0.3"))
        server.answers(1)
        rogues = [stack.enter_context(server.connect(WAIT, "127.0.0.2")) for _ in range(3)]
        server.answers(4)
        answer(stack.enter_context(server.connect(SMALL, "127.0.0.4")), b"small")
        assert everything(rogues[0]) == b""
        honest.setblocking(False)  # noqa: FBT003  # the standard library's signature
        with pytest.raises(BlockingIOError):
            honest.recv(1)


class NoBlocks:
    """A chain of which only the head is asked."""

    head = None


def test_a_subscriber_without_a_subscription(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts.ledger.rest.subscriptions, "SUBSCRIBE_TIMEOUT_S", 0.3)
    hub = Subscriptions(cast("BlockReader", NoBlocks()))
    app = Starlette(routes=[WebSocketRoute("/subscriptions", hub.serve)])
    with bounded(Bounds(), app) as server, server.connect(HANDSHAKE) as client:
        assert everything(client).startswith(b"HTTP/1.1 101")
        server.emptied()


def test_one_client_is_an_address_or_an_ipv6_network() -> None:
    assert network_of("10.0.0.5") == network_of("::ffff:10.0.0.5") == "10.0.0.5"
    assert network_of("fe80::1%eth0") == network_of("fe80::2") != network_of("fe81::1")
