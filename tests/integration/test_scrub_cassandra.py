"""The scrub over a real Cassandra: each replica is asked by itself, and mended."""

from pathlib import Path
from typing import Final

import pytest

from contracts.chunktree import BLOB_BYTES
from storage.localcassandra.cluster import Cluster
from storage.recordings.examining import NO_BLOB
from storage.scrub.journal import Journal, Outcome
from storage.scrub.pace import Pace
from storage.scrub.scrub import Scrub
from storage.scrub.upkeep import Upkeep
from support.blobsuite import blob, recording
from support.cassandras import config_of, cql, opened
from support.stores import flip, open_store, put, volume_file

pytestmark = pytest.mark.integration

KEYSPACE: Final = "scrubbed"
DATA: Final = bytes(range(256)) * 4096 * 2 + b"end"
ROW: Final = " WHERE recording = %s AND bucket = 0 AND blob_index = %s"


def test_a_rotten_replica_is_named_and_mended(cassandra: Cluster, tmp_path: Path) -> None:
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
        journal = Journal(tmp_path / "scrub.db")
        scrub = Scrub(
            Upkeep(store),
            journal,
            Pace(1 << 40, lambda _: None),
            every_days=0,
            stopping=lambda: False,
        )
        for _ in range(2):
            scrub.begin()
            assert scrub.step()
        replica = f"blobs:cassandra {cassandra.addresses[0]}"
        rows = journal.query(
            "SELECT round, blob, copy, kind, outcome FROM findings ORDER BY finding"
        )
        assert rows == [
            (1, 0, replica, "rotten", Outcome.MENDED),
            (1, 1, replica, "missing", Outcome.MENDED),
            (1, 2, "volume:volume", "rotten", Outcome.MENDED),
            (1, NO_BLOB, "blobs:cassandra", "orphan", Outcome.NAMED),
            (2, NO_BLOB, "blobs:cassandra", "orphan", Outcome.NAMED),
        ]
        assert journal.rounds(1)[0].bytes_read == 2 * len(DATA)
        assert store.verify(one).holds
        journal.close()
