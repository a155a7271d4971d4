"""A client of the node's `/subscriptions`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from support.nodes import WAIT_S, Node

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
def subscriber(node: Node) -> Iterator[Subscriber]:
    """Hold an open WebSocket."""
    with connect(address_of(node), open_timeout=WAIT_S, close_timeout=1) as socket:
        yield Subscriber(socket)
