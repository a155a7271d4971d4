"""A JSON-RPC server with given answers, a node without a chain, and the real anvil."""

import json
import shutil
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from storage.bench.ledger.evm.wire import Sent

Answer = Callable[[str, list[Any]], Any]
"""Returns the result of a call; raises KeyError for a method that the node does not know."""

SENDER = bytes(range(20))
"""Of each transaction of `sent`."""
AT = "0x" + "ab" * 20
"""Where a contract is."""
CHAIN = {"eth_chainId": "0x7", "web3_clientVersion": "besu/v1", "eth_gasPrice": "0x0"}


def need_anvil() -> None:
    """Skip a test where anvil is missing."""
    if shutil.which("anvil") is None:
        pytest.skip("anvil is not in the PATH: scripts/contract anvil provides it")


class Refused(Exception):  # noqa: N818 - what a node says
    """The node's own error."""


@contextmanager
def answering(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve JSON-RPC, answers in chunks; return the URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            many = isinstance(asked, list)
            said = [_reply(each, answer) for each in (asked if many else [asked])]
            body = json.dumps(said if many else said[0]).encode()
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in (body[:10], body[10:]):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler, tls) as url:
        yield url


@contextmanager
def served(
    handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Serve HTTP on a free port; return the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http{'s' * (tls is not None)}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _reply(asked: dict[str, Any], answer: Answer) -> dict[str, Any]:
    head = {"jsonrpc": "2.0", "id": asked["id"]}
    try:
        return {**head, "result": answer(asked["method"], asked["params"])}
    except KeyError:
        return {**head, "error": {"code": -32601, "message": "Method not found"}}
    except Refused as error:
        return {**head, "error": {"code": -32000, "message": str(error)}}


def sent(number: int, nonce: int = 0) -> Sent:
    """Return a transaction whose hash and octets repeat a number."""
    return Sent(bytes([number]) * 32, SENDER, nonce, bytes([number]) * 9)


class Node:
    """Takes transactions; puts all of them into a new block when it is asked for its height."""

    def __init__(self, answers: Mapping[str, object] | None = None) -> None:
        self.answers = answers or {}
        self.waiting: list[str] = []
        self.blocks: list[list[str]] = [[]]

    def __call__(self, method: str, parameters: list[Any]) -> object:
        if method in self.answers:
            found = self.answers[method]
            return found(*parameters) if callable(found) else found
        match method:
            case "eth_sendRawTransaction":
                return self.send(*parameters)
            case "eth_blockNumber":
                return self.height()
            case "eth_getBlockReceipts":
                return self.receipts(*parameters)
            case _:
                raise KeyError(method)

    def send(self, raw: str) -> str:
        self.waiting.append("0x" + raw[2:4] * 32)
        return self.waiting[-1]

    def height(self) -> str:
        if self.waiting:
            self.blocks.append(self.waiting)
            self.waiting = []
        return hex(len(self.blocks) - 1)

    def receipt(self, number: int, name: str) -> dict[str, str]:
        return {
            "transactionHash": name, "status": "0x1", "gasUsed": "0x5", "blockNumber": hex(number),
        }  # fmt: skip

    def receipts(self, number: str) -> list[dict[str, str]]:
        at = int(number, 16)
        return [self.receipt(at, name) for name in self.blocks[at]]
