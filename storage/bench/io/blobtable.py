"""The gateway's table of blobs in a keyspace of the benchmark, and a bare loop over it."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Self

from cassandra import ConsistencyLevel
from cassandra.cluster import Cluster, ResponseFuture, Session
from cassandra.query import PreparedStatement

from storage.bench.io.inflight import Rows, keep_in_flight
from storage.bench.io.keyspaces import left_over
from storage.bench.trucks.payload import Payload
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.driver import make_cluster
from storage.blobs.cassandra.errors import DRIVER_ERRORS, peer_errors, schema_errors
from storage.blobs.cassandra.schema import BUCKET_BLOBS, SCHEMA_TIMEOUT_S
from storage.blobs.cassandra.session import connect
from storage.blobs.cassandra.store import CassandraBlobs

_LEAF: Final = bytes(32)


@dataclass(slots=True)
class Passed:
    """One pass over a video.

    Attributes:
        elapsed_s: From the first request until all were answered.
        took_s: Seconds of each request, from sending to answer.
        wrong: Pieces that were missing or differed from the bytes written.
    """

    elapsed_s: float = 0.0
    took_s: list[float] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)


class BlobTable:
    """One table, made as the gateway makes it, and a connection with its settings.

    Args:
        cluster: The driver's side.
        session: Connected.
        keyspace: Has the gateway's tables.
    """

    def __init__(self, cluster: Cluster, session: Session, keyspace: str) -> None:
        self._cluster = cluster
        self._session = session
        self._table = f"{keyspace}.blob"
        with peer_errors("prepare statements"):
            self._insert, self._select = prepared(session, keyspace)

    @classmethod
    @contextmanager
    def made(cls, config: CassandraConfig) -> Iterator[Self]:
        """Make the keyspace; drop it at the end.

        Raises:
            RejectedError: The login is wrong, or the role may not do this.
            UnavailableError: The cluster does not answer.
        """
        with connected(config) as (cluster, session):
            try:
                with closing(CassandraBlobs(config)) as store:
                    store.check()  # makes the tables
                # A drop or a truncate would otherwise keep all data as a snapshot. Servers before
                # 4.1 do not know the option.
                with suppress(*DRIVER_ERRORS):
                    session.execute(
                        f"ALTER TABLE {config.keyspace}.blob WITH allow_auto_snapshot = false"
                    )
                yield cls(cluster, session, config.keyspace)
            finally:
                drop(session, config.keyspace)

    def empty(self) -> None:
        """Remove all blobs, so that every pass begins with an empty table.

        Raises:
            UnavailableError: It failed.
        """
        with peer_errors(f"truncate {self._table}"):
            self._session.execute(f"TRUNCATE {self._table}", timeout=SCHEMA_TIMEOUT_S)

    def write(self, recording: bytes, payload: Payload, in_flight: int) -> Passed:
        """Write a video.

        Raises:
            UnavailableError: A blob could not be written.
        """

        def send(index: int) -> ResponseFuture:
            row = (recording, index // BUCKET_BLOBS, index, _LEAF, payload.piece(index))
            return self._session.execute_async(self._insert, row)

        return _pass(payload.pieces, in_flight, send, lambda _, __: True)

    def read(self, recording: bytes, payload: Payload, in_flight: int) -> Passed:
        """Read a video, and compare every byte with the written ones.

        Raises:
            UnavailableError: A blob could not be read.
        """

        def send(index: int) -> ResponseFuture:
            key = (recording, index // BUCKET_BLOBS, index)
            return self._session.execute_async(self._select, key)

        def holds(index: int, rows: Rows) -> bool:
            return bool(rows) and payload.holds(index, rows[0][0])

        return _pass(payload.pieces, in_flight, send, holds)


@contextmanager
def connected(config: CassandraConfig) -> Iterator[tuple[Cluster, Session]]:
    """Connect as a gateway does.

    Raises:
        RejectedError: The login or TLS is wrong.
        UnavailableError: The cluster does not answer.
    """
    with peer_errors("find the names of its nodes"):
        cluster = make_cluster(config)
    try:
        yield cluster, connect(cluster, config)
    finally:
        cluster.shutdown()


def prepared(session: Session, keyspace: str) -> tuple[PreparedStatement, PreparedStatement]:
    """Return the statements that write and read one blob at QUORUM."""
    insert = session.prepare(
        f"INSERT INTO {keyspace}.blob (recording, bucket, blob_index, leaf_hash, data)"  # noqa: S608
        " VALUES (?, ?, ?, ?, ?)"
    )
    select = session.prepare(
        f"SELECT data FROM {keyspace}.blob"  # noqa: S608 - a name of ours
        " WHERE recording = ? AND bucket = ? AND blob_index = ?"
    )
    for statement in (insert, select):
        statement.consistency_level = ConsistencyLevel.QUORUM
    return insert, select


def drop_left_over(cluster: Cluster, session: Session) -> list[str]:
    """Drop the keyspaces that killed runs of this machine left; return their names.

    Raises:
        RejectedError: The role may not.
        UnavailableError: It failed.
    """
    found = left_over(cluster.metadata.keyspaces)
    for name in found:
        drop(session, name)
    return found


def drop(session: Session, keyspace: str) -> None:
    """Drop a keyspace of the benchmark, if it exists.

    Raises:
        RejectedError: The role may not.
        UnavailableError: It failed.
    """
    with schema_errors(f"drop keyspace {keyspace}"):
        session.execute(f"DROP KEYSPACE IF EXISTS {keyspace}", timeout=SCHEMA_TIMEOUT_S)


def _pass(
    count: int,
    in_flight: int,
    send: Callable[[int], ResponseFuture],
    holds: Callable[[int, Rows], bool],
) -> Passed:
    passed, sent_s = Passed(), [0.0] * count

    def begin(index: int) -> ResponseFuture:
        sent_s[index] = time.monotonic()
        return send(index)

    def note(index: int, rows: Rows) -> None:
        passed.took_s.append(time.monotonic() - sent_s[index])
        if not holds(index, rows):
            passed.wrong.append(index)

    passed.elapsed_s = keep_in_flight(count, in_flight, begin, note)
    return passed
