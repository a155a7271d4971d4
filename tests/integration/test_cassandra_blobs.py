"""The suite of the BlobStore port against a real Cassandra, and against files and it at once."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from cassandra.cluster import Session

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.bench.servers.cassandra.cluster import Cluster
from storage.bench.servers.cassandra.node import Node
from storage.blobs.both import MirroredBlobs
from storage.blobs.cassandra import deletions
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.schema import BUCKET_BLOBS
from storage.blobs.cassandra.store import CassandraBlobs, clock_us
from storage.blobs.files import FileBlobs
from storage.blobs.port import OpenDeletions, Returned
from support.storage.blobsuite import SUITE, Case, blob, recording
from support.storage.cassandras import config_of, cql, opened, wait_until_it_works
from support.trucks.rogue import until

pytestmark = pytest.mark.integration
KEYSPACE = "blobs"
RETURNS = "returns"
YEAR_US = 365 * 86_400 * 1_000_000


@pytest.fixture(scope="module")
def config(cassandra: Cluster) -> CassandraConfig:
    return config_of(cassandra, KEYSPACE)


@pytest.fixture(scope="module")
def store(config: CassandraConfig) -> Iterator[CassandraBlobs]:
    with opened(config) as made:
        wait_until_it_works(made)  # a server says that it serves a moment before it does
        yield made


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case.__name__)
def test_cassandra_keeps_the_port(case: Case, store: CassandraBlobs) -> None:
    case(store, case.__name__)


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case.__name__)
def test_files_and_cassandra_keep_the_port(
    case: Case, config: CassandraConfig, tmp_path: Path
) -> None:
    both = MirroredBlobs(FileBlobs(tmp_path), CassandraBlobs(config))
    try:
        case(both, f"{case.__name__} in both")
    finally:
        both.close()


def test_a_recording_of_many_buckets_is_listed_and_deleted_whole(store: CassandraBlobs) -> None:
    one = recording("many buckets")
    indexes = [0, BUCKET_BLOBS - 1, BUCKET_BLOBS, 3 * BUCKET_BLOBS, 65_535]
    store.put_many(one, [blob(index, b"%d" % index) for index in reversed(indexes)])
    assert sorted(store.leaves(one)) == indexes
    store.delete(one)
    assert dict(store.leaves(one)) == {}
    assert [store.get(one, index) for index in indexes] == [None] * len(indexes)


def test_more_threads_than_places_wait_their_turn(config: CassandraConfig) -> None:
    """The stock driver fails requests that a full socket would make wait."""
    one, groups = recording("back-pressure"), [range(8 * each, 8 * each + 8) for each in range(8)]
    with opened(replace(config, in_flight=3)) as store, ThreadPoolExecutor(8) as pool:
        data = bytes(BLOB_BYTES)
        store.check()  # connects: meanwhile nobody else would wait
        list(pool.map(lambda group: store.put_many(one, [blob(i, data) for i in group]), groups))
        assert sorted(store.leaves(one)) == list(range(64))
        read = list(pool.map(lambda index: store.get(one, index), range(64)))
        assert read == [blob(index, data) for index in range(64)]
        store.delete(one)


def test_what_a_clock_that_was_ahead_wrote_is_replaced_and_deleted(
    config: CassandraConfig, store: CassandraBlobs
) -> None:
    one = recording("ahead, then not")
    with opened(config, clock=lambda: clock_us() + YEAR_US) as ahead:
        ahead.put(one, blob(0, b"old"))
        ahead.put_manifest(one, b"old")
    store.put(one, blob(0, b"new"))
    store.put_manifest(one, b"new")
    assert (store.get(one, 0), store.manifest(one)) == (blob(0, b"new"), b"new")
    store.delete(one)
    assert (store.get(one, 0), store.manifest(one)) == (None, None)
    assert one not in set(store.recordings())


def test_what_a_clock_that_was_ahead_deleted_can_be_put_again(
    config: CassandraConfig, store: CassandraBlobs
) -> None:
    one = recording("deleted ahead")
    store.put(one, blob(0, b"data"))
    with opened(config, clock=lambda: clock_us() + YEAR_US) as ahead:
        ahead.delete(one)
    assert store.get(one, 0) is None
    store.put(one, blob(0, b"again"))
    store.put_manifest(one, b"whole")
    assert (store.get(one, 0), store.manifest(one)) == (blob(0, b"again"), b"whole")
    assert set(store.leaves(one)) == {0}
    assert one in set(store.recordings())


def test_a_run_of_puts_marks_a_bucket_once(config: CassandraConfig, store: CassandraBlobs) -> None:
    """Two reads and a synced write each, otherwise; what was put once gets a later timestamp."""
    one, two = recording("a run"), blob(0, b"what the repair puts")
    with cql(config) as session:
        put_us = session.prepare(f"SELECT put_us FROM {KEYSPACE}.bucket WHERE recording = ?")  # noqa: S608

        def mark() -> int:
            ((us,),) = session.execute(put_us, [one])
            return int(us)

        store.put_many(one, [blob(0, b"zzz"), blob(1, b"one")])
        first = mark()
        store.put_many(one, [blob(2, b"two"), blob(3, b"three")])
        assert mark() == first
        store.put_many(one, [blob(3, b"aaa")])
        assert mark() > first
        store.put(one, two)
    assert [store.get(one, 0), store.get(one, 3)] == [two, blob(3, b"aaa")]


@pytest.mark.parametrize("ahead_us", [0, YEAR_US])
def test_a_delete_elsewhere_within_a_run_of_puts_is_seen_when_read_back(
    config: CassandraConfig, store: CassandraBlobs, ahead_us: int
) -> None:
    one = recording(f"deleted within a run, {ahead_us}")
    store.put_many(one, [blob(0, b"zero")])
    with opened(config, clock=lambda: clock_us() + ahead_us) as elsewhere:
        elsewhere.delete(one)
    store.put_many(one, [blob(1, b"one")])
    assert dict(store.leaves(one)) == {}
    store.put_many(one, [blob(0, b"zero"), blob(1, b"one")])
    assert sorted(store.leaves(one)) == [0, 1]
    assert store.get(one, 1) == blob(1, b"one")


def test_a_delete_that_was_cut_short_is_found_and_finished(
    config: CassandraConfig, store: CassandraBlobs
) -> None:
    """Whatever is left of it is listed as long as there may be blobs."""
    one = recording("cut short")
    store.put(one, blob(0, b"data"))
    store.put_manifest(one, b"whole")
    with cql(config) as session:
        session.execute("UPDATE blobs.recording SET manifest = null WHERE recording = %s", [one])
        assert (store.manifest(one), one in set(store.recordings())) == (None, True)
    store.delete(one)
    assert one not in set(store.recordings())


def test_room_comes_back_after_a_deletion(
    cassandra: Cluster, config: CassandraConfig, store: CassandraBlobs
) -> None:
    """By nodetool garbagecollect, as docs/storage.md says; compaction alone may take months."""
    node, one = cassandra.nodes[0], recording("room")
    store.put_many(one, [blob(index, os.urandom(BLOB_BYTES)) for index in range(16)])
    node.nodetool("flush", config.keyspace)
    full = used_bytes(node)
    store.delete(one)
    node.nodetool("garbagecollect", config.keyspace, "blob")
    until("room", lambda: used_bytes(node) < full - 15 * BLOB_BYTES)
    assert dict(store.leaves(one)) == {}


def used_bytes(node: Node) -> int:
    """Return the bytes in the files of the blobs' table, which may go while we look."""
    sizes = []
    for path in (node.data / "data" / KEYSPACE).glob("blob-*/*-Data.db"):
        with suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return sum(sizes)


def came_back(session: Session, one: bytes, at_us: int) -> None:
    """Give the node the files of an older backup: blob 128 and its mark, but no tombstones."""
    for table in ("bucket", "blob"):
        session.execute(f"TRUNCATE {RETURNS}.{table}")
    session.execute(
        f"INSERT INTO {RETURNS}.bucket (recording, bucket, put_us)"  # noqa: S608 - words of ours
        " VALUES (%s, 2, %s) USING TIMESTAMP %s",
        (one, at_us, at_us),
    )
    session.execute(
        f"INSERT INTO {RETURNS}.blob (recording, bucket, blob_index, leaf_hash, data)"  # noqa: S608
        " VALUES (%s, 2, 128, %s, %s) USING TIMESTAMP %s",
        (one, blob(128, b"data").leaf_hash, b"data", at_us),
    )


@contextmanager
def a_copy_away(session: Session) -> Iterator[None]:
    """Want two copies, of which one node has only one: no deletion is confirmed by all."""
    change = (
        f"ALTER KEYSPACE {RETURNS} WITH replication ="
        " {{'class': 'NetworkTopologyStrategy', 'dc1': {}}}"
    )
    session.execute(change.format(2))
    try:
        yield
    finally:
        session.execute(change.format(1))


def blobs_on_disk(session: Session, one: bytes) -> list[int]:
    rows = session.execute(
        f"SELECT blob_index FROM {RETURNS}.blob WHERE recording = %s AND bucket IN (0, 1, 2)",  # noqa: S608
        (one,),
    )
    return [index for (index,) in rows]


def found(store: CassandraBlobs, one: bytes) -> list[tuple[str, bool]]:
    """Ask until the node was fast enough to be believed."""
    rows: list[Returned] = []

    def asked() -> bool:
        rows[:] = store.returned(lambda: False)
        return all(each.recording_id for each in rows)

    until("an answer", asked)
    mine = [each for each in rows if each.recording_id == one]
    return [(each.detail.partition(";")[0], each.repaired) for each in mine]


def test_what_came_back_and_is_not_mended_is_an_open_deletion(
    cassandra: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time: the note that was closed before does not hide the next one."""
    monkeypatch.setattr(deletions, "SETTLING_US", 0)
    one = recording("came back")
    config = config_of(cassandra, RETURNS, write_consistency="ONE", read_consistency="ONE")
    remains = "deleted, but has 1 buckets of its blobs"
    with opened(config) as store, cql(config) as session:
        store.put(one, blob(128, b"data"))
        with opened(config, clock=lambda: clock_us() + YEAR_US) as ahead:
            ahead.delete(one)
        for _ in range(2):
            assert store.repeat_deletions(lambda: False) == OpenDeletions()
            came_back(session, one, clock_us())
            with a_copy_away(session):
                assert found(store, one) == [(remains, False)]
                left = store.repeat_deletions(lambda: False)
            assert (left.count, "2 replicas needed, 1 alive" in left.reason) == (1, True)
        assert store.repeat_deletions(lambda: False) == OpenDeletions()
        assert (found(store, one), blobs_on_disk(session, one)) == ([], [])
        store.delete(one)
        with a_copy_away(session):
            assert store.repeat_deletions(lambda: False).count == 1
        assert store.repeat_deletions(lambda: False) == OpenDeletions()


def test_what_came_back_of_an_older_versions_deletion_goes_whole(
    cassandra: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a deletion does not tell its buckets; only the marks that came back do."""
    monkeypatch.setattr(deletions, "SETTLING_US", 0)
    one, config = recording("older version"), config_of(cassandra, RETURNS)
    with opened(config) as store, cql(config) as session:
        store.put_many(one, [blob(0, b"zero"), blob(128, b"far")])
        at_us = clock_us() + 1
        session.execute(
            f"UPDATE {RETURNS}.recording USING TIMESTAMP %s"  # noqa: S608 - words of ours
            " SET deleted_us = %s WHERE recording = %s",
            (at_us, at_us, one),
        )
        remains = "deleted, but has 2 buckets of its blobs"
        assert found(store, one) == [(remains, True)]
        assert (found(store, one), blobs_on_disk(session, one)) == ([], [])
        assert store.repeat_deletions(lambda: False) == OpenDeletions()


def test_a_row_without_the_form_of_a_blob_is_refused(
    config: CassandraConfig, store: CassandraBlobs
) -> None:
    one = recording("no form")
    store.put(one, blob(0, b"data"))
    for column, value in [("leaf_hash", b"short"), ("data", b""), ("data", None)]:
        with cql(config) as session:
            session.execute(
                f"UPDATE blobs.blob SET {column} = %s"  # noqa: S608 - words of ours
                " WHERE recording = %s AND bucket = 0 AND blob_index = 0",
                [value, one],
            )
        with pytest.raises(RejectedError, match=r"got \d|missing"):
            store.get(one, 0)
        (replica,) = store.replicas(one, 0)
        assert (replica.blob, type(replica.error)) == (None, RejectedError)
        store.put(one, blob(0, b"data"))
        assert store.get(one, 0) == blob(0, b"data")


def test_servers_that_die_and_return_are_used_again(
    cassandra: Cluster, store: CassandraBlobs
) -> None:
    """Killed all at once, they have what they acknowledged."""
    one = recording("killed")
    kept = [blob(index, bytes([index]) * 100_000) for index in range(16)]
    store.put_many(one, kept)
    cassandra.kill()
    with pytest.raises(UnavailableError, match="Cassandra cannot put blobs of recording"):
        store.put(one, blob(16, b"lost"))
    with pytest.raises(UnavailableError, match="Cassandra cannot get blob 0"):
        store.get(one, 0)
    cassandra.start()
    wait_until_it_works(store)
    assert [store.get(one, each.index) for each in kept] == kept


def test_a_store_that_is_closed_says_so(config: CassandraConfig) -> None:
    with opened(config) as store:
        store.check()
    store.close()
    with pytest.raises(UnavailableError, match="closed"):
        store.get(recording("closed"), 0)
