"""The scrub over a real Cassandra: each replica is asked by itself, and mended."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.chunktree import BLOB_BYTES
from storage.localcassandra.cluster import Cluster
from storage.recordings.examining import NO_BLOB
from storage.recordings.store import RecordingStore
from storage.scrub.journal import Journal, Outcome
from support.blobsuite import blob, recording
from support.cassandras import config_of, cql, make_cassandra, opened, wait_until_it_works
from support.rogue import until
from support.scrubs import go_round
from support.stores import flip, open_store, put, volume_file

pytestmark = pytest.mark.integration

KEYSPACE: Final = "scrubbed"
DATA: Final = bytes(range(256)) * 4096 * 2 + b"end"
AT_ONE: Final = {"write_consistency": "ONE", "read_consistency": "ONE"}
ROW: Final = " WHERE recording = %s AND bucket = 0 AND blob_index = %s"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "scrub.db")
    yield made
    made.close()


def found(store: RecordingStore, journal: Journal) -> list[tuple[Any, ...]]:
    """Go round; return blob, copy, kind and outcome of each finding."""
    return [row[1:] for row in go_round(store, journal)]


def test_a_rotten_replica_is_named_and_mended(
    cassandra: Cluster, tmp_path: Path, journal: Journal
) -> None:
    config = config_of(cassandra, KEYSPACE)
    with opened(config) as blobs, open_store(tmp_path, blobs) as store:
        blobs.check()
        one = put(store, DATA)
        with cql(config) as session:
            rotten = bytes(BLOB_BYTES)
            session.execute(f"UPDATE {KEYSPACE}.blob SET data = %s{ROW}", [rotten, one, 0])  # noqa: S608
            session.execute(f"DELETE FROM {KEYSPACE}.blob{ROW}", [one, 1])  # noqa: S608
        flip(volume_file(tmp_path, one), 2 * BLOB_BYTES)
        blobs.put(recording("of nobody"), blob(0, b"data"))
        replica = f"blobs:cassandra {cassandra.addresses[0]}"
        orphan = (NO_BLOB, "blobs:cassandra", "orphan", Outcome.NAMED)
        assert found(store, journal) == [
            (0, replica, "rotten", Outcome.MENDED),
            (1, replica, "missing", Outcome.MENDED),
            (2, "volume:volume", "rotten", Outcome.MENDED),
            orphan,
        ]
        assert found(store, journal) == [orphan]
        assert journal.rounds(1)[0].bytes_read == 2 * len(DATA)
        assert store.verify(one).holds


def test_a_cluster_that_is_down_holds_up_no_round(
    cassandra: Cluster, tmp_path: Path, journal: Journal
) -> None:
    """What it did not give is counted; the next round reads it, and finds what rotted meanwhile."""
    config = config_of(cassandra, f"{KEYSPACE}_down")
    with opened(config) as blobs, open_store(tmp_path, blobs) as store:
        blobs.check()
        one = put(store, DATA)
        assert found(store, journal) == []
        flip(volume_file(tmp_path, one), BLOB_BYTES)
        cassandra.kill()
        try:
            replica = f"blobs:cassandra {cassandra.addresses[0]}"
            assert found(store, journal) == [
                (0, replica, "unread", Outcome.NOT_MENDED),
                (1, "volume:volume", "rotten", Outcome.NOT_MENDED),
                (1, replica, "unread", Outcome.NOT_MENDED),
                (2, replica, "unread", Outcome.NOT_MENDED),
                (NO_BLOB, "blobs:cassandra", "not-looked-at", Outcome.NAMED),
            ]
            (ended,) = journal.rounds(1)
            assert (ended.blobs, ended.bytes_read, ended.not_read) == (3, len(DATA), 3)
        finally:
            cassandra.start()
        wait_until_it_works(blobs)
        assert found(store, journal) == [(1, "volume:volume", "rotten", Outcome.MENDED)]
        assert journal.rounds(1)[0].not_read == 0


def test_a_node_that_may_let_others_answer_is_not_judged(tmp_path: Path, journal: Journal) -> None:
    """Where a site has several copies, that would be another one's answer. The rest is mended."""
    with (
        make_cassandra(tmp_path / "cluster", yaml={"dynamic_snitch": True}) as cluster,
        opened(config_of(cluster, KEYSPACE, **AT_ONE)) as blobs,
        open_store(tmp_path, blobs) as store,
    ):
        blobs.check()
        one = put(store, DATA)
        assert found(store, journal) == []  # with one copy in the data centre nobody else can
        with cql(config_of(cluster, KEYSPACE)) as session:
            session.execute(
                f"ALTER KEYSPACE {KEYSPACE} WITH replication ="
                " {'class': 'NetworkTopologyStrategy', 'dc1': 2}"
            )
        until("news of that", lambda: any(each.error for each in blobs.replicas(one, 0)))
        flip(volume_file(tmp_path, one), BLOB_BYTES)
        replica = f"blobs:cassandra {cluster.addresses[0]}"
        assert found(store, journal) == [
            (0, replica, "unread", Outcome.NOT_MENDED),
            (1, "volume:volume", "rotten", Outcome.MENDED),
            (1, replica, "unread", Outcome.NOT_MENDED),
            (2, replica, "unread", Outcome.NOT_MENDED),
        ]
        said = journal.query("SELECT DISTINCT detail FROM findings WHERE kind = 'unread'")
        why = "may let others answer: set dynamic_snitch: false there"
        assert said == [(f"node {cluster.addresses[0]} {why}",)]
        assert journal.rounds(1)[0].not_read == 3
