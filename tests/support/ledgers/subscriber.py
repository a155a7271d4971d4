"""A client of the node's `/subscriptions`."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from support.ledgers.nodes import WAIT_S, Node

HANDSHAKE = (
    b"GET /subscriptions HTTP/1.1\r\nHost: node\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
ABNORMAL = CloseCode.ABNORMAL_CLOSURE.value


@dataclass(frozen=True, slots=True)
class Subscriber:
    """One open WebSocket."""

    socket: Connection

    def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self.socket.send(json.dumps(message))

    def subscribe(self, *prefixes: str) -> dict[str, Any]:
        """Subscribe, and return the first message."""
        self.say({"action": "subscribe", "address_prefixes": list(prefixes)})
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        message: dict[str, Any] = json.loads(self.socket.recv(WAIT_S))
        return message

    def closing(self) -> int:
        """Return the code that the connection ends with; nothing else must come before."""
        try:
            text = self.socket.recv(WAIT_S)
        except ConnectionClosed as closed:
            return ABNORMAL if closed.rcvd is None else closed.rcvd.code
        raise AssertionError(text)


def address_of(node: Node) -> str:
    """Return where a node serves WebSockets."""
    return f"ws://{node.client.base_url.netloc.decode()}/subscriptions"


@contextmanager
def open_raw(node: Node) -> Iterator[socket.socket]:
    """Hold a WebSocket without a library behind it."""
    url = node.client.base_url
    with socket.create_connection((url.host, url.port or 0), timeout=WAIT_S) as raw:
        raw.sendall(HANDSHAKE)
        assert raw.recv(1 << 16).startswith(b"HTTP/1.1 101")
        yield raw


@contextmanager
def subscribe_deaf(node: Node, subscriptions: int) -> Iterator[None]:
    """Hold a WebSocket that subscribes to everything, several times, and reads nothing."""
    text = b'{"action": "subscribe"}'
    with open_raw(node) as raw:
        raw.sendall((b"\x81" + bytes([0x80 | len(text)]) + bytes(4) + text) * subscriptions)
        yield


@contextmanager
def subscriber(node: Node) -> Iterator[Subscriber]:
    """Hold an open WebSocket."""
    with connect(address_of(node), open_timeout=WAIT_S, close_timeout=1) as socket:
        yield Subscriber(socket)
