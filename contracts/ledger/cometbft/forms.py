"""Offers long transactions to CometBFT as forms over its Unix socket.

CometBFT looks through a JSON-RPC request five times, byte by byte. For a transaction of 25 kB that
takes it 1.3 ms of CPU, for the same one as a form 0.7 ms (docs/performance.md). For a short one the
request itself costs more, so short ones go together in one JSON-RPC request.

Source: CometBFT 0.38, RPC, "Arguments" of URI over HTTP; `http_uri_handler.go` of its
`rpc/jsonrpc/server`.
"""

import json
import socket
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError

FORM_BYTES_MIN: Final = 4 << 10
FORM_BYTES_MAX: Final = 4 << 20
"""As hexadecimal digits a form is twice as long, and the engine takes 32 MiB."""
ANSWER_BYTES_MAX: Final = 1 << 20
IDLE_S: Final = 5.0
"""After so long, seconds, a new connection is made: CometBFT closes one after 10 s."""
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


def is_form(tx: bytes) -> bool:
    """Say whether a transaction goes as a form."""
    return FORM_BYTES_MIN <= len(tx) <= FORM_BYTES_MAX


class Forms:
    """Posts forms one after another; for one thread.

    Args:
        at: The engine's Unix socket.
        timeout_s: How long, seconds, an answer may take.
    """

    def __init__(self, at: Path, timeout_s: float) -> None:
        self._connection = _UnixConnection(at, timeout_s)
        self._used_s = time.monotonic()

    def broadcast(self, tx: bytes) -> Any:  # noqa: ANN401 - JSON
        """Offer a transaction to the mempool; return the JSON-RPC answer.

        Raises:
            UnavailableError: The engine does not answer; it may have taken the transaction.
        """
        if time.monotonic() - self._used_s > IDLE_S:
            self.close()
        self._used_s = time.monotonic()
        body = b"tx=0x" + tx.hex().encode()
        try:
            self._connection.request("POST", "/broadcast_tx_sync", body, _FORM)
            return json.loads(self._connection.getresponse().read(ANSWER_BYTES_MAX))
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            self.close()
            what = str(error) or type(error).__name__
            raise UnavailableError(f"CometBFT beside this node does not answer: {what}") from error

    def close(self) -> None:
        """Hang up; the next call makes a new connection."""
        self._connection.close()


class _UnixConnection(HTTPConnection):
    """HTTP/1.1 over a Unix socket."""

    def __init__(self, at: Path, timeout_s: float) -> None:
        super().__init__("engine", timeout=timeout_s)
        self._at = at
        self._timeout_s = timeout_s

    def connect(self) -> None:
        """Connect to the socket; `request` calls it where there is no connection."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self._timeout_s)
        self.sock.connect(str(self._at))
