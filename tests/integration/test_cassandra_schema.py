"""The schema: made once, whoever comes first; and what a gateway must be told at its start."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from cassandra.cluster import Session

from contracts.errors import RejectedError, UnavailableError
from demo.processes import run
from gateway.blobstore import blob_store
from gateway.settings import Settings
from gateway.storagesettings import CassandraSettings, StorageSettings
from storage.bench.servers.cassandra.cluster import Cluster
from storage.blobs.cassandra.schema import MIGRATIONS
from storage.blobs.port import OpenDeletions
from support.storage.blobsuite import blob, recording
from support.storage.cassandras import by_wire, config_of, cql, opened, wait_until_it_works

pytestmark = pytest.mark.integration
ONE_COPY = "{'class': 'NetworkTopologyStrategy', 'dc1': 1}"


@pytest.fixture(scope="module")
def session(cassandra: Cluster) -> Iterator[Session]:
    with cql(config_of(cassandra, "unused")) as made:
        yield made


def refused(cassandra: Cluster, keyspace: str, **changes: object) -> str:
    """Return what is said, at the start, of settings that will never work."""
    with (
        opened(config_of(cassandra, keyspace, **changes)) as store,
        pytest.raises(RejectedError) as raised,
    ):
        store.check()
    return str(raised.value)


def test_several_gateways_make_one_schema_at_once(cassandra: Cluster, session: Session) -> None:
    config = config_of(cassandra, "at_once")
    with ExitStack() as closing, ThreadPoolExecutor(3) as pool:
        stores = [closing.enter_context(opened(config)) for _ in range(3)]
        # One may be told of a table that is not quite there yet, and connects again by itself.
        list(pool.map(wait_until_it_works, stores))
        one = recording("at once")
        stores[0].put(one, blob(0, b"data"))
        assert stores[2].get(one, 0) == blob(0, b"data")
    steps = session.execute("SELECT number, name FROM at_once.migration")
    assert sorted(steps) == [(n, name) for n, (name, _) in enumerate(MIGRATIONS, 1)]
    replication = session.execute(
        "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = 'at_once'"
    ).one()[0]
    assert (replication["class"].rpartition(".")[2], replication["dc1"]) == (
        "NetworkTopologyStrategy",
        "1",
    )
    options = session.execute(
        "SELECT compression, compaction, read_repair FROM system_schema.tables"
        " WHERE keyspace_name = 'at_once' AND table_name = 'blob'"
    ).one()
    assert options[0]["class"].endswith("NoopCompressor")
    assert options[1]["class"].endswith("UnifiedCompactionStrategy")
    assert options[2] == "NONE"


@pytest.mark.parametrize(
    "changes",
    [
        (
            "DROP TABLE half_made.recording",
            "DELETE FROM half_made.migration WHERE number IN (1, 2)",
        ),
        (  # of an older version
            "DROP TABLE half_made.deletion",
            "ALTER TABLE half_made.recording DROP buckets",
            "DELETE FROM half_made.migration WHERE number = 2",
        ),
    ],
)
def test_a_schema_that_was_half_made_is_finished(
    cassandra: Cluster, session: Session, changes: tuple[str, ...]
) -> None:
    with opened(config_of(cassandra, "half_made")) as store:
        store.check()
    for change in changes:
        session.execute(change)
    with opened(config_of(cassandra, "half_made")) as store:
        store.put_manifest(recording("half"), b"whole")
        assert store.manifest(recording("half")) == b"whole"
        store.delete(recording("half"))
        assert store.manifest(recording("half")) is None
        assert store.repeat_deletions(lambda: False) == OpenDeletions()


def test_a_newer_schema_is_refused(cassandra: Cluster, session: Session) -> None:
    with opened(config_of(cassandra, "newer")) as store:
        store.check()
    session.execute("INSERT INTO newer.migration (number, name) VALUES (9, 'later')")
    said = refused(cassandra, "newer")
    assert said == "keyspace newer: expected schema steps 1..2 at most, got [1, 2, 9]"


def test_a_keyspace_of_another_program_is_left_alone(cassandra: Cluster, session: Session) -> None:
    session.execute(f"CREATE KEYSPACE foreigners WITH replication = {ONE_COPY}")
    session.execute("CREATE TABLE foreigners.blob (id int PRIMARY KEY)")
    assert "belongs to another program: it has tables blob" in refused(cassandra, "foreigners")


def test_a_strategy_that_knows_no_sites_is_refused(cassandra: Cluster, session: Session) -> None:
    session.execute(
        "CREATE KEYSPACE simple WITH replication ="
        " {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    said = refused(cassandra, "simple")
    assert said == "keyspace simple: expected NetworkTopologyStrategy, got SimpleStrategy"


def test_a_keyspace_grows_only_once_all_nodes_have_one_schema(
    cassandra: Cluster, session: Session
) -> None:
    """A node that has just joined may be the one that is asked, and not know of the keyspace."""
    either = {"write_consistency": "ONE", "read_consistency": "ONE"}  # there is only one node
    grown = config_of(cassandra, "grows", replication={"dc1": 2}, **either)
    with opened(config_of(cassandra, "grows")) as store:
        store.check()
    session.execute(
        "INSERT INTO system.peers_v2 (peer, peer_port, schema_version)"
        " VALUES ('127.9.9.9', 7000, uuid())"
    )
    try:
        with opened(grown) as store:
            with pytest.raises(UnavailableError, match="not all nodes have learnt the schema yet"):
                store.check()
            assert copies_in(session, "grows") == "1"
    finally:
        session.execute("DELETE FROM system.peers_v2 WHERE peer = '127.9.9.9'")
    with opened(grown) as store:
        store.check()
    assert copies_in(session, "grows") == "2"


def copies_in(session: Session, keyspace: str) -> str:
    query = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = %s"
    return str(session.execute(query, (keyspace,)).one()[0]["dc1"])


def test_an_unknown_data_centre_is_refused(cassandra: Cluster) -> None:
    local = refused(cassandra, "unknown_dc", datacentre="site9")
    assert local == "cassandra.datacentre: expected one of ['dc1'], got 'site9'"
    copies = refused(cassandra, "unknown_dc", replication={"dc1": 1, "site9": 1})
    assert copies == "cassandra.replication: expected data centres of ['dc1'], got ['site9']"


def test_a_consistency_that_can_never_be_met_is_refused(cassandra: Cluster) -> None:
    written = refused(cassandra, "too_much", write_consistency="TWO")
    assert written == "cassandra.write_consistency TWO: there are 1 copies, {'dc1': 1}"
    read = refused(cassandra, "too_much", read_consistency="THREE")
    assert read == "cassandra.read_consistency THREE: there are 1 copies, {'dc1': 1}"


def test_a_gateway_with_wrong_settings_does_not_start(cassandra: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text(
        f'data = "{tmp_path}/data"\nsite_id = "site-b"\n[mqtt]\nembedded = true\nport = 0\n'
        f'[rest]\nport = 0\n[storage]\nblob_store = "both"\n'
        f'[cassandra]\nport = {cassandra.ports.native}\ndatacentre = "site9"\n'
    )
    done = run(["wayseal-gateway", "serve", "--config", str(path)])
    assert (done.returncode, done.stdout) == (1, "")
    assert "cassandra.datacentre: expected one of ['dc1'], got 'site9'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_gateway_starts_without_its_cluster_and_meets_it_later(
    cassandra: Cluster, tmp_path: Path
) -> None:
    with by_wire(cassandra, "later") as (config, wire):
        wire.cut()
        store = blob_store(
            Settings(
                data=tmp_path,
                site_id="site-b",
                storage=StorageSettings(blob_store="cassandra"),
                cassandra=CassandraSettings(port=config.port, keyspace=config.keyspace),
            )
        )
        with pytest.raises(UnavailableError, match="cannot connect to Cassandra: 127"):
            store.put(recording("later"), blob(0, b"data"))
        wire.mend()
        wait_until_it_works(store)
        store.put(recording("later"), blob(0, b"data"))
        assert store.get(recording("later"), 0) == blob(0, b"data")
        store.close()
