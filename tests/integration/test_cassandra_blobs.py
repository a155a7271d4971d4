"""The suite of the BlobStore port against a real Cassandra, and against files and it at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.both import MirroredBlobs
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.schema import BUCKET_BLOBS
from storage.blobs.cassandra.store import CassandraBlobs, clock_us
from storage.blobs.files import FileBlobs
from storage.localcassandra.cluster import Cluster
from support.blobsuite import SUITE, Case, blob, recording
from support.cassandras import config_of, cql, opened, wait_until_it_works

pytestmark = pytest.mark.integration
KEYSPACE = "blobs"
YEAR_US = 365 * 86_400 * 1_000_000


@pytest.fixture(scope="module")
def config(cassandra: Cluster) -> CassandraConfig:
    return config_of(cassandra, KEYSPACE)


@pytest.fixture(scope="module")
def store(config: CassandraConfig) -> Iterator[CassandraBlobs]:
    with opened(config) as made:
        made.check()
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
