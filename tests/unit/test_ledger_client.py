"""The ledger client before a server that is no ledger: one clear error, whatever it answers."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger import answers as answer_module
from contracts.ledger.client import LedgerClient
from contracts.ledger.pages import MEDIA_TYPE
from contracts.ledger.rest.views import receipt_view
from contracts.proto.ledger_pb2 import BlockPage, CommittedBlock
from contracts.proto.sawtooth_pb2 import Batch, Event, StateChange, TransactionReceipt
from contracts.sawtooth.batches import Status
from support.ledgers.fake import FakeLedger
from support.ledgers.walk import transactions_of
from support.network.world import registrations

ANSWERS = {
    "html": b"<html>hello</html>",
    "nothing": b"",
    "other encoding": b'{"data": "\xff\xfe"}',
    "empty object": b"{}",
    "list": b"[1, 2]",
    "text data": b'{"data": "AA", "head": [], "paging": 3}',
    "empty data": b'{"data": [], "paging": {}}',
    "odd entries": b'{"data": [{"id": 1}], "paging": {"next_position": null}}',
    "error is text": b'{"error": "no"}',
    "null data": b'{"data": null, "head": null, "paging": null}',
    "number": b"1e999",
    "no end of pages": b'{"data": [], "paging": {"next_position": "0x0"}}',
    "infinite block": b'{"data": [{"header": {"block_num": Infinity}}], "paging": {}}',
    "no setting": b'{"data": "/////w==", "head": 7, "paging": {"next_position": 3}}',
    "deep": b'{"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}
QUESTIONS: dict[str, Callable[[LedgerClient], object]] = {
    "statuses": lambda ledger: ledger.statuses(["a" * 128]),
    "head": lambda ledger: ledger.head_id(),
    "blocks": lambda ledger: list(ledger.blocks(0)),
    "committed": lambda ledger: list(ledger.committed(0)),
    "genesis": lambda ledger: ledger.genesis(),
    "batch": lambda ledger: ledger.batch("a" * 128),
    "receipts": lambda ledger: ledger.receipts(["a" * 128]),
    "state": lambda ledger: ledger.state("0" * 70),
    "height": lambda ledger: ledger.head_num(),
    "transaction": lambda ledger: ledger.has_transaction("a" * 128),
    "submit": lambda ledger: ledger.submit([Batch()]),
    "setting": lambda ledger: ledger.setting("a.b"),
}
HARMLESS = {("empty data", "blocks"), ("empty data", "committed"), ("no setting", "state")}
"""A ledger could mean this by it."""


class Impostor(ThreadingHTTPServer):
    daemon_threads = True
    answer = b""
    status = 200
    kind = "application/json"


class Handler(BaseHTTPRequestHandler):
    server: Impostor

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.send_header("Content-Type", self.server.kind)
        self.end_headers()
        self.wfile.write(self.server.answer)

    do_POST = do_GET  # noqa: N815 - the base class looks for that name

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def impostor() -> Iterator[Impostor]:
    with Impostor(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def ledger(impostor: Impostor) -> Iterator[LedgerClient]:
    client = LedgerClient(f"http://127.0.0.1:{impostor.server_port}")
    yield client
    client.close()


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_that_no_ledger_gives_may_be_another_tomorrow(
    impostor: Impostor, ledger: LedgerClient, answer: str, question: str
) -> None:
    impostor.answer, impostor.status = ANSWERS[answer], 200
    if (answer, question) in HARMLESS:
        QUESTIONS[question](ledger)
        return
    with pytest.raises(
        UnavailableError, match=r"ledger answered|setting .* on the ledger"
    ) as raised:
        QUESTIONS[question](ledger)
    assert len(str(raised.value)) < 1_000


@pytest.mark.parametrize(("status", "error"), [(400, RejectedError), (503, UnavailableError)])
@pytest.mark.parametrize("answer", ["empty object", "list", "error is text"])
def test_an_error_in_another_form_still_tells_its_status(
    impostor: Impostor, ledger: LedgerClient, status: int, error: type[Exception], answer: str
) -> None:
    impostor.answer, impostor.status = ANSWERS[answer], status
    with pytest.raises(error, match=str(status)):
        ledger.head_id()


def test_the_error_tells_how_the_answer_begins(impostor: Impostor, ledger: LedgerClient) -> None:
    for answer in (b"<html>hello</html>", b'{"data": "hello"}'):
        impostor.answer, impostor.status = answer, 200
        with pytest.raises(UnavailableError, match="hello"):
            ledger.genesis()


@pytest.mark.parametrize("question", ["state", "setting", "batch", "transaction"])
def test_another_servers_404_is_not_a_ledgers_no(
    impostor: Impostor, ledger: LedgerClient, question: str
) -> None:
    impostor.answer, impostor.status = b"<html>Not Found</html>", 404
    with pytest.raises(UnavailableError, match="not JSON"):
        QUESTIONS[question](ledger)
    impostor.answer = b'{"error": {"code": 75}}'
    assert not QUESTIONS[question](ledger)


def test_an_answer_without_end_is_given_up(
    impostor: Impostor, ledger: LedgerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_module, "ANSWER_BYTES_MAX", 1_000)
    impostor.answer, impostor.status = b" " * 1_001, 200
    with pytest.raises(UnavailableError, match="more than 1000 bytes"):
        ledger.head_id()


class Generous(FakeLedger):
    """Sends as many blocks as it is asked for, and where the next one stands."""

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        status, document = super().answer(method, target, body)
        if method != "GET":
            return status, document
        limit = int(parse_qs(urlsplit(target).query)["limit"][0])
        if document["data"][limit:]:
            following = int(document["data"][limit]["header"]["block_num"])
            document["paging"]["next_position"] = f"0x{following:016x}"
        document["data"] = document["data"][:limit]
        return status, document


def test_a_page_too_long_is_asked_for_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    with Generous() as fake:
        fake.extend([[]] * 3, salt="x" * 1_000)
        client = LedgerClient(fake.url)
        whole = list(client.blocks(0))
        monkeypatch.setattr(answer_module, "ANSWER_BYTES_MAX", 3_000)
        assert list(client.blocks(0)) == whole == fake.blocks
        client.close()


def test_a_block_too_long_even_alone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with Generous() as fake:
        fake.extend([[]] * 3, salt="x" * 1_000)
        fake.extend([[]], salt="x" * 3_000)
        client = LedgerClient(fake.url)
        monkeypatch.setattr(answer_module, "ANSWER_BYTES_MAX", 3_000)
        found = client.blocks(0)
        assert [next(found) for _ in range(3)] == fake.blocks[:3]
        with pytest.raises(UnavailableError, match="block 0x0000000000000003, although requested"):
            next(found)
        client.close()


def test_receipts_too_long_at_once_are_asked_for_by_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    with Generous() as fake:
        fake.extend([registrations()])
        client = LedgerClient(fake.url)
        names = [
            transaction.header_signature
            for batch in registrations()
            for transaction in batch.transactions
        ]
        whole = client.receipts(names)
        monkeypatch.setattr(answer_module, "ANSWER_BYTES_MAX", 500)
        assert client.receipts(names) == whole
        monkeypatch.setattr(answer_module, "ANSWER_BYTES_MAX", 100)
        with pytest.raises(UnavailableError, match=f"receipt of transaction {names[0]}"):
            client.receipts(names)
        client.close()


@pytest.mark.parametrize(
    "page",
    [
        b"{}",
        BlockPage(next_position="0x0").SerializeToString(),
        BlockPage(blocks=[CommittedBlock(receipts=[b""])]).SerializeToString(),
        BlockPage(blocks=[CommittedBlock(block=b"\xff")]).SerializeToString(),
    ],
)
def test_a_page_that_no_node_sends_may_be_another_tomorrow(
    impostor: Impostor, ledger: LedgerClient, page: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impostor, "kind", MEDIA_TYPE)
    impostor.answer, impostor.status = page, 200
    with pytest.raises(UnavailableError, match="ledger answered GET /blocks"):
        list(ledger.committed(0))


def test_a_ledger_that_knows_json_only_is_asked_for_receipts_apart() -> None:
    with FakeLedger() as fake:
        fake.extend([registrations(), []])
        client = LedgerClient(fake.url)
        found = list(client.committed(0))
        assert [committed.block for committed in found] == fake.blocks
        names = [receipt.transaction_id for receipt in found[0].receipts]
        assert names == [each.header_signature for each in transactions_of(found[0])]
        assert len(names) == len(registrations())
        client.close()


def test_receipts_from_which_empty_things_are_left_out() -> None:
    receipt = TransactionReceipt(
        transaction_id="a" * 128,
        events=[Event(event_type="t", attributes=[Event.Attribute(key="k")])],
        state_changes=[StateChange(address="0" * 70, type=StateChange.DELETE)],
    )

    class Sparing(FakeLedger):
        def answer(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
            assert (method, target) == ("POST", "/receipts"), body
            return 200, {"data": [receipt_view(receipt)]}

    with Sparing() as fake:
        client = LedgerClient(fake.url)
        assert client.receipts([receipt.transaction_id]) == {receipt.transaction_id: receipt}
        client.close()


def test_who_asks_the_ledger_to_wait_waits_as_long() -> None:
    class Slow(FakeLedger):
        def answer(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
            threading.Event().wait(0.5)
            return super().answer(method, target, body)

    with Slow() as fake:
        client = LedgerClient(fake.url, timeout_s=0.1)
        with pytest.raises(UnavailableError):
            client.statuses(["a"])
        assert client.statuses(["a"], wait_s=60)["a"].status is Status.PENDING
        client.close()


@pytest.mark.parametrize("url", ["http://[", "http://127.0.0.1:port", "127.0.0.1:8008", ""])
def test_a_url_that_is_none_is_one_clear_error(url: str) -> None:
    with pytest.raises((RejectedError, UnavailableError)):
        LedgerClient(url).head_id()
