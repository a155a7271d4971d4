"""The ledger client before a server that is no ledger: one clear error, whatever it answers."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger import LedgerClient

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
    "deep": b'{"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}
QUESTIONS: dict[str, Callable[[LedgerClient], object]] = {
    "statuses": lambda ledger: ledger.statuses(["a" * 128]),
    "head": lambda ledger: ledger.head_id(),
    "blocks": lambda ledger: list(ledger.blocks(0)),
    "genesis": lambda ledger: ledger.genesis(),
    "batch": lambda ledger: ledger.batch("a" * 128),
    "receipts": lambda ledger: ledger.receipts(["a" * 128]),
    "state": lambda ledger: ledger.state("0" * 70),
    "setting": lambda ledger: ledger.setting("a.b"),
}
HARMLESS = {("empty data", "blocks")}
"""A ledger could mean this by it."""


class Impostor(ThreadingHTTPServer):
    daemon_threads = True
    answer = b""
    status = 200


class Handler(BaseHTTPRequestHandler):
    server: Impostor

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.answer)))
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
    with pytest.raises(UnavailableError, match="ledger answered"):
        QUESTIONS[question](ledger)


@pytest.mark.parametrize(("status", "error"), [(400, RejectedError), (503, UnavailableError)])
@pytest.mark.parametrize("answer", ["empty object", "list", "error is text"])
def test_an_error_in_another_form_still_tells_its_status(
    impostor: Impostor, ledger: LedgerClient, status: int, error: type[Exception], answer: str
) -> None:
    impostor.answer, impostor.status = ANSWERS[answer], status
    with pytest.raises(error, match=str(status)):
        ledger.head_id()


@pytest.mark.parametrize("url", ["http://[", "http://127.0.0.1:port", "127.0.0.1:8008", ""])
def test_a_url_that_is_none_is_one_clear_error(url: str) -> None:
    with pytest.raises((RejectedError, UnavailableError)):
        LedgerClient(url).head_id()
