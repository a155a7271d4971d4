"""A connection between client and server that can break, and loses what is on its way."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

PIECE_BYTES = 16 << 10


@dataclass
class Wire:
    """A port that leads to another port.

    Attributes:
        port: The port for clients.
        to: The server's port.
        cut_after: Bytes of clients after which everything breaks, and stays broken; or None.
        is_mute: Whether everything breaks instead at the server's next answer.
        sent: Bytes that came from clients.
    """

    port: int
    to: int
    cut_after: int | None = None
    is_mute: bool = False
    sent: int = 0
    is_down: bool = False
    _clients: set[socket.socket] = field(default_factory=set)
    _servers: set[socket.socket] = field(default_factory=set)

    @property
    def is_quiet(self) -> bool:
        """Say whether the server has closed its end of every connection."""
        return not self._servers

    def mend(self) -> None:
        """Carry everything again, and count from 0."""
        self.cut_after, self.is_mute, self.is_down, self.sent = None, False, False, 0

    def carry(self, client: socket.socket) -> None:
        """Carry one connection."""
        if self.is_down:
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", self.to))
        self._clients.add(client)
        self._servers.add(server)
        threading.Thread(target=self._up, args=(client, server), daemon=True).start()
        threading.Thread(target=self._down, args=(server, client), daemon=True).start()

    def cut(self) -> None:
        """Break every connection."""
        self.is_down = True
        for server in list(self._servers):
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)
        for client in list(self._clients):
            self._end(client)

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(PIECE_BYTES):
                self.sent += len(data)
                server.sendall(data)
                if self.cut_after is not None and self.sent >= self.cut_after:
                    self.cut()
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _down(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(PIECE_BYTES):
                if self.is_mute:
                    self.cut()
                with suppress(OSError):
                    client.sendall(data)
        self._end(client)
        self._servers.discard(server)
        server.close()

    def _end(self, client: socket.socket) -> None:
        self._clients.discard(client)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        client.close()


@contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    """Lead to a server's port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        wire = Wire(listener.getsockname()[1], port)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    wire.carry(listener.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield wire
        wire.cut()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
