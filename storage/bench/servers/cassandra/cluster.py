"""Several servers that form one cluster, or a single one."""

import shutil
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Self

from contracts.errors import UnavailableError
from contracts.runtime.ports import free_port
from storage.bench.servers.cassandra.artifacts import CACHE, installed
from storage.bench.servers.cassandra.config import NodePlace, Options, Ports, initial_token
from storage.bench.servers.cassandra.node import Node

ACCEPT_TIMEOUT_S: Final = 60
"""A node says that it serves a moment before it accepts connections."""
SUPERUSER: Final = "cassandra"
"""Name and password of the first role, where a login is asked for."""
_POLL_S: Final = 0.1


class Cluster:
    """Nodes on this machine, each at its own address, with the same ports.

    Args:
        directory: For their data; data of an earlier cluster of the same shape is used again.
        places: One for each node.
        options: Shared by all nodes.
        lib: The server's jars; fetched when not given.
        native_port: For clients; 0 lets the system choose.

    Raises:
        RejectedError: java or mvn is missing.
        UnavailableError: The jars cannot be fetched, or an address is not this machine's.
    """

    def __init__(
        self,
        directory: Path,
        places: Sequence[NodePlace] = (NodePlace(),),
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
        """Addresses of the nodes, for clients."""
        return [node.place.address for node in self.nodes]

    def start(self, *indexes: int) -> None:
        """Start these nodes, or all; return once they serve and see all running nodes.

        Raises:
            UnavailableError: One of them does not get ready.
        """
        chosen = indexes or range(len(self.nodes))
        for index in chosen:
            self.nodes[index].start(self._seeds, initial_token(index, len(self._seeds)))
        running = sum(node.pid is not None for node in self.nodes)
        for index in chosen:
            self.nodes[index].wait_ready(running - 1)

    def add(self, place: NodePlace) -> Node:
        """Start one more node, which joins empty: `nodetool rebuild` fetches its share.

        Raises:
            UnavailableError: It does not get ready.
        """
        node = self._place(place, free_port("127.0.0.1"))
        self.start(len(self.nodes) - 1)
        return node

    def replace(self, index: int) -> Node:
        """Start an empty node in place of a dead one, by the steps of docs/storage.md.

        It serves, and has fetched its copy, on return.

        Raises:
            UnavailableError: It does not get ready.
        """
        node = self.nodes[index]
        node.kill()
        shutil.rmtree(node.data, ignore_errors=True)
        others = [seed for seed in self._seeds if seed != node.place.address]
        node.start(others, initial_token(index, len(self._seeds)), replaces=True)
        node.wait_ready(sum(each.pid is not None for each in self.nodes) - 1)
        return node

    def stop(self) -> None:
        """Stop all, one after the other, as an operator would.

        Raises:
            UnavailableError: One does not end in time.
        """
        for node in self.nodes:
            node.stop()

    def kill(self) -> None:
        """Kill all at once, as a power cut would."""
        for node in self.nodes:
            node.signal(signal.SIGKILL)
        with ExitStack() as rest:  # wait for each, even if another one fails
            for node in self.nodes:
                rest.callback(node.kill)

    def _place(self, place: NodePlace, jmx_port: int) -> Node:
        directory = self._directory / f"node{len(self.nodes) + 1}"
        node = Node(directory, self._lib, place, self._options, self.ports, jmx_port=jmx_port)
        self.nodes.append(node)
        return node


@contextmanager
def fresh_server(directory: Path, options: Options, lib: Path | None = None) -> Iterator[Cluster]:
    """Run one new server for a measurement; remove everything that it stored.

    Args:
        directory: For commit log and tables.
        options: Of the server.
        lib: The server's jars; fetched when not given.

    Raises:
        RejectedError: java or mvn is missing.
        UnavailableError: The server does not get ready.
    """
    home = directory / "cassandra"
    try:
        with Cluster(home, options=options, lib=lib) as server:
            _wait_until_it_accepts(server)
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _wait_until_it_accepts(server: Cluster) -> None:
    end_s = time.monotonic() + ACCEPT_TIMEOUT_S
    while True:
        try:
            socket.create_connection((server.addresses[0], server.ports.native), _POLL_S).close()
        except OSError as error:
            if time.monotonic() > end_s:
                raise UnavailableError(f"Cassandra does not accept clients: {error}") from error
            time.sleep(_POLL_S)
        else:
            return


def _free_ports(places: Sequence[NodePlace], native_port: int) -> Ports:
    """Choose ports that are free at every address; in a network namespace all ports are."""
    addresses = ["127.0.0.1" if place.prefix else place.address for place in places]
    return Ports(
        native_port or free_port(*addresses),
        free_port(*addresses),
        tuple(free_port("127.0.0.1") for _ in places),
    )
