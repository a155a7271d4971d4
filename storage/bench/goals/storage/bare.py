"""The limit for blobs in Cassandra: a bare loop over the driver, without checks and hashes.

No registry has cassandra-stress. This loop keeps a fixed number of requests in flight, with
prepared statements and buffers as large as a message.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cassandra import ConsistencyLevel
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
    ResponseFuture,
    Session,
)
from cassandra.io.libevreactor import LibevConnection
from cassandra.policies import WhiteListRoundRobinPolicy
from cassandra.query import tuple_factory

from contracts.chunktree import HASH_BYTES
from contracts.errors import UnavailableError
from storage.bench.io.inflight import Rows, keep_in_flight

CONNECT_TIMEOUT_S: Final = 60.0
REQUEST_TIMEOUT_S: Final = 60.0
Received = Callable[[Rows], object]
"""Takes rows of leaf hash and data."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The connection of the driver.

    Attributes:
        protocol: Version of the native protocol.
        buffer_bytes: Read and written at once.
    """

    protocol: int = 4
    buffer_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of blobs in a table.

    Attributes:
        options: After WITH, joined by AND.
        bucket: Blobs of one partition.
    """

    options: Sequence[str] = ("compression = {'enabled': false}",)
    bucket: int = 64


class BareTable:
    """One table of blobs, and a connection for bare loops over it.

    Args:
        address: The node.
        port: Its port for clients.
        wire: The connection.

    Raises:
        UnavailableError: The node does not answer.
    """

    def __init__(self, address: str, port: int, wire: Wire) -> None:
        profile = ExecutionProfile(
            load_balancing_policy=WhiteListRoundRobinPolicy([address]),
            consistency_level=ConsistencyLevel.QUORUM,
            request_timeout=REQUEST_TIMEOUT_S,
            row_factory=tuple_factory,
        )
        self._cluster = Cluster(
            [address],
            port=port,
            protocol_version=wire.protocol,
            compression=False,
            connection_class=_connection(wire.buffer_bytes),
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        )
        self._session = _connected(self._cluster)
        self._bucket = 1
        self._insert: Any = None
        self._select: Any = None

    def close(self) -> None:
        """End the connection."""
        self._cluster.shutdown()

    def create(self, layout: Layout) -> None:
        """Make a new table of the benchmark, and use it."""
        replication = "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}"
        self._session.execute(
            f"CREATE KEYSPACE IF NOT EXISTS bench WITH replication = {replication}"
        )
        self._session.execute("DROP TABLE IF EXISTS bench.blob")
        self._session.execute(
            "CREATE TABLE bench.blob (recording blob, bucket int, blob_index int, leaf_hash blob,"
            " data blob, PRIMARY KEY ((recording, bucket), blob_index))"
            " WITH speculative_retry = 'NONE'"
            f"{''.join(f' AND {option}' for option in layout.options)}"
        )
        self.use("bench", layout.bucket)

    def use(self, keyspace: str, bucket: int) -> None:
        """Use the table of blobs in an existing keyspace.

        Args:
            keyspace: Also the gateway's, whose columns have the same names.
            bucket: Blobs of one partition.
        """
        self._bucket = bucket
        self._session.set_keyspace(keyspace)
        self._insert = self._session.prepare(
            "INSERT INTO blob (recording, bucket, blob_index, leaf_hash, data)"
            " VALUES (?, ?, ?, ?, ?)"
        )
        self._select = self._session.prepare(
            "SELECT leaf_hash, data FROM blob WHERE recording = ? AND bucket = ? AND blob_index = ?"
        )

    def empty(self) -> None:
        """Remove all blobs, so that every run begins with an empty table."""
        self._session.execute("TRUNCATE blob", timeout=REQUEST_TIMEOUT_S)

    def write(
        self, recording: bytes, blobs: Iterator[tuple[bytes, bytes]], count: int, in_flight: int
    ) -> float:
        """Write the next `count` blobs, each with its leaf hash; return seconds."""
        bucket = self._bucket

        def send(seq: int) -> ResponseFuture:
            row = (recording, seq // bucket, seq, *next(blobs))
            return self._session.execute_async(self._insert, row)

        return keep_in_flight(count, in_flight, send)

    def read(
        self, recording: bytes, count: int, in_flight: int, received: Received | None = None
    ) -> float:
        """Read the blobs of a recording; return seconds."""
        bucket = self._bucket

        def send(seq: int) -> ResponseFuture:
            return self._session.execute_async(self._select, (recording, seq // bucket, seq))

        def answered(_: int, rows: Rows) -> None:
            if received is not None:
                received(rows)

        return keep_in_flight(count, in_flight, send, answered)


def unhashed(blobs: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield blobs with zeros for their leaf hashes."""
    return ((bytes(HASH_BYTES), blob) for blob in blobs)


def _connection(buffer_bytes: int) -> type[LibevConnection]:
    """Return a connection that queues bytes while the socket is full; the loop bounds them."""
    always = property(lambda _: True, lambda _, __: None)
    words = {"in_buffer_size": buffer_bytes, "out_buffer_size": buffer_bytes}
    return type("BareConnection", (LibevConnection,), words | {"_socket_writable": always})


def _connected(cluster: Cluster) -> Session:
    end_s = time.monotonic() + CONNECT_TIMEOUT_S
    while True:
        try:
            return cluster.connect()
        except NoHostAvailable as error:  # the node has only just begun to listen
            if time.monotonic() > end_s:
                cluster.shutdown()
                raise UnavailableError(f"Cassandra does not answer: {error}") from error
            time.sleep(0.5)
