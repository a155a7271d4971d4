"""Clients that ask and read nothing, or send nothing: memory stays bounded, others are served."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from contracts.keys import Signer
from support.ledgers.nodes import WAIT_S, Node, intkey_batch, running
from support.ledgers.subscriber import subscribe_deaf
from support.machine.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.cold]

SIGNER: Final = Signer.generate()
MIB: Final = 1 << 20
IDLE: Final = 3_000
SLOW_BODIES: Final = 500
DEAF_READERS: Final = 45
DEAF_SUBSCRIBERS: Final = 40
CONNECTION_BYTES: Final = 64 << 10
"""What one hostile connection may cost at most, on the average."""
READERS_BYTES: Final = 400 * MIB
"""What answers and messages that nobody reads may cost at most, however many ask for them."""


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with running(tmp_path / "data") as node:
        yield node
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def memory(node: Node, which: str) -> int:
    """Return what the process has in memory (VmRSS), or had at most (VmHWM), bytes."""
    status = Path(f"/proc/{node.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith(which))
    return int(line.split()[1]) << 10


@contextmanager
def connections(node: Node, count: int, words: bytes) -> Iterator[None]:
    """Hold connections on which these words were said and nothing is read."""
    url = node.client.base_url
    with ExitStack() as stack:
        for _ in range(count):
            held = socket.create_connection((url.host, url.port or 0), timeout=WAIT_S)
            stack.enter_context(held)
            held.sendall(words)
        yield


def is_served(node: Node) -> bool:
    """Say whether a new client gets an answer."""
    try:
        return httpx.get(node.client.base_url.join("/blocks?limit=1")).status_code == 200
    except httpx.TransportError:
        return False


def test_idle_connections_and_slow_heads_are_ended(node: Node) -> None:
    before = memory(node, "VmRSS")
    with (
        connections(node, IDLE // 2, b""),
        connections(node, IDLE // 2, b"GET /blocks HTTP/1.1\r\nX: "),
    ):
        wait_until(lambda: is_served(node))
        assert memory(node, "VmHWM") - before < IDLE * CONNECTION_BYTES
    node.commit(intkey_batch(SIGNER, 0))


def test_slow_bodies_leave_room_for_others(node: Node) -> None:
    before = memory(node, "VmRSS")
    head = (
        b"POST /batches HTTP/1.1\r\nHost: node\r\nContent-Type: application/octet-stream\r\n"
        b"Content-Length: 16777216\r\n\r\n\n"
    )
    with connections(node, SLOW_BODIES, head):
        node.commit(intkey_batch(SIGNER, 0))
        assert memory(node, "VmHWM") - before < SLOW_BODIES * CONNECTION_BYTES
    node.commit(intkey_batch(SIGNER, 1))


def test_pages_that_nobody_reads(node: Node) -> None:
    for number in range(12):
        node.commit(intkey_batch(SIGNER, 1_000 * number, 1_000))
    oldest = node.client.get("/blocks?reverse&limit=1").json()["data"][0]["batches"][0]
    deep = oldest["header_signature"]
    before = memory(node, "VmRSS")
    with ExitStack() as stack:
        for path in ("/blocks?limit=1000", "/state?limit=1000", f"/batches?start={deep}&reverse"):
            words = f"GET {path} HTTP/1.1\r\nHost: node\r\n\r\n".encode()
            stack.enter_context(connections(node, DEAF_READERS // 3, words))
        node.commit(intkey_batch(SIGNER, 100_000))
        assert len(node.client.get("/blocks?limit=3").json()["data"]) == 3
        assert memory(node, "VmHWM") - before < READERS_BYTES


def test_subscribers_that_read_nothing(node: Node) -> None:
    before = memory(node, "VmRSS")
    with ExitStack() as stack:
        for _ in range(DEAF_SUBSCRIBERS):
            stack.enter_context(subscribe_deaf(node, subscriptions=8))
        for number in range(8):
            node.commit(intkey_batch(SIGNER, 1_000 * number, 1_000))
        assert memory(node, "VmHWM") - before < READERS_BYTES
    node.commit(intkey_batch(SIGNER, 100_000))
