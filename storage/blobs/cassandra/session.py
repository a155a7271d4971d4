"""A connected session: prepared statements, a limit on requests in flight, our own errors."""

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
from storage.blobs.cassandra.pools import Pools
from storage.blobs.cassandra.schema import SPECULATIVE_RETRY_S, prepare_schema
from storage.blobs.cassandra.tls import check_tls

PAGE_ROWS: Final = 1000
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A request in flight.

    Attributes:
        future: The driver's.
        action: For its error message.
    """

    future: ResponseFuture
    action: str

    def rows(self) -> list[Row]:
        """Wait for the answer.

        Raises:
            UnavailableError: No answer came, or an error.
        """
        with peer_errors(self.action):
            return list(self.future.result())


@dataclass(frozen=True, slots=True)
class Deleting:
    """The statements of a deletion, at one consistency level."""

    recording: PreparedStatement
    blobs: PreparedStatement
    buckets: PreparedStatement


class Statements:
    """Every statement that is run on the tables.

    Reads that decide how to write (`deleted`, `marked`, `buckets`) use the read consistency: with
    overlapping levels, such as QUORUM for both, they see every write.
    """

    def __init__(self, session: Session, config: CassandraConfig) -> None:
        self._session = session
        self._keyspace = config.keyspace
        reads = ConsistencyLevel.name_to_value[config.read_consistency]
        writes = ConsistencyLevel.name_to_value[config.write_consistency]
        prepare = self._prepare
        get = (
            "SELECT leaf_hash, data, WRITETIME(leaf_hash) FROM {}.blob"
            " WHERE recording = ? AND bucket = ? AND blob_index = ?"
        )
        self.get = prepare(get, reads)
        # At LOCAL_ONE, in a data centre with one copy only one node can answer.
        here = ConsistencyLevel.LOCAL_ONE
        self.get_here = prepare(get, here)
        # With the indexes given, rows that were overwritten are not looked up in older, perhaps
        # rotten, files.
        self.leaves = prepare(
            "SELECT blob_index, leaf_hash, WRITETIME(leaf_hash) FROM {}.blob"
            " WHERE recording = ? AND bucket = ? AND blob_index IN ?",
            reads,
        )
        self.manifest = prepare(
            "SELECT manifest, WRITETIME(manifest), deleted_us FROM {}.recording"
            " WHERE recording = ?",
            reads,
        )
        self.deleted = prepare(
            "SELECT deleted_us, buckets, WRITETIME(buckets) FROM {}.recording WHERE recording = ?",
            reads,
        )
        self.recording_here = prepare(
            "SELECT deleted_us, WRITETIME(manifest) FROM {}.recording WHERE recording = ?", here
        )
        self.deleted_recordings = prepare(
            "SELECT recording, deleted_us, buckets, WRITETIME(buckets) FROM {}.recording", reads
        )
        self.open_deletions = prepare(
            "SELECT recording, deleted_us, buckets, WRITETIME(deleted_us) FROM {}.deletion", reads
        )
        self.marked = prepare(
            "SELECT put_us FROM {}.bucket WHERE recording = ? AND bucket = ?", reads
        )
        buckets = "SELECT bucket, put_us FROM {}.bucket WHERE recording = ?"
        self.buckets = prepare(buckets, reads)
        self.buckets_here = prepare(buckets, here)
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
        self.put_buckets = prepare(
            "UPDATE {}.recording USING TIMESTAMP ? SET buckets = ? WHERE recording = ?", writes
        )
        self.open_deletion = prepare(
            "INSERT INTO {}.deletion (recording, deleted_us, buckets) VALUES (?, ?, ?)"
            " USING TIMESTAMP ?",
            writes,
        )
        self.close_deletion = prepare(
            "DELETE FROM {}.deletion USING TIMESTAMP ? WHERE recording = ?", writes
        )
        self.delete = self._deleting(writes)
        self.delete_everywhere = self._deleting(ConsistencyLevel.ALL)

    def _deleting(self, level: int) -> Deleting:
        return Deleting(
            self._prepare(
                "UPDATE {}.recording USING TIMESTAMP ?"
                " SET manifest = null, deleted_us = ?, buckets = ? WHERE recording = ?",
                level,
            ),
            self._prepare(
                "DELETE FROM {}.blob USING TIMESTAMP ? WHERE recording = ? AND bucket = ?", level
            ),
            self._prepare("DELETE FROM {}.bucket USING TIMESTAMP ? WHERE recording = ?", level),
        )

    def _prepare(self, query: str, level: int) -> PreparedStatement:
        prepared = self._session.prepare(query.format(self._keyspace))
        prepared.consistency_level = level
        # All statements are, because writes carry their timestamps.
        prepared.is_idempotent = True
        return prepared


class Peer:
    """A gateway's connection to the cluster; safe to use from many threads.

    Args:
        config: The settings.

    Raises:
        RejectedError: It cannot work with these settings.
        UnavailableError: It does not work now.
    """

    def __init__(self, config: CassandraConfig) -> None:
        self._config = config
        self._slots = threading.BoundedSemaphore(config.in_flight)
        self._answers_alone: set[object] = set()
        try:
            self._cluster = make_cluster(config)
        except UnresolvableContactPoints as error:
            names = ", ".join(config.contact_points)
            raise UnavailableError(
                f"no name in cassandra.contact_points can be resolved: {names}"
            ) from error
        try:
            self._session = connect(self._cluster, config)
            self._pools = Pools(self._cluster, self._session)
            self._datacentre = self._local()
            prepare_schema(self._cluster, self._session, config, self._datacentre)
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
        """Send a request once fewer than `in_flight` are under way; its answer has one page.

        Args:
            statement: One of `ask`.
            values: In the statement's order.
            action: For errors, as in `get blob 3 of recording abcd`.
            host: The only node to ask.

        Raises:
            UnavailableError: Too many requests were under way for too long, or no node is up.
        """
        self._pools.tend()
        if not self._slots.acquire(timeout=self._config.timeout_s):
            raise UnavailableError(
                f"Cassandra cannot {action}: {self._config.in_flight} requests are under way, "
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
            UnavailableError: A page could not be fetched.
        """
        bound = statement.bind(())
        bound.fetch_size = PAGE_ROWS
        with peer_errors(action):
            yield from self._session.execute(bound)

    @property
    def has_copies_here(self) -> bool:
        """Say whether this gateway's data centre has a copy of everything."""
        return self._copies_in(self._datacentre) > 0

    def replicas(self, routing_key: bytes) -> list[Host]:
        """Return every node that has a copy of a partition, whether it is up or down."""
        return list(self._cluster.metadata.get_replicas(self._config.keyspace, routing_key))

    def rows_of(
        self, host: Host, statement: PreparedStatement, values: Sequence[object], action: str
    ) -> list[Row]:
        """Ask one node for its own rows.

        Raises:
            RejectedError: It has the rows but cannot read them.
            UnavailableError: It did not answer, or another node may have answered in its place.
        """
        alone = self._copies_in(host.datacenter) == 1
        if not alone:
            self._check_answers_alone(host)
        start_s = time.monotonic()
        try:
            rows = self.send(statement, values, action, host).rows()
        except UnavailableError as error:
            if isinstance(error.__cause__, ReadFailure):
                raise RejectedError(f"node {host.address} has it but cannot read it") from error
            raise
        if not alone and time.monotonic() - start_s >= SPECULATIVE_RETRY_S:
            raise UnavailableError(
                f"node {host.address} took {SPECULATIVE_RETRY_S} s: another may have answered"
            )
        return rows

    def close(self) -> None:
        """Close all connections; requests in flight fail."""
        self._cluster.shutdown()

    def _copies_in(self, datacentre: str) -> int:
        strategy = self._cluster.metadata.keyspaces[self._config.keyspace].replication_strategy
        return int(strategy.dc_replication_factors.get(datacentre, 0))

    def _check_answers_alone(self, host: Host) -> None:
        """Check that a node does not forward reads to faster neighbours (dynamic snitch)."""
        if host.host_id in self._answers_alone:
            return
        rows = self.send(self.ask.snitch, (), "tell whether it answers for itself", host).rows()
        if rows != [("false",)]:
            raise UnavailableError(
                f"node {host.address} may let others answer: set dynamic_snitch: false there"
            )
        self._answers_alone.add(host.host_id)

    def _local(self) -> str:
        policy = self._cluster.profile_manager.default.load_balancing_policy
        return str(policy._child_policy.local_dc)  # noqa: SLF001 - it has no other name


def wait_all(replies: Sequence[Reply]) -> list[list[Row]]:
    """Wait for all answers, and only then raise the first error, so that no request is in flight.

    Raises:
        UnavailableError: A request failed.
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
    """Return a callback that works once: the driver calls it for each coordinator that answers."""
    left = [work]

    def call(_: object) -> None:
        with suppress(IndexError):
            left.pop()()

    return call


def connect(cluster: Cluster, config: CassandraConfig) -> Session:
    """Return a session without a keyspace.

    Raises:
        RejectedError: Login or TLS settings are wrong.
        UnavailableError: No node answers now.
    """
    try:
        return cluster.connect()
    except (*DRIVER_ERRORS, OSError) as error:
        check_tls(config)
        raise why_not_connected(error) from error


def _reads(statement: PreparedStatement) -> bool:
    return str(statement.query_string).startswith("SELECT")
