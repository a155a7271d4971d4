"""Strangers at the component port: garbage, oversized messages, and silent connections."""

import contextlib
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from contracts.actions.payload import FAMILY
from contracts.ledger.component import connections
from contracts.proto.component_pb2 import (
    Message,
    PingRequest,
    PingResponse,
    TpRegisterResponse,
)
from support.ledgers.component_peer import connected
from support.ledgers.nodes import PLAIN_NODE, Node, recorded_options, running
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    options = [*recorded_options(tmp_path), "--component", "tcp://127.0.0.1:0"]
    with running(tmp_path / "data", *options, script=PLAIN_NODE) as node:
        yield node


def test_garbage_hurts_nobody(node: Node, tmp_path: Path) -> None:
    with connected(node.component) as peer:
        for kind in range(1030):
            for content in (b"", os.urandom(40), b"\x0a\xff\xff\xff\xff\x0f"):
                frame = struct.pack("BBB", 8, kind & 127 | 128, kind >> 7) + b"\x12\x01x"
                peer.dealer.send(frame + b"\x1a" + bytes([len(content)]) + content)
        for frames in ([os.urandom(100)], [b"", b""], [b"a", b"b", b"c"], [b"\xff" * 1000]):
            peer.dealer.send_multipart(frames)
        peer.send(Message.PING_REQUEST, b"", "x" * (connections.CORRELATION_CHARS_MAX + 1))
        peer.send(Message.PING_REQUEST, b"", "the last")
        while peer.receive().correlation_id != "the last":
            pass
    host, number = node.component.removeprefix("tcp://").split(":")
    with (
        socket.create_connection((host, int(number))) as raw,
        contextlib.suppress(ConnectionError),  # it may be hung up on before all is sent
    ):
        raw.sendall(os.urandom(10_000))
    assert node.client.get("/status").status_code == 200
    assert "Traceback" not in (tmp_path / "data.stderr").read_text()


def test_a_peer_of_an_older_zeromq_gets_no_answer_and_hurts_nobody(
    node: Node, tmp_path: Path
) -> None:
    host, number = node.component.removeprefix("tcp://").split(":")
    ping = Message(message_type=Message.PING_REQUEST, correlation_id="x").SerializeToString()
    with socket.create_connection((host, int(number))) as raw:
        # ZMTP 1.0: each frame begins with its length and flags; the first one is the identity.
        raw.sendall(b"\1\0" + bytes([len(ping) + 1]) + b"\0" + ping)
        said = tmp_path / "data.stderr"
        wait_until(lambda: "expected ZMTP 3" in said.read_text())
    assert "Traceback" not in said.read_text()
    with connected(node.component) as peer:
        peer.ask(Message.PING_REQUEST, PingRequest(), PingResponse)


def test_too_large_a_message_ends_its_connection_only(node: Node) -> None:
    with connected(node.component) as peer, connected(node.component) as other:
        events = peer.dealer.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        peer.dealer.send(bytes(connections.MESSAGE_BYTES_MAX + 1))
        assert events.poll(30_000)
        peer.dealer.disable_monitor()
        events.close(linger=0)
        other.ask(Message.PING_REQUEST, PingRequest(), PingResponse)


def is_open(connection: socket.socket) -> bool:
    """Say whether the other end has not closed a connection, or wait until it does."""
    connection.settimeout(0.01)
    try:
        while connection.recv(1024):
            pass
    except TimeoutError:
        return True
    except ConnectionError:
        return False
    return False


def test_silent_connections_keep_no_processor_out(node: Node) -> None:
    host, number = node.component.removeprefix("tcp://").split(":")
    with contextlib.ExitStack() as stack:
        held = [
            stack.enter_context(socket.create_connection((host, int(number))))
            for _ in range(4 * connections.STRANGERS_MAX)
        ]
        with connected(node.component) as peer:
            assert peer.register("intkey").status == TpRegisterResponse.OK
            wait_until(lambda: sum(map(is_open, held)) < connections.STRANGERS_MAX + 1)
            more = [
                stack.enter_context(socket.create_connection((host, int(number))))
                for _ in range(2 * connections.STRANGERS_MAX)
            ]
            wait_until(lambda: sum(map(is_open, more)) <= connections.STRANGERS_MAX)
            peer.ask(Message.PING_REQUEST, PingRequest(), PingResponse)


def test_a_refused_registration_leaves_a_stranger(node: Node) -> None:
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(connected(node.component, RECONNECT_IVL=-1))
        ended = first.dealer.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        try:
            assert first.register(FAMILY.name).status == TpRegisterResponse.ERROR
            for _ in range(connections.STRANGERS_MAX):
                peer = stack.enter_context(connected(node.component, RECONNECT_IVL=-1))
                assert peer.register(FAMILY.name).status == TpRegisterResponse.ERROR
            assert ended.poll(30_000)
        finally:
            first.dealer.disable_monitor()
            ended.close(linger=0)
