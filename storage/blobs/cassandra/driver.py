"""What we ask of the driver beyond its defaults: big buffers, back-pressure, retries."""

import logging
from typing import Final

from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.io.libevreactor import LibevConnection
from cassandra.policies import (
    ConstantReconnectionPolicy,
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    HostDistance,
    NoSpeculativeExecutionPolicy,
    RetryPolicy,
    TokenAwarePolicy,
)
from cassandra.pool import Host
from cassandra.query import Statement, tuple_factory

from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.tls import tls_context

PROTOCOL_VERSION: Final = 4
"""Version 5 adds a checksum to each frame, and takes 10 to 55 % of the speed: blobs have theirs."""
BUFFER_BYTES: Final = 1 << 20
REMOTE_HOSTS_MAX: Final = 64
"""Nodes of each other data centre that we connect to: to ask replicas one by one."""
SPECULATE_READ_S: Final = 1.0
SPECULATE_WRITE_S: Final = 5.0
"""Later than reads: on a slow link between sites, sending a blob twice makes it slower still."""
SPECULATIONS_MAX: Final = 2
RETRIES_MAX: Final = 2
RECONNECT_S: Final = 2.0
CONNECT_TIMEOUT_S: Final = 5.0
CONTROL_TIMEOUT_S: Final = 10.0
HEARTBEAT_S: Final = 5
HEARTBEAT_TIMEOUT_S: Final = 10
"""A node that hangs, its connections open, is given up after at most the sum of both."""
SCHEMA_AGREEMENT_TIMEOUT_S: Final = 30
WRITES: Final = "writes"
"""Name of the execution profile of writes; that of reads is the default."""


class BlobConnection(LibevConnection):  # type: ignore[misc] # the driver has no types
    """A connection for messages of 1 MiB.

    Stock buffers of 4 KiB cost a tenth of the speed or more. And the stock driver fails a request,
    or sends it to a farther node, whenever the socket would block, which with 1 MiB messages it
    does all the time; here what is in flight is bounded by us, so it may wait in the queue.
    """

    in_buffer_size = BUFFER_BYTES
    out_buffer_size = BUFFER_BYTES

    @property
    def _socket_writable(self) -> bool:
        return True

    @_socket_writable.setter
    def _socket_writable(self, value: bool) -> None:
        """Let the reactor note what we do not want to know."""


class IdempotentRetry(RetryPolicy):  # type: ignore[misc] # the driver has no types
    """Tries the next node, a few times, if the statement may be repeated."""

    def on_read_timeout(self, query: Statement, *_: object, retry_num: int, **__: object) -> object:
        """Replicas did not answer the coordinator in time."""
        return self._decide(query, retry_num)

    def on_write_timeout(
        self, query: Statement, *_: object, retry_num: int, **__: object
    ) -> object:
        """Likewise, of a write."""
        return self._decide(query, retry_num)

    def on_unavailable(self, query: Statement, *_: object, retry_num: int, **__: object) -> object:
        """The coordinator sees too few replicas; another one may see more."""
        return self._decide(query, retry_num)

    def on_request_error(
        self, query: Statement, *_: object, retry_num: int, **__: object
    ) -> object:
        """The connection broke, or the coordinator is overloaded."""
        return self._decide(query, retry_num)

    def _decide(self, query: Statement, retry_num: int) -> object:
        if query.is_idempotent and retry_num < RETRIES_MAX:
            return self.RETRY_NEXT_HOST, None
        return self.RETHROW, None


class NearestFirst(DCAwareRoundRobinPolicy):  # type: ignore[misc] # the driver has no types
    """The nodes of this data centre, then those of all others, each of which stays connected.

    Stock, a data centre whose last node is down is ignored, and nobody tries to reach it again.
    """

    def distance(self, host: Host) -> object:
        """Return LOCAL or REMOTE, be the node up or down."""
        here = host.datacenter == self.local_dc
        return HostDistance.LOCAL if here else HostDistance.REMOTE


def make_cluster(config: CassandraConfig) -> Cluster:
    """Return the driver's side of the cluster; nothing is connected yet.

    Raises:
        RejectedError: A certificate or key cannot be used.
    """
    # It tells each failed try with a traceback; what matters comes back as an error of ours.
    logging.getLogger("cassandra").setLevel(logging.CRITICAL)
    login = PlainTextAuthProvider(config.username, config.password) if config.username else None
    reads = ConstantSpeculativeExecutionPolicy(SPECULATE_READ_S, SPECULATIONS_MAX)
    writes = ConstantSpeculativeExecutionPolicy(
        min(SPECULATE_WRITE_S, config.timeout_s / 2), SPECULATIONS_MAX
    )
    return Cluster(
        list(config.contact_points),
        config.port,
        connection_class=BlobConnection,
        protocol_version=PROTOCOL_VERSION,
        compression=False,  # video does not shrink
        auth_provider=login,
        ssl_context=tls_context(config),
        execution_profiles={
            EXEC_PROFILE_DEFAULT: _profile(config, reads),
            WRITES: _profile(config, writes),
        },
        reconnection_policy=ConstantReconnectionPolicy(RECONNECT_S, max_attempts=None),
        connect_timeout=CONNECT_TIMEOUT_S,
        control_connection_timeout=CONTROL_TIMEOUT_S,
        idle_heartbeat_interval=HEARTBEAT_S,
        idle_heartbeat_timeout=HEARTBEAT_TIMEOUT_S,
        max_schema_agreement_wait=SCHEMA_AGREEMENT_TIMEOUT_S,
    )


def _profile(
    config: CassandraConfig, speculation: NoSpeculativeExecutionPolicy
) -> ExecutionProfile:
    """Nearest replica first, then the other nodes of this data centre, then those of others."""
    return ExecutionProfile(
        load_balancing_policy=TokenAwarePolicy(
            NearestFirst(config.datacentre, used_hosts_per_remote_dc=REMOTE_HOSTS_MAX)
        ),
        retry_policy=IdempotentRetry(),
        speculative_execution_policy=speculation,
        request_timeout=config.timeout_s,
        row_factory=tuple_factory,
    )
