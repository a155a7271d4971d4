"""Serves ABCI: CometBFT connects to a Unix socket and asks; each connection has its thread.

A message is a varint with its length, then a protobuf `Request` or `Response`. Answers come in the
order of the requests.

Source: CometBFT 0.38, ABCI 2.0 specification, "Server"; message framing of its socket protocol.
"""

import logging
import socketserver
from collections.abc import Callable, Mapping
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Final

from contracts.commits import varint
from contracts.encoding import parse
from contracts.errors import RejectedError, WaysealError
from contracts.proto.abci_pb2 import Request, Response

_LOG = logging.getLogger(__name__)

MESSAGE_BYTES_MAX: Final = 104_857_600
"""CometBFT refuses to write a longer one (its `maxMsgSize`)."""
_BUFFER_BYTES: Final = 1 << 16
_MORE: Final = 0x80
_VARINT_BYTES_MAX: Final = 10

Method = Callable[[Any], Any]
"""Takes the request's message and returns the response's, of the same name."""


class AbciServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens at a Unix socket.

    Args:
        path: Of the socket; its directory is private to this user.
        methods: What answers each request, by its name in `Request`. One that raises ends the
            engine: a validator that cannot execute must not go on.
        failed: Told once of such an error.
    """

    def __init__(
        self, path: Path, methods: Mapping[str, Method], failed: Callable[[Exception], None]
    ) -> None:
        self.methods = methods
        self.failed = failed
        super().__init__(str(path), _Connection)


class _Connection(socketserver.StreamRequestHandler):
    """One connection of the engine: consensus, mempool, query or snapshot."""

    rbufsize = wbufsize = _BUFFER_BYTES
    server: AbciServer

    def handle(self) -> None:
        """Answer until the engine hangs up."""
        try:
            while (wire := read_message(self.rfile)) is not None:
                self._answer(parse(Request, wire))
        except (OSError, RejectedError) as error:
            _LOG.warning("connection of CometBFT: %s", error)

    def _answer(self, request: Request) -> None:
        name = request.WhichOneof("value") or ""
        response = Response()
        if name == "flush":
            response.flush.SetInParent()
        elif name == "echo":
            response.echo.message = request.echo.message
        else:
            self._ask(name, request, response)
        write_message(self.wfile, response.SerializeToString())
        if name == "flush":
            self.wfile.flush()

    def _ask(self, name: str, request: Request, response: Response) -> None:
        try:
            method = self.server.methods[name]
            answer = method(getattr(request, name))
        except Exception as error:  # noqa: BLE001 - the engine has to hear of it and stop
            what, unforeseen = (
                name or "request of an unknown kind",
                not isinstance(error, WaysealError),
            )
            _LOG.error("ABCI %s: %s", what, error, exc_info=unforeseen)
            response.exception.error = str(error)
            self.server.failed(error)
            return
        getattr(response, name).CopyFrom(answer)


def read_message(file: BufferedIOBase) -> bytes | None:
    """Return the next message; None if the peer hung up before one.

    Raises:
        RejectedError: It is too long, or cut short.
    """
    size = _read_varint(file)
    if size is None:
        return None
    if size > MESSAGE_BYTES_MAX:
        raise RejectedError(f"message of {size} bytes, at most {MESSAGE_BYTES_MAX} allowed")
    wire = file.read(size)
    if len(wire) != size:
        raise RejectedError(f"message cut short: expected {size} bytes, got {len(wire)}")
    return wire


def write_message(file: BufferedIOBase, wire: bytes) -> None:
    """Write one message."""
    file.write(varint(len(wire)) + wire)


def _read_varint(file: BufferedIOBase) -> int | None:
    number = 0
    for place in range(_VARINT_BYTES_MAX):
        byte = file.read(1)
        if not byte:
            if place:
                raise RejectedError("message cut short in its length")
            return None
        number |= (byte[0] % _MORE) << 7 * place
        if byte[0] < _MORE:
            return number
    raise RejectedError(f"length of more than {_VARINT_BYTES_MAX} bytes")
