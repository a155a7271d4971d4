"""How we configure the driver: large buffers, back-pressure, retries, nearest replica first."""

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
"""Version 5 adds a checksum to each frame and costs 10 to 55 % of the speed; blobs have hashes."""
BUFFER_BYTES: Final = 1 << 20
REMOTE_HOSTS_MAX: Final = 64
"""Connected nodes in each other data centre, for asking single replicas."""
SPECULATE_READ_S: Final = 1.0
SPECULATE_WRITE_S: Final = 5.0
"""Later than reads: on a slow connection between sites, a second send makes it even slower."""
SPECULATIONS_MAX: Final = 2
RETRIES_MAX: Final = 2
RECONNECT_S: Final = 2.0
CONNECT_TIMEOUT_S: Final = 5.0
CONTROL_TIMEOUT_S: Final = 10.0
HEARTBEAT_S: Final = 5
HEARTBEAT_TIMEOUT_S: Final = 10
"""A node that hangs with open connections is given up after at most the sum of both."""
SCHEMA_AGREEMENT_TIMEOUT_S: Final = 30
WRITES: Final = "writes"
"""Name of the execution profile of writes; reads use the default one."""


class BlobConnection(LibevConnection):  # type: ignore[misc] # the driver has no types
    """A connection for messages of 1 MiB.

    The default buffers of 4 KiB cost a tenth of the speed or more. By default, the driver also
    fails a request, or sends it to a farther node, when the socket would block, which happens all
    the time with 1 MiB messages. Here a request may wait in the queue, since we limit what is in
    flight.
    """

    in_buffer_size = BUFFER_BYTES
    out_buffer_size = BUFFER_BYTES

    def push(self, data: bytes) -> None:
        """Queue a message for the reactor, which cuts it and sends it in parts.

        It cuts a view without copies. Of `bytes`, each part that a socket takes of a message costs
        a copy of all that is left of it.
        """
        super().push(memoryview(data))

    @property
    def _socket_writable(self) -> bool:
        return True

    @_socket_writable.setter
    def _socket_writable(self, value: bool) -> None:
        """Ignore what the reactor sets."""


class IdempotentRetry(RetryPolicy):  # type: ignore[misc] # the driver has no types
    """Retries on the next node, a few times, if the statement is idempotent.

    A coordinator may see too few replicas, hear from too few in time, be overloaded, or lose its
    connection to us. Another node may have none of these troubles.
    """

    def _decide(self, query: Statement, *_: object, retry_num: int, **__: object) -> object:
        if query.is_idempotent and retry_num < RETRIES_MAX:
            return self.RETRY_NEXT_HOST, None
        return self.RETHROW, None

    on_read_timeout = on_write_timeout = on_unavailable = on_request_error = _decide


class NearestFirst(DCAwareRoundRobinPolicy):  # type: ignore[misc] # the driver has no types
    """The nodes of this data centre, then all other nodes; all of them stay connected.

    By default, the driver ignores a data centre whose last node is down and never tries it again.
    """

    def distance(self, host: Host) -> object:
        """Return LOCAL or REMOTE, whether the node is up or down."""
        here = host.datacenter == self.local_dc
        return HostDistance.LOCAL if here else HostDistance.REMOTE


def make_cluster(config: CassandraConfig) -> Cluster:
    """Return the driver's cluster object, not yet connected.

    Raises:
        RejectedError: A certificate or key cannot be used.
    """
    # The driver logs each failed attempt with a traceback; we raise what matters as our own error.
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
    """Use the nearest replica first, then other nodes of this data centre, then all others."""
    return ExecutionProfile(
        load_balancing_policy=TokenAwarePolicy(
            NearestFirst(config.datacentre, used_hosts_per_remote_dc=REMOTE_HOSTS_MAX)
        ),
        retry_policy=IdempotentRetry(),
        speculative_execution_policy=speculation,
        request_timeout=config.timeout_s,
        row_factory=tuple_factory,
    )
