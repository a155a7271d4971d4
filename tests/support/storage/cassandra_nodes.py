"""What tests do to single nodes of a cluster, and what a node has of its own."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from cassandra import ConsistencyLevel
from cassandra.query import SimpleStatement

from contracts.errors import UnavailableError
from storage.bench.servers.cassandra.cluster import Cluster
from storage.bench.servers.cassandra.node import Node
from storage.blobs.cassandra.store import CassandraBlobs
from support.storage.blobsuite import blob, recording
from support.storage.cassandras import HEALED_S, config_of, cql
from support.trucks.rogue import until


def wait_until_all_are_up(everyone: CassandraBlobs) -> None:
    one = recording("everyone")
    missing = ["nobody was asked yet"]

    def all_write() -> bool:
        try:
            everyone.put(one, blob(0, b"here"))
        except UnavailableError as error:
            missing[:] = [str(error)]
            return False
        missing[:] = [str(each.error) for each in everyone.replicas(one, 0) if each.error]
        return not missing

    try:
        until("all nodes up", all_write, HEALED_S)
    except AssertionError as error:
        error.add_note("; ".join(missing))
        raise


def not_put(store: CassandraBlobs) -> str:
    """Return why the store cannot put now."""
    try:
        store.put(recording("everyone"), blob(0, b"here"))
    except UnavailableError as error:
        return str(error)
    return ""


def each_node(nodes: Sequence[Node], *commands: tuple[str, ...]) -> None:
    """Run commands of nodetool on several nodes at once."""
    with ThreadPoolExecutor(len(nodes)) as pool:
        for command in commands:
            list(pool.map(lambda node, words=command: node.nodetool(*words), nodes))


def own_rows(sites: Cluster, keyspace: str, index: int, one: bytes) -> dict[str, int]:
    """Return how many rows one node has itself of a recording, by table."""
    found = {}
    with cql(config_of(sites, keyspace)) as session:
        (host,) = (
            each
            for each in session.cluster.metadata.all_hosts()
            if each.address == sites.addresses[index]
        )
        until("a connection to it", lambda: host in session.get_pool_state())
        for table, query in (
            ("recording", "SELECT manifest FROM {}.recording WHERE recording = %s"),
            ("bucket", "SELECT put_us FROM {}.bucket WHERE recording = %s"),
            ("blob", "SELECT leaf_hash FROM {}.blob WHERE recording = %s AND bucket = 0"),
        ):
            asked = SimpleStatement(
                query.format(keyspace), consistency_level=ConsistencyLevel.LOCAL_ONE
            )
            rows = list(session.execute(asked, (one,), host=host))
            found[table] = sum(row[0] is not None for row in rows)
    return found


def rot(node: Node, keyspace: str, needle: bytes) -> None:
    """Flip one bit of a blob in a table's file on a node's disk."""
    for path in node.data.glob(f"data/{keyspace}/blob-*/*-Data.db"):
        content = bytearray(path.read_bytes())
        where = content.find(needle[:64])
        if where >= 0:
            content[where] ^= 1
            path.write_bytes(content)
            return
    pytest.fail(f"no table of {node.directory} has that blob")
