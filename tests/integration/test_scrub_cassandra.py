"""The scrub over a real Cassandra: each replica is asked by itself, and mended."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.chunktree import BLOB_BYTES
from storage.bench.servers.cassandra.cluster import Cluster
from storage.recordings.blobcopies import NO_BLOB
from storage.recordings.store import RecordingStore
from storage.scrub.report import FindingOutcome, ScrubReport
from support.storage.blobsuite import blob, recording
from support.storage.cassandras import (
    by_wire,
    config_of,
    cql,
    make_cassandra,
    opened,
    wait_until_it_works,
)
from support.storage.scrubs import go_round
from support.storage.stores import flip, open_store, put, volume_file
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

KEYSPACE: Final = "scrubbed"
DATA: Final = bytes(range(256)) * 4096 * 2 + b"end"
AT_ONE: Final = {"write_consistency": "ONE", "read_consistency": "ONE"}
ROW: Final = " WHERE recording = %s AND bucket = 0 AND blob_index = %s"


@pytest.fixture
def report(tmp_path: Path) -> Iterator[ScrubReport]:
    made = ScrubReport(tmp_path / "scrub.db")
    yield made
    made.close()


def found(store: RecordingStore, report: ScrubReport) -> list[tuple[Any, ...]]:
    """Go round; return blob, copy, kind and outcome of each finding."""
    return [row[1:] for row in go_round(store, report)]


def test_a_rotten_replica_is_named_and_mended(
    cassandra: Cluster, tmp_path: Path, report: ScrubReport
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
        orphan = (NO_BLOB, "blobs:cassandra", "orphan", FindingOutcome.NAMED)
        assert found(store, report) == [
            (0, replica, "rotten", FindingOutcome.MENDED),
            (1, replica, "missing", FindingOutcome.MENDED),
            (2, "volume:volume", "rotten", FindingOutcome.MENDED),
            orphan,
        ]
        assert found(store, report) == [orphan]
        assert report.rounds(1)[0].bytes_read == 2 * len(DATA)
        assert store.verify(one).holds


def test_a_cluster_that_is_down_holds_up_no_round(
    cassandra: Cluster, tmp_path: Path, report: ScrubReport
) -> None:
    """What it did not give is counted; the next round reads it, and finds what rotted meanwhile."""
    with (
        by_wire(cassandra, f"{KEYSPACE}_down") as (config, wire),
        opened(config) as blobs,
        open_store(tmp_path, blobs) as store,
    ):
        blobs.check()
        one = put(store, DATA)
        assert found(store, report) == []
        flip(volume_file(tmp_path, one), BLOB_BYTES)
        wire.cut()
        replica = f"blobs:cassandra {cassandra.addresses[0]}"
        assert found(store, report) == [
            (0, replica, "unread", FindingOutcome.NOT_MENDED),
            (1, "volume:volume", "rotten", FindingOutcome.NOT_MENDED),
            (1, replica, "unread", FindingOutcome.NOT_MENDED),
            (2, replica, "unread", FindingOutcome.NOT_MENDED),
            (NO_BLOB, "blobs", "not-looked-at", FindingOutcome.NAMED),  # for deletions
            (NO_BLOB, "blobs:cassandra", "not-looked-at", FindingOutcome.NAMED),
        ]
        (ended,) = report.rounds(1)
        assert (ended.blobs, ended.bytes_read, ended.not_read) == (3, len(DATA), 3)
        wire.mend()
        wait_until_it_works(blobs)
        assert found(store, report) == [(1, "volume:volume", "rotten", FindingOutcome.MENDED)]
        assert report.rounds(1)[0].not_read == 0


@pytest.mark.long
def test_a_node_that_may_let_others_answer_is_not_judged(
    tmp_path: Path, report: ScrubReport
) -> None:
    """Where a site has several copies, that would be another one's answer. The rest is mended."""
    with (
        make_cassandra(tmp_path / "cluster", yaml={"dynamic_snitch": True}) as cluster,
        opened(config_of(cluster, KEYSPACE, **AT_ONE)) as blobs,
        open_store(tmp_path, blobs) as store,
    ):
        blobs.check()
        one = put(store, DATA)
        assert found(store, report) == []  # with one copy in the data centre nobody else can
        with cql(config_of(cluster, KEYSPACE)) as session:
            session.execute(
                f"ALTER KEYSPACE {KEYSPACE} WITH replication ="
                " {'class': 'NetworkTopologyStrategy', 'dc1': 2}"
            )
        until("news of that", lambda: any(each.error for each in blobs.replicas(one, 0)))
        flip(volume_file(tmp_path, one), BLOB_BYTES)
        replica = f"blobs:cassandra {cluster.addresses[0]}"
        assert found(store, report) == [
            (0, replica, "unread", FindingOutcome.NOT_MENDED),
            (1, "volume:volume", "rotten", FindingOutcome.MENDED),
            (1, replica, "unread", FindingOutcome.NOT_MENDED),
            (2, replica, "unread", FindingOutcome.NOT_MENDED),
        ]
        said = report.query("SELECT DISTINCT detail FROM findings WHERE kind = 'unread'")
        why = "may let others answer: set dynamic_snitch: false there"
        assert said == [(f"node {cluster.addresses[0]} {why}",)]
        assert report.rounds(1)[0].not_read == 3
