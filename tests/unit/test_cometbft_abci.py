"""The engine hears of each error of a method; the log has a traceback only of unforeseen ones."""

import logging
import socket
import threading
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.cometbft.abci import AbciServer, read_message, write_message
from contracts.proto.abci_pb2 import Request, RequestInfo, Response


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
    path = tmp_path / "abci"
    with AbciServer(path, {"info": fail}, failed.append) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        with socket.socket(socket.AF_UNIX) as client, caplog.at_level(logging.ERROR):
            client.connect(str(path))
            with client.makefile("rwb") as file:
                for request in (Request(info=RequestInfo()), Request(flush={})):
                    write_message(file, request.SerializeToString())
                file.flush()
                wire = read_message(file)
        server.shutdown()
        serving.join()
    assert wire is not None
    assert Response.FromString(wire).exception.error == str(error)
    assert failed == [error]
    (line,) = [each for each in caplog.records if each.name == "contracts.ledger.cometbft.abci"]
    assert bool(line.exc_info) == traced
    assert line.getMessage() == f"ABCI info: {error}"
