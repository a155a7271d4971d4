"""Serves ABCI: CometBFT connects to a Unix socket and asks; each connection has two threads.

A message is a varint with its length, then a protobuf `Request` or `Response`. Answers come in the
order of the requests. One thread reads ahead of the answers: while CometBFT waits to write to us,
its flush timer, which is 20 ns where 20 ms were meant, keeps a third of a core busy.

Source: CometBFT 0.38, ABCI 2.0 specification, "Server"; message framing of its socket protocol;
`flushThrottleMS` of its `abci/client/socket_client.go`.
"""

import logging
import socket
import socketserver
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Final

from contracts.encoding import parse, varint
from contracts.errors import RejectedError, WaysealError
from contracts.proto.abci_pb2 import Request, Response

_LOG = logging.getLogger(__name__)

MESSAGE_BYTES_MAX: Final = 104_857_600
"""CometBFT refuses to write a longer one (its `maxMsgSize`)."""
AHEAD_BYTES_MAX: Final = 64 << 20
"""Requests of one connection that wait for their answers; CometBFT waits to write more."""
AHEAD_OVERHEAD_BYTES: Final = 200
"""Memory that each such request takes besides its own bytes, about."""
_BUFFER_BYTES: Final = 1 << 16
_MORE: Final = 0x80
_VARINT_BYTES_MAX: Final = 10

Method = Callable[[Any], Any]
"""Takes the request's message and returns the response's, of the same name."""


class AbciServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens at a Unix socket.

    Args:
        path: Of the socket; its directory is private to this user.
        methods: The function that answers each request, by its name in `Request`. A function that
            raises ends the engine: a validator that cannot execute must not go on.
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
        ahead = ReadAhead(self.rfile)
        thread = threading.Thread(target=ahead.run, name="abci-reader", daemon=True)
        thread.start()
        try:
            for wire in ahead.messages():
                self._answer(parse(Request, wire))
        except (OSError, RejectedError) as error:
            _LOG.warning("connection of CometBFT: %s", error)
        except Exception as error:  # noqa: BLE001 - the node has to hear of it and stop
            _LOG.exception("connection of CometBFT")
            self.server.failed(error)
        finally:
            self.connection.shutdown(socket.SHUT_RDWR)
            ahead.stop()
            thread.join()

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


class ReadAhead:
    """Messages of a connection that were read and are not answered yet.

    Args:
        file: The connection.
        bytes_max: Read no more while so many bytes wait.
    """

    def __init__(self, file: BufferedIOBase, bytes_max: int = AHEAD_BYTES_MAX) -> None:
        self._file = file
        self._bytes_max = bytes_max
        self._changed = threading.Condition()
        self._read: deque[bytes] = deque()
        self._bytes = 0
        self._ended = False
        self._error: Exception | None = None

    def run(self) -> None:
        """Read until the peer hangs up, the bytes make no message, or `stop`."""
        try:
            while (wire := read_message(self._file)) is not None and self._put(wire):
                pass
        except Exception as error:  # noqa: BLE001 - raised where the messages are taken
            self._error = error
        finally:
            self.stop()

    def stop(self) -> None:
        """Read no more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def messages(self) -> Iterator[bytes]:
        """Yield the messages in order, waiting for each, until the peer hangs up.

        Raises:
            OSError: The connection failed.
            RejectedError: A message is too long, or cut short.
            MemoryError: There is no memory for a message.
        """
        while (wire := self._take()) is not None:
            yield wire
        if self._error is not None:
            raise self._error

    def _put(self, wire: bytes) -> bool:
        """Keep a message, waiting for room; return whether to go on."""
        with self._changed:
            self._read.append(wire)
            self._bytes += len(wire) + AHEAD_OVERHEAD_BYTES
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._bytes <= self._bytes_max or self._ended)
            return not self._ended

    def _take(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._read or self._ended)
            if not self._read:
                return None
            wire = self._read.popleft()
            self._bytes -= len(wire) + AHEAD_OVERHEAD_BYTES
            self._changed.notify_all()
            return wire


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
