"""The engine hears of each error of a method, and never waits with what it writes."""

import io
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.cometbft import abci
from contracts.ledger.cometbft.abci import (
    AHEAD_OVERHEAD_BYTES,
    AbciServer,
    Method,
    ReadAhead,
    read_message,
    write_message,
)
from contracts.proto.abci_pb2 import (
    Request,
    RequestCheckTx,
    RequestInfo,
    Response,
    ResponseCheckTx,
)

TX = bytes(1 << 20)
PATIENCE_S = 30.0


@contextmanager
def asked(
    path: Path, methods: dict[str, Method], failed: list[Exception]
) -> Iterator[socket.socket]:
    """Serve, and yield a connection of the engine."""
    with AbciServer(path, methods, failed.append) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(PATIENCE_S)
                client.connect(str(path))
                yield client
        finally:
            server.shutdown()
            serving.join()


def written(requests: list[Request]) -> bytes:
    file = io.BytesIO()
    for request in requests:
        write_message(file, request.SerializeToString())
    return file.getvalue()


@pytest.mark.parametrize(
    ("error", "traced"),
    [(UnavailableError("stopped on purpose"), False), (KeyError("unforeseen"), True)],
)
def test_an_error_on_purpose_is_one_line_of_log(
    error: Exception, *, traced: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: RequestInfo) -> None:
        raise error

    failed: list[Exception] = []
    with (
        asked(tmp_path / "abci", {"info": fail}, failed) as client,
        caplog.at_level(logging.ERROR),
    ):
        client.sendall(written([Request(info=RequestInfo()), Request(flush={})]))
        with client.makefile("rb") as file:
            wire = read_message(file)
    assert wire is not None
    assert Response.FromString(wire).exception.error == str(error)
    assert failed == [error]
    (line,) = [each for each in caplog.records if each.name == "contracts.ledger.cometbft.abci"]
    assert bool(line.exc_info) == traced
    assert line.getMessage() == f"ABCI info: {error}"


def test_the_engine_can_write_while_it_waits_for_an_answer(tmp_path: Path) -> None:
    """A socket takes 200 kB; CometBFT burns a third of a core while it cannot write."""
    answering, checked = threading.Event(), []

    def check(request: RequestCheckTx) -> ResponseCheckTx:
        assert answering.wait(PATIENCE_S)
        checked.append(request.tx[:1])
        return ResponseCheckTx()

    failed: list[Exception] = []
    with asked(tmp_path / "abci", {"check_tx": check}, failed) as client:
        txs = [bytes([number]) + TX for number in range(8)]
        requests = [Request(check_tx=RequestCheckTx(tx=tx)) for tx in txs]
        client.sendall(written([*requests, Request(flush={})]))
        answering.set()
        with client.makefile("rb") as file:
            answers = [read_message(file) for _ in range(len(txs) + 1)]
    assert checked == [tx[:1] for tx in txs]
    assert [Response.FromString(wire or b"").WhichOneof("value") for wire in answers] == [
        *["check_tx"] * len(txs),
        "flush",
    ]
    assert failed == []


def test_what_waits_for_answers_has_a_bound() -> None:
    message, most = bytes(4), 1_000
    file = io.BytesIO()
    for _ in range(5_000):
        write_message(file, message)
    each_bytes = file.tell() // 5_000
    ahead_max = most // (len(message) + AHEAD_OVERHEAD_BYTES) + 1
    file.seek(0)
    ahead = ReadAhead(file, most)
    thread = threading.Thread(target=ahead.run)
    thread.start()
    for number, got in enumerate(ahead.messages(), 1):
        assert got == message
        assert file.tell() <= (number + ahead_max) * each_bytes
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert file.read() == b""


def test_an_error_of_the_reader_ends_the_connection_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(_: io.BufferedIOBase) -> bytes:
        raise MemoryError

    monkeypatch.setattr(abci, "read_message", exhausted)
    failed: list[Exception] = []
    with asked(tmp_path / "abci", {}, failed) as client:
        assert client.recv(1) == b""
    assert [type(each) for each in failed] == [MemoryError]


def test_a_reader_that_is_stopped_ends_though_it_is_full() -> None:
    ahead = ReadAhead(io.BytesIO(written([Request(info=RequestInfo(version="x" * 20))] * 2)), 1)
    thread = threading.Thread(target=ahead.run)
    thread.start()
    assert next(ahead.messages())
    ahead.stop()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
