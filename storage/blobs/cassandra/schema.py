"""The tables, created and changed in numbered steps; docs/adr/0014 gives the reasons.

Several gateways may start at once: every statement may be repeated, and each table has a fixed id,
so that two nodes that create it at the same moment create the same table.
"""

import logging
import re
import uuid
from collections.abc import Mapping
from typing import Final

from cassandra import ConsistencyLevel
from cassandra.cluster import Cluster, Session
from cassandra.query import SimpleStatement

from contracts.errors import RejectedError, UnavailableError
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.errors import peer_errors, schema_errors
from storage.blobs.cassandra.replication import check_reachable, copies_of, cql_of, wanted

_VERSION_HERE: Final = "SELECT host_id, schema_version FROM system.local"
_VERSIONS_THERE: Final = "SELECT host_id, schema_version FROM system.peers_v2"
SCHEMA_TIMEOUT_S: Final = 60.0
SPECULATIVE_RETRY_S: Final = 0.5
"""A coordinator asks one more replica if a replica is slower than this."""
BUCKET_BLOBS: Final = 64
"""Blobs of one partition: 64 MiB."""
_log = logging.getLogger(__name__)

_TABLE_IDS: Final = uuid.UUID("5d0c7b3e-6b0e-41f0-8de9-0242ac120001")
_TABLE: Final = re.compile(r"\{keyspace\}\.([a-z]+)")
_VERSIONS: Final = """
CREATE TABLE IF NOT EXISTS {keyspace}.migration (
    number int PRIMARY KEY,
    name text
) WITH id = {id}
  AND comment = 'Steps of the schema that were taken'
"""
_OPTIONS: Final = (
    "read_repair = 'NONE' AND speculative_retry = '500ms' AND gc_grace_seconds = 864000"
)
MIGRATIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "blobs, buckets, recordings",
        (
            """
            CREATE TABLE IF NOT EXISTS {keyspace}.blob (
                recording blob,
                bucket int,
                blob_index int,
                leaf_hash blob,
                data blob,
                PRIMARY KEY ((recording, bucket), blob_index)
            ) WITH id = {id}
              AND compression = {{'class': 'NoopCompressor', 'chunk_length_in_kb': 64}}
              AND compaction = {{
                'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T8'}}
              AND """
            + _OPTIONS,
            """
            CREATE TABLE IF NOT EXISTS {keyspace}.bucket (
                recording blob,
                bucket int,
                put_us bigint,
                PRIMARY KEY (recording, bucket)
            ) WITH id = {id}
              AND """
            + _OPTIONS,
            """
            CREATE TABLE IF NOT EXISTS {keyspace}.recording (
                recording blob PRIMARY KEY,
                manifest blob,
                deleted_us bigint
            ) WITH id = {id}
              AND """
            + _OPTIONS,
        ),
    ),
    (
        "deletions that not every replica has confirmed",
        (
            "ALTER TABLE {keyspace}.recording ADD IF NOT EXISTS buckets frozen<set<int>>",
            """
            CREATE TABLE IF NOT EXISTS {keyspace}.deletion (
                recording blob PRIMARY KEY,
                deleted_us bigint,
                buckets frozen<set<int>>
            ) WITH id = {id}
              AND """
            + _OPTIONS,
        ),
    ),
)
"""Name and statements of each step, numbered from 1. A released step is never edited."""


def prepare_schema(cluster: Cluster, session: Session, config: CassandraConfig, local: str) -> None:
    """Create or migrate the keyspace and its tables; check that the settings fit them.

    Args:
        cluster: Connected.
        session: Without a keyspace.
        config: The settings.
        local: Data centre of this gateway.

    Raises:
        RejectedError: The keyspace belongs to another program, the schema is newer, a data centre
            is unknown, a consistency level can never be met, or the role lacks permission.
        UnavailableError: The cluster cannot do it now.
    """
    known = {str(host.datacenter) for host in cluster.metadata.all_hosts()}
    if local not in known:
        raise RejectedError(f"cassandra.datacentre: expected one of {sorted(known)}, got {local!r}")
    copies = _prepare_keyspace(cluster, session, config, known)
    check_reachable("write_consistency", config.write_consistency, copies, local)
    check_reachable("read_consistency", config.read_consistency, copies, local)
    steps = _steps_taken(cluster, session, config.keyspace)
    for number in range(len(steps) + 1, len(MIGRATIONS) + 1):
        _migrate(cluster, session, config.keyspace, number)


def _prepare_keyspace(
    cluster: Cluster, session: Session, config: CassandraConfig, known: set[str]
) -> Mapping[str, int]:
    name = config.keyspace
    if name not in cluster.metadata.keyspaces:
        check_agreed(cluster, session)
        cluster.refresh_schema_metadata()
    found = cluster.metadata.keyspaces.get(name)
    present = copies_of(name, found.replication_strategy) if found else None
    if present is None:
        first = wanted(config.replication, None, known)
        _define(
            cluster,
            session,
            f"CREATE KEYSPACE IF NOT EXISTS {name} WITH replication = {cql_of(first)}",
            f"create keyspace {name}",
        )
        # Another gateway may have been first, with other settings.
        cluster.refresh_schema_metadata()
        present = copies_of(name, cluster.metadata.keyspaces[name].replication_strategy)
    copies = wanted(config.replication, present, known)
    if copies != present:
        check_agreed(cluster, session)
        _log.warning("keyspace %s grows from %s to %s", name, dict(present), dict(copies))
        _define(
            cluster,
            session,
            f"ALTER KEYSPACE {name} WITH replication = {cql_of(copies)}",
            f"let keyspace {name} grow",
        )
    without = sorted(known - copies.keys())
    if without:
        _log.warning("data centres without a copy of keyspace %s: %s", name, ", ".join(without))
    return copies


def check_agreed(cluster: Cluster, session: Session) -> None:
    """Check that all nodes that are up have the same schema.

    A node that has just joined would create the keyspace again, and its newer settings would win in
    the whole cluster; or it would report a missing keyspace, although one exists and only needs
    more copies. The driver alone counts a neighbour of unknown version as agreeing.

    Raises:
        UnavailableError: They do not agree yet.
    """
    with peer_errors("tell the versions of its schema"):
        here = session.execute(_VERSION_HERE)
        asked = here.response_future.coordinator_host  # is not among its own neighbours
        rows = [*here, *session.execute(_VERSIONS_THERE, host=asked)]
    hosts = cluster.metadata.all_hosts()
    down = {host.host_id for host in hosts if host.is_up is False}
    versions = [version for host_id, version in rows if host_id not in down]
    heard_of_all = len(versions) >= len(hosts) - len(down)
    if not heard_of_all or len(set(versions)) != 1 or None in versions:
        raise UnavailableError("Cassandra: not all nodes have learnt the schema yet")


def _steps_taken(cluster: Cluster, session: Session, keyspace: str) -> list[int]:
    """Return the numbers of the schema steps that were taken; create their table if missing."""
    found = cluster.metadata.keyspaces.get(keyspace)
    tables = set(found.tables) if found else set()
    if "migration" not in tables:
        if tables:
            raise RejectedError(
                f"keyspace {keyspace} belongs to another program: it has tables "
                f"{', '.join(sorted(tables))} and no table migration; "
                f"choose another cassandra.keyspace"
            )
        _define(cluster, session, _named(_VERSIONS, keyspace), "create table migration")
    steps = _numbers(session, keyspace, ConsistencyLevel.ONE)
    if steps != list(range(1, len(MIGRATIONS) + 1)):
        # A replica that was down may lack a step. If it is cut off from the others, one replica
        # with exactly our steps is enough.
        steps = _numbers(session, keyspace, ConsistencyLevel.QUORUM)
    if steps != list(range(1, len(steps) + 1)) or len(steps) > len(MIGRATIONS):
        raise RejectedError(
            f"keyspace {keyspace}: expected schema steps 1..{len(MIGRATIONS)} at most, got {steps}"
        )
    return steps


def _numbers(session: Session, keyspace: str, level: int) -> list[int]:
    query = SimpleStatement(
        f"SELECT number FROM {keyspace}.migration",  # noqa: S608 - [a-z][a-z0-9_]*
        consistency_level=level,
        is_idempotent=True,
    )
    with peer_errors("tell its schema's version"):
        return sorted(int(number) for (number,) in session.execute(query))


def _migrate(cluster: Cluster, session: Session, keyspace: str, number: int) -> None:
    name, statements = MIGRATIONS[number - 1]
    _log.info("keyspace %s: schema step %d, %s", keyspace, number, name)
    for statement in statements:
        _define(cluster, session, _named(statement, keyspace), f"take schema step {number}")
    record = SimpleStatement(
        f"INSERT INTO {keyspace}.migration (number, name) VALUES (%s, %s)",  # noqa: S608
        consistency_level=ConsistencyLevel.QUORUM,
        is_idempotent=True,
    )
    with schema_errors(f"record schema step {number}"):
        session.execute(record, (number, name))


def _named(statement: str, keyspace: str) -> str:
    """Return a statement for a keyspace; the id of its table depends only on both names."""
    table = _TABLE.search(statement)
    name = f"{keyspace}.{table[1]}" if table else keyspace
    return statement.format(keyspace=keyspace, id=uuid.uuid5(_TABLE_IDS, name))


def _define(cluster: Cluster, session: Session, statement: str, action: str) -> None:
    """Change the schema; return once all nodes that are up have changed it."""
    with schema_errors(action):
        future = session.execute_async(statement, timeout=SCHEMA_TIMEOUT_S)
        future.result()
        agreed = future.is_schema_agreed or cluster.control_connection.wait_for_schema_agreement()
    if not agreed:
        raise UnavailableError(f"Cassandra cannot {action}: its nodes do not agree on the schema")
