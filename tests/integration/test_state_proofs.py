"""Proofs of state from our node, from Sawtooth's routes alone, and from recorded pages."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from contracts import address
from contracts.errors import RejectedError, UnavailableError
from contracts.evidence.statenodes import Comparison, ProvenState, message_of
from contracts.evidence.words import as_text
from contracts.ledger.client import LedgerClient
from contracts.ledger.proofs import StateProofs
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.sawtooth.nodes import StateTreeNode
from gateway.index.projection import project
from gateway.index.store import IndexStore
from gateway.records.evidence import Audit
from support.ledgers.rest_hosts import ledgers
from support.network.goods import newcomers
from support.network.world import Trip, handovers, reading, registrations
from support.storage.stores import open_store

pytestmark = pytest.mark.integration
GOLDEN: Final = Path(__file__).parents[1] / "golden" / "devmode"
TRIP: Final = Trip()


class SawtoothsRoutes(LedgerClient):
    """A ledger that does not tell nodes, as Sawtooth's REST API does not."""

    def state_nodes(self, head_id: str, target: str) -> list[StateTreeNode] | None:
        del head_id, target
        return None


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ledgers(tmp_path_factory.mktemp("node"), elsewhere=False) as made, made.fresh() as ledger:
        ledger.apply_all([*registrations(), *newcomers()])
        ledger.apply_all(TRIP.whole([reading(at) for at in range(4)], size=2))
        ledger.apply_all(handovers(TRIP.trip_id))
        yield ledger.url


def proofs(client: LedgerClient) -> StateProofs:
    """Return the proofs of the state after the newest block but one."""
    block = list(client.blocks(0))[-2]
    return StateProofs(client, block.header_signature, root_of(block.header))


def root_of(header: bytes) -> str:
    return BlockHeader.FromString(header).state_root_hash


SET: Final = address.party("seller")
UNSET: Final = [address.party("nobody"), address.delivery("none"), "00" * 35, "ff" * 35]
PREFIX: Final = address.trip_prefix(TRIP.trip_id)


@pytest.mark.parametrize("known_place", ["", SET], ids=["nothing known", "the seller known"])
def test_our_ledger_and_sawtooth_s_routes_prove_the_same(url: str, known_place: str) -> None:
    ours, sawtooth = LedgerClient(url), SawtoothsRoutes(url)
    value = ours.state(SET)
    known = {known_place: value or b""}
    try:
        nodes, listed = (
            proofs(client).gather([SET, *UNSET], [PREFIX], known) for client in (ours, sawtooth)
        )
        assert nodes == listed
        proven = ProvenState(root_of(list(ours.blocks(0))[-2].header))
    finally:
        ours.close()
        sawtooth.close()
    for node in nodes:
        proven.add(message_of(node).SerializeToString(deterministic=True))
    assert [proven.compare(place, None) for place in UNSET] == [Comparison.SAME] * len(UNSET)
    assert proven.compare(SET, value) is Comparison.SAME
    assert proven.value(SET) == (None if known_place else value)
    assert address.trip(TRIP.trip_id) in list(proven.others(PREFIX, {}))


@pytest.mark.parametrize("kind", [LedgerClient, SawtoothsRoutes])
def test_evidence_of_either_ledger_holds(
    url: str, tmp_path: Path, kind: type[LedgerClient]
) -> None:
    client, index = kind(url), IndexStore(tmp_path / "index.db")
    try:
        for committed in client.committed(0):
            number = BlockHeader.FromString(committed.block.header).block_num
            index.add(*project(committed, number))
        with open_store(tmp_path) as recordings:
            verdict = Audit(index, client, recordings).judge(TRIP.trip_id).verdict
    finally:
        index.close()
        client.close()
    assert verdict.problems == []
    assert verdict.holds
    assert "anything after block 3 (the latest time signed in the file is " in as_text(verdict)


def test_a_block_that_is_not_there(url: str) -> None:
    client = LedgerClient(url)
    try:
        for place in ([SET], []):
            with pytest.raises(RejectedError, match="HTTP 404"):
                StateProofs(client, "0" * 128, "").gather(place, [PREFIX], {})
    finally:
        client.close()


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text())["json"]
    return found


def pages() -> dict[str, dict[str, Any]]:
    """Return the recorded pages of state by their first address, and the rest as a last page."""
    listed = [recorded(f"{number:03}-page-state-{number - 77}") for number in (77, 78, 79)]
    found = {page["paging"]["start"] or "": page for page in listed}
    last = listed[-1]["paging"]["next_position"]
    rest = [entry for entry in recorded("057-list-state")["data"] if entry["address"] >= last]
    found[last] = {"data": rest, "head": listed[0]["head"], "paging": {"start": last}}
    return found


@contextmanager
def sawtooth(answers: dict[str, dict[str, Any]]) -> Iterator[LedgerClient]:
    """Serve recorded pages of `/state`; like Sawtooth, answer other paths in plain text."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
            if path == "/state":
                body = json.dumps(answers[query.get("start", [""])[0]]).encode()
                status, kind = 200, "application/json; charset=utf-8"
            else:
                status, kind, body = 404, "text/plain; charset=utf-8", b"404: Not Found"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    client = LedgerClient(f"http://127.0.0.1:{server.server_port}")
    try:
        yield client
    finally:
        client.close()
        server.shutdown()
        thread.join()
        server.server_close()


def recorded_root() -> tuple[str, str]:
    """Return the recorded head and its state root."""
    head = recorded("057-list-state")["head"]
    (root,) = (
        block["header"]["state_root_hash"]
        for block in recorded("060-blocks-all")["data"]
        if block["header_signature"] == head
    )
    return head, root


def test_a_real_sawtooth_s_pages_have_its_root() -> None:
    head, root = recorded_root()
    entry = recorded("057-list-state")["data"][-1]["address"]
    with sawtooth(pages()) as client:
        nodes = StateProofs(client, head, root).gather([entry, *UNSET], [], {})
    proven = ProvenState(root)
    for node in nodes:
        proven.add(message_of(node).SerializeToString(deterministic=True))
    assert proven.value(entry)
    assert [proven.compare(place, None) for place in UNSET] == [Comparison.SAME] * len(UNSET)


def test_pages_that_lack_an_entry_or_repeat_one_prove_nothing() -> None:
    head, root = recorded_root()
    for change in ("lack", "repeat"):
        answers = pages()
        first = answers[""]["data"]
        first[:] = first[1:] if change == "lack" else [first[0], *first]
        with sawtooth(answers) as client, pytest.raises((UnavailableError, RejectedError)):
            StateProofs(client, head, root).gather(UNSET, [], {})
