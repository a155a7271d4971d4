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
from storage.scrub.pace import Pace
from storage.scrub.scrub import Scrub
from storage.scrub.upkeep import Upkeep
from support.blobsuite import blob, recording
from support.cassandras import config_of, cql, opened, wait_until_it_works
from support.stores import flip, open_store, put, volume_file

pytestmark = pytest.mark.integration

KEYSPACE: Final = "scrubbed"
DATA: Final = bytes(range(256)) * 4096 * 2 + b"end"
ROW: Final = " WHERE recording = %s AND bucket = 0 AND blob_index = %s"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "scrub.db")
    yield made
    made.close()


def go_round(store: RecordingStore, journal: Journal) -> list[tuple[Any, ...]]:
    """Let a scrub without haste or pause go round once; return what it found."""
    scrub = Scrub(
        Upkeep(store),
        journal,
        Pace(1 << 40, lambda _: None),
        every_days=0,
        stopping=lambda: False,
    )
    number = scrub.begin().number
    assert scrub.step()
    return journal.query(
        "SELECT blob, copy, kind, outcome FROM findings WHERE round = ? ORDER BY finding", number
    )


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
        assert go_round(store, journal) == [
            (0, replica, "rotten", Outcome.MENDED),
            (1, replica, "missing", Outcome.MENDED),
            (2, "volume:volume", "rotten", Outcome.MENDED),
            orphan,
        ]
        assert go_round(store, journal) == [orphan]
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
        assert go_round(store, journal) == []
        flip(volume_file(tmp_path, one), BLOB_BYTES)
        cassandra.kill()
        try:
            replica = f"blobs:cassandra {cassandra.addresses[0]}"
            assert go_round(store, journal) == [
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
        assert go_round(store, journal) == [(1, "volume:volume", "rotten", Outcome.MENDED)]
        assert journal.rounds(1)[0].not_read == 0
