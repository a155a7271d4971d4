"""Looks at the cluster, and changes nothing: neither schema nor rows."""

from dataclasses import dataclass
from typing import Any

from cassandra import ConsistencyLevel, UnresolvableContactPoints
from cassandra.cluster import Cluster, Session
from cassandra.query import SimpleStatement

from contracts.errors import UnavailableError
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.driver import make_cluster
from storage.blobs.cassandra.errors import peer_errors
from storage.blobs.cassandra.schema import MIGRATIONS, check_agreed
from storage.blobs.cassandra.session import connect
from storage.blobs.port import OpenDeletions


@dataclass(frozen=True, slots=True)
class ClusterStanding:
    """How a cluster stands.

    Attributes:
        nodes: Addresses of all nodes.
        down: Addresses of those that this machine does not reach.
        disagreement: Why the nodes do not agree on the schema; empty if they do.
        step: The newest step of the schema that was taken; None without the keyspace.
        newest_step: The newest step that this program knows.
        deletions: Those that not every replica has confirmed.
    """

    nodes: tuple[str, ...]
    down: tuple[str, ...]
    disagreement: str
    step: int | None
    newest_step: int
    deletions: OpenDeletions


def look(config: CassandraConfig) -> ClusterStanding:
    """Connect, look, and leave.

    Raises:
        RejectedError: Login or TLS settings are wrong.
        UnavailableError: No node answers, or too few for the read consistency.
    """
    try:
        cluster = make_cluster(config)
    except UnresolvableContactPoints as error:
        raise UnavailableError(
            f"no name in cassandra.contact_points can be resolved: {error}"
        ) from error
    try:
        return _looked(cluster, connect(cluster, config), config)
    finally:
        cluster.shutdown()


def _looked(cluster: Cluster, session: Session, config: CassandraConfig) -> ClusterStanding:
    hosts = cluster.metadata.all_hosts()
    try:
        check_agreed(cluster, session)
        disagreement = ""
    except UnavailableError as problem:
        disagreement = str(problem)
    there = cluster.metadata.keyspaces.get(config.keyspace)
    steps = []
    deletions = OpenDeletions()
    if there is not None and "migration" in there.tables:
        steps = [int(each) for (each,) in _rows(session, config, "number", "migration")]
    if there is not None and "deletion" in there.tables:
        since_us = [int(each) for (each,) in _rows(session, config, "deleted_us", "deletion")]
        deletions = OpenDeletions(len(since_us), min(since_us) // 1000 if since_us else None)
    return ClusterStanding(
        tuple(sorted(str(each.address) for each in hosts)),
        tuple(sorted(str(each.address) for each in hosts if not each.is_up)),
        disagreement,
        max(steps, default=None),
        len(MIGRATIONS),
        deletions,
    )


def _rows(
    session: Session, config: CassandraConfig, column: str, table: str
) -> list[tuple[Any, ...]]:
    query = SimpleStatement(
        f"SELECT {column} FROM {config.keyspace}.{table}",  # noqa: S608 - [a-z][a-z0-9_]*
        consistency_level=ConsistencyLevel.name_to_value[config.read_consistency],
        is_idempotent=True,
    )
    with peer_errors(f"read table {table}"):
        return [each for each in session.execute(query) if None not in each]
