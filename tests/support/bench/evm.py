"""A JSON-RPC server that answers as told, and the real anvil where it is here."""

import json
import shutil
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

Answer = Callable[[str, list[Any]], Any]
"""Returns the result of a call; raises KeyError for a method that the node does not know."""


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
