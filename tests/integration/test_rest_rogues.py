"""A thousand rogue connections at a real gateway and node: an honest client still gets in."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final
from urllib.parse import urlsplit

import httpx
import pytest

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import BatchList
from contracts.runtime.serving.connections import PER_ADDRESS_MAX
from support.ledgers.nodes import OCTETS, intkey_batch
from support.trucks.rogue import DEADLINE_S, Site, running_site, until

pytestmark = pytest.mark.integration

ROGUES: Final = 1_000
HEAD: Final = b"Host: here\r\nContent-Type: application/octet-stream\r\n"
LONG: Final = b"Content-Length: 1000000000000\r\n\r\n"
ANSWERED: Final = {
    "an early answer, then one byte": (b"POST /v1/uploads HTTP/1.1\r\n" + HEAD + LONG, b"x"),
    "an early answer, never read": (b"POST /v1/uploads HTTP/1.1\r\n" + HEAD + LONG, b""),
    "kept alive and idle": (b"GET /nothing HTTP/1.1\r\nHost: here\r\n\r\n", b""),
    "kept alive, then an empty line": (b"GET /nothing HTTP/1.1\r\nHost: here\r\n\r\n", b"\r\n"),
    "half of the next head": (b"GET /nothing HTTP/1.1\r\nHost: here\r\n\r\n", b"GET / HT"),
}
"""What a rogue says, and what it adds once an answer began to come."""
SILENT: Final = {
    "no word": b"",
    "half a head": b"POST /batches HTTP/1.1\r\nX: ",
    "a slow body": b"POST /batches HTTP/1.1\r\n" + HEAD + b"Content-Length: 16777216\r\n\r\n\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with running_site(tmp_path_factory.mktemp("rogues")) as made:
            yield made
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(params=["gateway", pytest.param("node", marks=pytest.mark.long)])
def server(site: Site, request: pytest.FixtureRequest) -> str:
    """Return the URL of something that every client may ask for, at one of the two servers."""
    if request.param == "node":
        return f"{site.appliance.ledger}/status"
    return f"{site.appliance.rest}/v1/openapi.json"


@contextmanager
def rogues(url: str, words: bytes, more: bytes | None = None) -> Iterator[None]:
    """Hold connections that said `words` and, once answered, `more`; some may be ended by now."""
    where = urlsplit(url)
    with ExitStack() as stack:
        for _ in range(ROGUES):
            held = socket.create_connection((where.hostname, where.port), DEADLINE_S)
            stack.enter_context(held)
            try:
                held.sendall(words)
                if more is not None:
                    held.recv(1)
                    held.sendall(more)
            except ConnectionError:
                continue
        yield


def ask(url: str) -> int:
    """Return the status that a new client gets at its first try."""
    return httpx.get(url, timeout=DEADLINE_S, trust_env=False).status_code


@pytest.mark.parametrize("rogue", ANSWERED)
def test_answered_rogues(server: str, rogue: str) -> None:
    words, more = ANSWERED[rogue]
    with rogues(server, words, more):
        assert ask(server) == 200


@pytest.mark.parametrize("rogue", SILENT)
def test_silent_rogues(server: str, rogue: str) -> None:
    with rogues(server, SILENT[rogue]):
        assert ask(server) == 200


def test_the_operator_sees_what_was_ended(site: Site) -> None:
    with rogues(f"{site.appliance.rest}/", SILENT["half a head"]):
        text = site.operator.get("/metrics").text
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert float(samples['wayseal_connections_ended_total{why="displaced"}']) > 0
    assert 0 < float(samples["wayseal_connections"]) <= PER_ADDRESS_MAX
    log = site.appliance.directory / "gateway.log"
    until("a line in the log", lambda: "ended connections" in log.read_text())
    assert log.read_text().count("ended connections") < 10  # however many there were


@pytest.fixture(scope="module")
def pending(site: Site) -> str:
    """Return the id of a batch that stays pending: no processor of its family is there."""
    batch = intkey_batch(Signer.generate(), 0)
    body = BatchList(batches=[batch]).SerializeToString()
    answer = httpx.post(f"{site.appliance.ledger}/batches", content=body, headers=OCTETS)
    assert answer.status_code == 202
    return batch.header_signature


@pytest.mark.parametrize("path", ["/batch_statuses?wait=300&id={pending}", "/blocks?limit=1000"])
def test_clients_that_ask_and_leave_keep_nobody_waiting(
    site: Site, pending: str, path: str
) -> None:
    """The node must not go on with what nobody waits for."""
    where = urlsplit(site.appliance.ledger)
    words = f"GET {path.format(pending=pending)} HTTP/1.1\r\nHost: here\r\n\r\n".encode()
    for _ in range(ROGUES + 200):
        with socket.create_connection((where.hostname, where.port), DEADLINE_S) as held:
            held.sendall(words)
    until("an answer", lambda: ask(f"{site.appliance.ledger}/status") == 200)
