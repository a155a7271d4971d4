"""Several servers that form one cluster, or a single one."""

import signal
import socket
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, Self

from contracts.errors import UnavailableError
from storage.localcassandra.artifacts import CACHE, installed
from storage.localcassandra.config import Options, Place, Ports, initial_token
from storage.localcassandra.node import Node

PORT_TRIES: Final = 20
SUPERUSER: Final = "cassandra"
"""Name and password of the first role, where a login is asked for."""


class Cluster:
    """Nodes on this machine, each at an address of its own, with the same ports.

    Args:
        directory: For all that they store; what an earlier cluster of the same shape left there
            is used again.
        places: Where the nodes stand.
        options: What they share.
        lib: The server's jars; fetched when not given.
        native_port: For clients; 0 lets the system choose.

    Raises:
        RejectedError: There is no java or no mvn.
        UnavailableError: The jars cannot be fetched, or an address is not this machine's.
    """

    def __init__(
        self,
        directory: Path,
        places: Sequence[Place] = (Place(),),
        options: Options | None = None,
        *,
        lib: Path | None = None,
        native_port: int = 0,
    ) -> None:
        self._directory = directory
        self._options = options or Options()
        self._lib = lib or installed(CACHE)
        self._seeds = [place.address for place in places]
        self.ports = _free_ports(places, native_port)
        self.nodes: list[Node] = []
        for place in places:
            self._place(place, self.ports.jmx[len(self.nodes)])

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def addresses(self) -> list[str]:
        """Where clients may ask first."""
        return [node.place.address for node in self.nodes]

    def start(self, *indexes: int) -> None:
        """Start these nodes, or all; return once they serve and see all that run.

        Raises:
            UnavailableError: One of them does not get ready.
        """
        chosen = indexes or range(len(self.nodes))
        for index in chosen:
            self.nodes[index].start(self._seeds, initial_token(index, len(self._seeds)))
        running = sum(node.pid is not None for node in self.nodes)
        for index in chosen:
            self.nodes[index].wait_ready(running - 1)

    def add(self, place: Place) -> Node:
        """Start one more node, which joins with nothing: `nodetool rebuild` fetches its share.

        Raises:
            UnavailableError: It does not get ready.
        """
        node = self._place(place, _free_port("127.0.0.1"))
        self.start(len(self.nodes) - 1)
        return node

    def stop(self) -> None:
        """Stop all, one after the other, as an operator would.

        Raises:
            UnavailableError: One does not end in time.
        """
        for node in self.nodes:
            node.stop()

    def kill(self) -> None:
        """End all at once, as a power cut would end the processes."""
        for node in self.nodes:
            node.signal(signal.SIGKILL)
        with ExitStack() as rest:  # each is waited for, whatever becomes of the others
            for node in self.nodes:
                rest.callback(node.kill)

    def _place(self, place: Place, jmx_port: int) -> Node:
        directory = self._directory / f"node{len(self.nodes) + 1}"
        node = Node(directory, self._lib, place, self._options, self.ports, jmx_port=jmx_port)
        self.nodes.append(node)
        return node


def _free_ports(places: Sequence[Place], native_port: int) -> Ports:
    """Choose ports that nobody listens on at any address; in a namespace of its own all are."""
    addresses = ["127.0.0.1" if place.prefix else place.address for place in places]
    return Ports(
        native_port or _free_port(*addresses),
        _free_port(*addresses),
        tuple(_free_port("127.0.0.1") for _ in places),
    )


def _free_port(*addresses: str) -> int:
    for _ in range(PORT_TRIES):
        with ExitStack() as probes:
            port = 0
            try:
                for address in sorted(set(addresses)):
                    probe = probes.enter_context(closing(socket.socket()))
                    probe.bind((address, port))
                    port = int(probe.getsockname()[1])
            except OSError as error:
                if not port:
                    raise UnavailableError(f"cannot listen at {addresses}: {error}") from error
                continue
            return port
    raise UnavailableError(f"found no port that is free at all of {addresses}")
