"""Three sites, each with a Cassandra node: one dies, hangs, is cut off, rots; all die; one more.

The gateway of these tests stands at site 1. Every test leaves all nodes up.
"""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.cassandra.store import CassandraBlobs
from storage.blobs.port import Blob
from storage.localcassandra.cluster import Cluster
from storage.localcassandra.node import Node
from storage.recordings.store import RecordingStore
from storage.scrub.journal import Journal, Outcome
from support.blobsuite import blob, recording
from support.cassandras import HEALED_S, config_of, cql, opened, wait_until_it_works, works
from support.chain import blobs_of
from support.rogue import until
from support.scrubs import go_round
from support.sites import Network, at_site, network, three_sites
from support.stores import flip, open_store, put, volume_file

pytestmark = pytest.mark.integration
KEYSPACE = "sites"
SOME = 24
"""Groups of blobs that are written before something happens, and again after it."""


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    with network() as made:
        yield made


@pytest.fixture(scope="module")
def sites(net: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with three_sites(tmp_path_factory.mktemp("sites"), net) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def everyone(sites: Cluster) -> Iterator[CassandraBlobs]:
    """Return a store that works while all replicas do."""
    # Named, lest the keyspace have no copy at a site that is not heard of yet when it is made.
    copies = {f"site{n}": 1 for n in range(1, 4)}
    config = config_of(
        sites, KEYSPACE, replication=copies, datacentre="site1", write_consistency="ALL"
    )
    with opened(config) as made:
        wait_until_it_works(made)
        yield made


@pytest.fixture
def store(sites: Cluster, everyone: CassandraBlobs) -> Iterator[CassandraBlobs]:
    wait_until_all_are_up(everyone)
    with opened(config_of(sites, KEYSPACE, datacentre="site1")) as made:
        made.check()
        yield made


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


class Writer:
    """Puts blobs, group after group, and remembers those that were acknowledged."""

    def __init__(self, store: CassandraBlobs, seed: str) -> None:
        self.recording_id = recording(seed)
        self.kept: list[Blob] = []
        self.failed: list[WaysealError] = []
        self._store = store
        self._end = threading.Event()
        self._data = os.urandom(BLOB_BYTES // 4)
        self._thread = threading.Thread(target=self._run)

    @contextmanager
    def writing(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._end.set()
            self._thread.join()

    def wait_for_more(self, blobs: int = SOME) -> None:
        goal = len(self.kept) + blobs
        until("more blobs", lambda: len(self.kept) >= goal or bool(self.failed), HEALED_S)

    def _run(self) -> None:
        while not self._end.is_set():
            first = len(self.kept)
            group = [blob(first + n, b"%d" % (first + n) + self._data) for n in range(4)]
            try:
                self._store.put_many(self.recording_id, group)
            except WaysealError as error:
                self.failed.append(error)
                return
            self.kept += group


def check_kept(store: CassandraBlobs, writer: Writer) -> None:
    """Check that everything acknowledged is there and right."""
    assert [store.get(writer.recording_id, each.index) for each in writer.kept] == writer.kept
    leaves = store.leaves(writer.recording_id)
    assert {each.index: each.leaf_hash for each in writer.kept}.items() <= leaves.items()


def test_every_site_has_a_copy(sites: Cluster, store: CassandraBlobs) -> None:
    one = recording("every site")
    store.put(one, blob(0, b"data"))
    until(
        "three copies",
        lambda: [each.blob for each in store.replicas(one, 0)] == [blob(0, b"data")] * 3,
    )
    names = {replica.name for replica in store.replicas(one, 0)}
    assert names == {f"cassandra {address}" for address in sites.addresses}


def test_a_level_that_one_site_cannot_meet_is_refused(
    sites: Cluster, store: CassandraBlobs
) -> None:
    store.check()
    with cql(config_of(sites, KEYSPACE)) as session:
        session.execute(
            "CREATE KEYSPACE elsewhere WITH replication ="
            " {'class': 'NetworkTopologyStrategy', 'site2': 1}"
        )
    config = config_of(sites, "elsewhere", datacentre="site1", read_consistency="LOCAL_ONE")
    with opened(config) as other, pytest.raises(RejectedError, match="'site1' has no copy"):
        other.check()


def test_the_nearest_node_dies_during_writes(sites: Cluster, store: CassandraBlobs) -> None:
    """Nothing acknowledged is lost, and nobody who writes or reads notices."""
    writer = Writer(store, "one dies")
    with writer.writing():
        writer.wait_for_more()
        sites.nodes[0].kill()
        writer.wait_for_more()
    try:
        assert writer.failed == []
        check_kept(store, writer)
    finally:
        sites.start(0)


@pytest.mark.parametrize("index", [0, 1], ids=["nearest", "other"])
def test_a_node_hangs_during_writes(sites: Cluster, store: CassandraBlobs, index: int) -> None:
    writer = Writer(store, f"node {index} hangs")
    with writer.writing():
        writer.wait_for_more()
        sites.nodes[index].signal(signal.SIGSTOP)
        try:
            writer.wait_for_more()
            check = list(writer.kept)
            assert [store.get(writer.recording_id, each.index) for each in check] == check
        finally:
            sites.nodes[index].signal(signal.SIGCONT)
    assert writer.failed == []


def test_a_site_that_is_cut_off(net: Network, sites: Cluster, store: CassandraBlobs) -> None:
    """It cannot write, and says so; what its own node has can be read; then all is well again."""
    if not net.cables:
        pytest.skip("network namespaces cannot be made here: that takes root and iproute2")
    store.put(recording("before the cut"), blob(0, b"before the cut"))
    config = config_of(
        sites,
        KEYSPACE,
        contact_points=(sites.addresses[2],),
        datacentre="site3",
        timeout_s=5.0,
    )
    until(
        "three copies",
        lambda: all(each.blob for each in store.replicas(recording("before the cut"), 0)),
    )
    with net.cut(2):
        steps = [("put", "cut off"), ("get", "before the cut"), ("replicas", "before the cut")]
        put, get, replicas = at_site(sites.nodes[2].place, config, steps)
        assert put.startswith("UnavailableError: Cassandra cannot put blobs")
        assert get.startswith("UnavailableError: Cassandra cannot get blob 0")
        assert replicas == "1 of 3"
        store.put(recording("meanwhile"), blob(0, b"meanwhile"))
        assert store.get(recording("meanwhile"), 0) == blob(0, b"meanwhile")
    until(
        "the site writes again",
        lambda: at_site(sites.nodes[2].place, config, [("put", "healed")]) == ["put"],
        HEALED_S,
    )
    assert at_site(sites.nodes[2].place, config, [("get", "meanwhile")]) == ["right"]


def test_a_rotten_replica_is_named_and_mended(
    sites: Cluster, store: CassandraBlobs, everyone: CassandraBlobs, tmp_path: Path
) -> None:
    data = os.urandom(3 * BLOB_BYTES)
    kept = [blob(index, part) for index, part in enumerate(blobs_of(data))]
    with open_store(tmp_path, everyone) as recordings:
        one = put(recordings, data)
    replica = make_rotten(sites, store, everyone, one, kept)
    with open_store(tmp_path, store) as recordings:  # which mends at QUORUM
        flip(volume_file(tmp_path, one), BLOB_BYTES)  # so that nothing mends but another replica
        journal = Journal(tmp_path / "scrub.db")
        assert scrubbed(recordings, journal) == [
            (one, 1, "volume:volume", "rotten", Outcome.MENDED),
            (one, 1, f"blobs:{replica}", "rotten", Outcome.MENDED),
        ]
        assert scrubbed(recordings, journal) == []
        assert journal.rounds(1)[0].bytes_read == (1 + len(sites.nodes)) * len(data)
        journal.close()
    assert all(each.blob == kept[1] for each in store.replicas(one, 1))
    assert store.leaves(one) == {each.index: each.leaf_hash for each in kept}


def scrubbed(recordings: RecordingStore, journal: Journal) -> list[tuple[Any, ...]]:
    """Go round; return the findings, but for what other tests left in the cluster."""
    return [row for row in go_round(recordings, journal) if row[3] != "orphan"]


def make_rotten(
    sites: Cluster,
    store: CassandraBlobs,
    everyone: CassandraBlobs,
    one: bytes,
    kept: Sequence[Blob],
) -> str:
    """Flip a bit of blob 1 on the disk of one node; return the replica's name."""
    rotten = sites.nodes[1]
    rotten.stop()  # which flushes
    rot(rotten, kept[1].data[BLOB_BYTES // 2 :])
    sites.start(1)
    wait_until_all_are_up(everyone)
    until(
        "it answers the other driver too",
        lambda: not any(isinstance(e.error, UnavailableError) for e in store.replicas(one, 1)),
        HEALED_S,
    )
    for _ in range(2):  # reading neither harms nor mends, nor carries it elsewhere
        bad = [each for each in store.replicas(one, 1) if each.blob != kept[1]]
        assert [each.name for each in bad] == [f"cassandra {rotten.place.address}"]
        assert isinstance(bad[0].error, RejectedError)
        assert [store.get(one, each.index) for each in kept] == kept
    return bad[0].name


def rot(node: Node, needle: bytes) -> None:
    """Flip one bit of a blob in a table's file on a node's disk."""
    for path in node.data.glob(f"data/{KEYSPACE}/blob-*/*-Data.db"):
        content = bytearray(path.read_bytes())
        where = content.find(needle[:64])
        if where >= 0:
            content[where] ^= 1
            path.write_bytes(content)
            return
    pytest.fail(f"no table of {node.directory} has that blob")


def test_all_die_at_once_during_writes(sites: Cluster, store: CassandraBlobs) -> None:
    """With the commit log synced for each write, nothing acknowledged is lost."""
    writer = Writer(store, "all die")
    with writer.writing():
        writer.wait_for_more()
        sites.kill()
        until("an error", lambda: bool(writer.failed), HEALED_S)
    sites.start()
    assert all(isinstance(each, UnavailableError) for each in writer.failed)
    until("a store that works", lambda: works(store), HEALED_S)
    check_kept(store, writer)


def refusal(sites: Cluster, replication: dict[str, int]) -> str:
    older = tuple(sites.addresses[:3])
    config = replace(config_of(sites, KEYSPACE, replication=replication), contact_points=older)
    with (
        ExitStack() as closing,
        pytest.raises((RejectedError, UnavailableError)) as refused,
    ):
        closing.enter_context(opened(config)).check()
    return str(refused.value)


def test_the_network_grows_by_a_site(net: Network, sites: Cluster, store: CassandraBlobs) -> None:
    one, kept = recording("grows"), [blob(n, os.urandom(1000)) for n in range(8)]
    store.put_many(one, kept)
    added = sites.add(net.places[3])
    copies = {f"site{n}": 1 for n in range(1, 5)}
    with ExitStack() as closing:
        until(  # its neighbours have heard of it a moment after it serves
            "growth by two copies is refused",
            lambda: "grows by one copy at a time" in refusal(sites, {**copies, "site4": 2}),
            HEALED_S,
        )
        config = config_of(sites, KEYSPACE, datacentre="site4", replication=copies)
        theirs = closing.enter_context(opened(config))
        wait_until_it_works(theirs)  # it knows the keyspace a moment after it serves
        assert [theirs.get(one, each.index) for each in kept] == kept
        added.nodetool("rebuild", "--keyspace", KEYSPACE, "--", "site1")
        until(
            "four copies",
            lambda: [each.blob for each in theirs.replicas(one, 3)] == [kept[3]] * 4,
            HEALED_S,
        )
