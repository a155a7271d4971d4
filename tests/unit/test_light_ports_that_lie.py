"""Who answers nonsense is named: a light port to a newcomer, and the engine to its own node."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger import answers
from contracts.ledger.cometbft.network import found
from contracts.ledger.cometbft.networkfile import Card, Network
from contracts.ledger.cometbft.rpc import Rpc
from contracts.ledger.cometbft.seals import _DIGESTS
from contracts.ledger.cometbft.snapshots.wish import Wish, state_sync
from support.ledgers.heights import CHAIN, VALIDATOR

NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
def network() -> Network:
    card = Card(VALIDATOR.public_key, f"{'ab' * 20}@127.0.0.1:1")
    return found([card], CHAIN, [VALIDATOR.public_key])


@contextmanager
def answering(body: bytes) -> Iterator[str]:
    """Serve one answer to whatever is asked; yield the URL."""

    class Port(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Port) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def results(*found: object) -> bytes:
    return json.dumps(
        [{"id": number, "result": each} for number, each in enumerate(found)]
    ).encode()


def endless() -> bytes:
    """Return a header of a height that no integer is."""
    header = dict.fromkeys(_DIGESTS, "") | {"version": {"block": float("inf")}}
    body = results({"signed_header": {"header": header, "commit": {}}}, {"validators": []})
    return body.replace(b"Infinity", b"1e999")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "does not answer"),
        (b"<html>", "does not answer"),
        (b"[" * 100_000, "does not answer"),
        (b"[]", "answers other questions"),
        (b"7", "answers in an unknown form"),
        (results({}), "answers other questions"),
        (results({}, {}), "no header at height 1"),
        (endless(), "no header at height 1"),
        (results(None, None), "no header at height 1"),
        (results({"signed_header": {"header": 1, "commit": 2}}, {"validators": 3}), "no header"),
        (json.dumps([{"id": 0, "error": {}}, {"id": 1, "error": {}}]).encode(), "no header"),
        (json.dumps([{"id": [], "result": 1}]).encode(), "answers other questions"),
        (json.dumps([{"id": 9, "error": "no"}]).encode(), "answers other questions"),
        (json.dumps([{"id": 0, "error": "no" * 9_999}]).encode(), "answers other questions"),
    ],
)
def test_a_wrong_answer_is_one_clear_error(body: bytes, words: str, network: Network) -> None:
    with answering(body) as url, pytest.raises((RejectedError, UnavailableError)) as raised:
        state_sync(Wish([url, NOWHERE]), network)
    assert words in str(raised.value)
    assert url in str(raised.value)


def test_an_answer_without_end_is_not_kept(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "ANSWER_BYTES_MAX", 1_000)
    with (
        answering(bytes(100_000)) as url,
        pytest.raises(UnavailableError, match="and more than 1000 bytes"),
    ):
        state_sync(Wish([url, NOWHERE]), network)


def test_an_engine_that_did_not_ask_behind_an_offer_is_unavailable() -> None:
    """Then nobody knows whether the application has answered about what was offered."""
    body = json.dumps([{"id": 0, "result": {}}, {"id": 1, "error": "closed"}]).encode()
    with (
        answering(body) as url,
        closing(Rpc(url)) as rpc,
        pytest.raises(UnavailableError, match="closed"),
    ):
        rpc.offer([b"a batch"])
