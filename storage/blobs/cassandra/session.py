"""A connected session: prepared statements, what is in flight bounded, errors translated."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from cassandra import ConsistencyLevel, ReadFailure, UnresolvableContactPoints
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ResponseFuture,
    Session,
)
from cassandra.pool import Host
from cassandra.query import PreparedStatement

from contracts.errors import RejectedError, UnavailableError
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.driver import WRITES, make_cluster
from storage.blobs.cassandra.errors import DRIVER_ERRORS, peer_errors, why_not_connected
from storage.blobs.cassandra.schema import SPECULATIVE_RETRY_S, prepare_schema
from storage.blobs.cassandra.tls import check_tls

PAGE_ROWS: Final = 1000
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A request on its way.

    Attributes:
        future: The driver's.
        action: For what it says when it fails.
    """

    future: ResponseFuture
    action: str

    def rows(self) -> list[Row]:
        """Wait for the answer.

        Raises:
            UnavailableError: None came, or an error.
        """
        with peer_errors(self.action):
            return list(self.future.result())


class Statements:
    """Everything that is ever asked of the tables.

    Reads of state that decides how to write (`FLOOR…`, `BUCKETS`) are made at the read
    consistency: with levels that overlap, such as QUORUM both ways, they see every write.
    """

    def __init__(self, session: Session, config: CassandraConfig) -> None:
        self._session = session
        self._keyspace = config.keyspace
        reads = ConsistencyLevel.name_to_value[config.read_consistency]
        writes = ConsistencyLevel.name_to_value[config.write_consistency]
        prepare = self._prepare
        self.get = prepare(
            "SELECT leaf_hash, data FROM {}.blob"
            " WHERE recording = ? AND bucket = ? AND blob_index = ?",
            reads,
        )
        # At LOCAL_ONE a data centre with one copy has one node that may answer.
        self.get_here = prepare(
            "SELECT leaf_hash, data FROM {}.blob"
            " WHERE recording = ? AND bucket = ? AND blob_index = ?",
            ConsistencyLevel.LOCAL_ONE,
        )
        # Named one by one, rows that were written anew are not looked for in older, perhaps
        # rotten, files.
        self.leaves = prepare(
            "SELECT blob_index, leaf_hash FROM {}.blob"
            " WHERE recording = ? AND bucket = ? AND blob_index IN ?",
            reads,
        )
        self.manifest = prepare("SELECT manifest FROM {}.recording WHERE recording = ?", reads)
        self.deleted = prepare("SELECT deleted_us FROM {}.recording WHERE recording = ?", reads)
        self.marked = prepare(
            "SELECT put_us FROM {}.bucket WHERE recording = ? AND bucket = ?", reads
        )
        self.buckets = prepare("SELECT bucket, put_us FROM {}.bucket WHERE recording = ?", reads)
        self.recordings = prepare("SELECT DISTINCT recording FROM {}.bucket", reads)
        self.snitch = prepare(
            "SELECT value FROM system_views.settings WHERE name = 'dynamic_snitch'",
            ConsistencyLevel.ONE,
        )
        self.mark = prepare(
            "INSERT INTO {}.bucket (recording, bucket, put_us) VALUES (?, ?, ?) USING TIMESTAMP ?",
            writes,
        )
        put = (
            "INSERT INTO {}.blob (recording, bucket, blob_index, leaf_hash, data)"
            " VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?"
        )
        self.put = prepare(put, writes)
        self.put_everywhere = prepare(put, ConsistencyLevel.ALL)
        self.put_manifest = prepare(
            "UPDATE {}.recording USING TIMESTAMP ? SET manifest = ? WHERE recording = ?", writes
        )
        self.bury = prepare(
            "UPDATE {}.recording USING TIMESTAMP ? SET manifest = null, deleted_us = ?"
            " WHERE recording = ?",
            writes,
        )
        self.delete_blobs = prepare(
            "DELETE FROM {}.blob USING TIMESTAMP ? WHERE recording = ? AND bucket = ?", writes
        )
        self.delete_buckets = prepare(
            "DELETE FROM {}.bucket USING TIMESTAMP ? WHERE recording = ?", writes
        )

    def _prepare(self, query: str, level: int) -> PreparedStatement:
        prepared = self._session.prepare(query.format(self._keyspace))
        prepared.consistency_level = level
        # All of them: what is written has its timestamp given.
        prepared.is_idempotent = True
        return prepared


class Peer:
    """The cluster as one gateway meets it; safe to use from many threads.

    Args:
        config: The settings.

    Raises:
        RejectedError: It will never work as it is set up.
        UnavailableError: Not now.
    """

    def __init__(self, config: CassandraConfig) -> None:
        self._config = config
        self._slots = threading.BoundedSemaphore(config.in_flight)
        self._asks_nobody: set[object] = set()
        try:
            self._cluster = make_cluster(config)
        except UnresolvableContactPoints as error:
            names = ", ".join(config.contact_points)
            raise UnavailableError(
                f"no name in cassandra.contact_points is known: {names}"
            ) from error
        try:
            self._session = connect(self._cluster, config)
            prepare_schema(self._cluster, self._session, config, self._local())
            with peer_errors("prepare statements"):
                self.ask: Final = Statements(self._session, config)
        except BaseException:
            self._cluster.shutdown()
            raise

    def send(
        self,
        statement: PreparedStatement,
        values: Sequence[object],
        action: str,
        host: Host | None = None,
    ) -> Reply:
        """Send a request once there is room for it; its answer has one page.

        Args:
            statement: One of `ask`.
            values: In the statement's order.
            action: For errors, as in `get blob 3 of recording abcd`.
            host: The only node to ask.

        Raises:
            UnavailableError: There was no room in time, or nobody to send it to.
        """
        if not self._slots.acquire(timeout=self._config.timeout_s):
            raise UnavailableError(
                f"Cassandra cannot {action}: {self._config.in_flight} requests are on their way, "
                f"none ended in {self._config.timeout_s} s"
            )
        profile = EXEC_PROFILE_DEFAULT if _reads(statement) else WRITES
        try:
            with peer_errors(action):
                future = self._session.execute_async(
                    statement.bind(values), execution_profile=profile, host=host
                )
        except BaseException:
            self._slots.release()
            raise
        release = _once(self._slots.release)
        future.add_callbacks(release, release)
        return Reply(future, action)

    def rows(
        self, statement: PreparedStatement, values: Sequence[object], action: str
    ) -> list[Row]:
        """Send a request and wait for its answer of one page.

        Raises:
            UnavailableError: It failed.
        """
        return self.send(statement, values, action).rows()

    def pages(self, statement: PreparedStatement, action: str) -> Iterator[Row]:
        """Yield the rows of an answer that may have many pages, each fetched when it is needed.

        Raises:
            UnavailableError: A page cannot be had.
        """
        bound = statement.bind(())
        bound.fetch_size = PAGE_ROWS
        with peer_errors(action):
            yield from self._session.execute(bound)

    def replicas(self, routing_key: bytes) -> list[Host]:
        """Return every node that has a copy of a partition, be it up or down."""
        return list(self._cluster.metadata.get_replicas(self._config.keyspace, routing_key))

    def rows_of(
        self, host: Host, statement: PreparedStatement, values: Sequence[object], action: str
    ) -> list[Row]:
        """Ask one node what it has itself.

        Raises:
            RejectedError: It has something that cannot be read.
            UnavailableError: It did not answer, or a neighbour may have answered in its place.
        """
        alone = self._copies_in(host.datacenter) == 1
        if not alone:
            self._check_asks_nobody(host)
        start_s = time.monotonic()
        try:
            rows = self.send(statement, values, action, host).rows()
        except UnavailableError as error:
            if isinstance(error.__cause__, ReadFailure):
                raise RejectedError(f"node {host.address} has it, and cannot read it") from error
            raise
        if not alone and time.monotonic() - start_s >= SPECULATIVE_RETRY_S:
            raise UnavailableError(
                f"node {host.address} took {SPECULATIVE_RETRY_S} s: another may have answered"
            )
        return rows

    def close(self) -> None:
        """Close all connections; requests under way fail."""
        self._cluster.shutdown()

    def _copies_in(self, datacentre: str) -> int:
        strategy = self._cluster.metadata.keyspaces[self._config.keyspace].replication_strategy
        return int(strategy.dc_replication_factors.get(datacentre, 0))

    def _check_asks_nobody(self, host: Host) -> None:
        """Check that a node does not measure its neighbours, to let a faster one answer."""
        if host.host_id in self._asks_nobody:
            return
        rows = self.send(self.ask.snitch, (), "tell whether it answers for itself", host).rows()
        if rows != [("false",)]:
            raise UnavailableError(
                f"node {host.address} may let others answer: set dynamic_snitch: false there"
            )
        self._asks_nobody.add(host.host_id)

    def _local(self) -> str:
        policy = self._cluster.profile_manager.default.load_balancing_policy
        return str(policy._child_policy.local_dc)  # noqa: SLF001 - it has no other name


def wait_all(replies: Sequence[Reply]) -> list[list[Row]]:
    """Wait for all answers, and only then raise the first error: nothing stays on its way.

    Raises:
        UnavailableError: One failed.
    """
    answers: list[list[Row]] = []
    first: UnavailableError | None = None
    for reply in replies:
        try:
            answers.append(reply.rows())
        except UnavailableError as error:
            first = first or error
    if first is not None:
        raise first
    return answers


def _once(work: Callable[[], None]) -> Callable[[object], None]:
    """Return a callback that works once: of two coordinators the driver tells both answers."""
    left = [work]

    def call(_: object) -> None:
        with suppress(IndexError):
            left.pop()()

    return call


def connect(cluster: Cluster, config: CassandraConfig) -> Session:
    """Return a session without a keyspace.

    Raises:
        RejectedError: Login or TLS are wrong.
        UnavailableError: Nobody answers now.
    """
    try:
        return cluster.connect()
    except (*DRIVER_ERRORS, OSError) as error:
        check_tls(config)
        raise why_not_connected(error) from error


def _reads(statement: PreparedStatement) -> bool:
    return str(statement.query_string).startswith("SELECT")
