"""Three sites, each with a Cassandra node: one dies, hangs, is cut off, rots; all die; one more.

The gateway of these tests stands at site 1. Every test leaves all nodes up.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.bench.servers.cassandra.cluster import Cluster
from storage.blobs.cassandra import deletions
from storage.blobs.cassandra.store import CassandraBlobs
from storage.blobs.port import Blob, OpenDeletions
from storage.recordings.blobcopies import NO_BLOB
from storage.recordings.store import RecordingStore
from storage.scrub.report import FindingOutcome, ScrubReport
from storage.scrub.scrub import UNDELETED
from support.evidence.chain import blobs_of
from support.storage.blobsuite import blob, recording
from support.storage.cassandra_nodes import (
    each_node,
    not_put,
    own_rows,
    rot,
    wait_until_all_are_up,
)
from support.storage.cassandra_sites import Network, at_site, network, three_sites
from support.storage.cassandra_writer import Writer, check_kept
from support.storage.cassandras import HEALED_S, config_of, cql, opened, wait_until_it_works, works
from support.storage.scrubs import go_round
from support.storage.stores import flip, open_store, put, volume_file
from support.trucks.rogue import until

pytestmark = [pytest.mark.integration, pytest.mark.long]
KEYSPACE = "sites"
NOTHING = {"recording": 0, "bucket": 0, "blob": 0}
READS = ("manifest", "get", "replicas")


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


def test_every_site_has_a_copy(sites: Cluster, store: CassandraBlobs) -> None:
    one = recording("every site")
    store.put(one, blob(0, b"data"))
    until(
        "three copies",
        lambda: [each.blob for each in store.replicas(one, 0)] == [blob(0, b"data")] * 3,
    )
    names = {replica.name for replica in store.replicas(one, 0)}
    assert names == {f"cassandra {address}" for address in sites.addresses}


def test_a_node_that_its_neighbours_did_not_list_is_found(store: CassandraBlobs) -> None:
    """The driver drops such a contact point, and may miss the event that tells of the node."""
    one = recording("listed later")
    store.put(one, blob(0, b"data"))
    driver = store._connected()._cluster  # noqa: SLF001 - gossip is too quick to catch it at that
    here = driver.control_connection._connection.endpoint  # noqa: SLF001
    missing = next(host for host in driver.metadata.all_hosts() if host.endpoint != here)
    driver.metadata.remove_host(missing)  # which tells nobody
    assert missing not in driver.metadata.all_hosts()

    def found() -> bool:
        copies = [each.blob for each in store.replicas(one, 0)]
        return copies == [blob(0, b"data")] * 3 and missing in driver.metadata.all_hosts()

    until("three copies", found, HEALED_S)


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


@pytest.mark.parametrize("index", [pytest.param(0, id="nearest"), pytest.param(1, id="other")])
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


def test_what_was_deleted_while_a_site_was_away_stays_deleted(
    sites: Cluster,
    store: CassandraBlobs,
    everyone: CassandraBlobs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is away for longer than the hint window, and the others forget the tombstones.

    Days are seconds here. It comes before the test that makes a file rotten, since that file cannot
    be compacted. Of one deletion the note is lost that not all replicas confirmed it.
    """
    monkeypatch.setattr(deletions, "SETTLING_US", 0)
    noted, lost = recording("deleted, noted"), recording("deleted, lost")
    for one, seed in ((noted, b"deleted, noted"), (lost, b"deleted, lost")):
        everyone.put(one, blob(0, seed))
        everyone.put_manifest(one, b"whole")
    with cql(config_of(sites, KEYSPACE)) as session:
        for table in ("blob", "bucket", "recording"):
            session.execute(f"ALTER TABLE sites.{table} WITH gc_grace_seconds = 1")
    others = sites.nodes[:2]
    each_node(others, ("setmaxhintwindow", "1"))
    sites.nodes[2].kill()
    until("only two alive", lambda: "2 alive" in not_put(everyone), HEALED_S)
    for one in (noted, lost):
        store.delete(one)
    left = store.repeat_deletions(lambda: False)
    assert (left.count, "3 replicas needed, 2 alive" in left.reason) == (2, True)
    assert left.since_ms is not None
    each_node(others, ("truncatehints",), ("flush", KEYSPACE))
    sites.start(2)
    wait_until_all_are_up(everyone)
    each_node(others, ("compact", KEYSPACE), ("setmaxhintwindow", "10800000"))
    assert own_rows(sites, KEYSPACE, 2, lost) == {"recording": 1, "bucket": 1, "blob": 1}
    there = config_of(sites, KEYSPACE, contact_points=(sites.addresses[2],), datacentre="site3")
    served = [(what, f"deleted, {which}") for which in ("noted", "lost") for what in READS]
    assert at_site(sites.nodes[2].place, there, served) == ["missing", "missing", "0 of 3"] * 2
    assert (store.manifest(lost), store.get(lost, 0), dict(store.leaves(lost))) == (None, None, {})
    with cql(config_of(sites, KEYSPACE)) as session:
        session.execute("DELETE FROM sites.deletion WHERE recording = %s", (lost,))
    assert store.repeat_deletions(lambda: False) == OpenDeletions()
    assert own_rows(sites, KEYSPACE, 2, noted) == NOTHING
    assert own_rows(sites, KEYSPACE, 2, lost) == {"recording": 1, "bucket": 1, "blob": 1}
    with open_store(tmp_path, store) as recordings:
        report = ScrubReport(tmp_path / "scrub.db")
        replica = f"blobs:cassandra {sites.addresses[2]}"
        found = [row for row in scrubbed(recordings, report) if row[0] in (noted, lost)]
        assert found == [(lost, NO_BLOB, replica, UNDELETED, FindingOutcome.MENDED)]
        assert report.deletions_checked_ms() is not None
        assert not [row for row in scrubbed(recordings, report) if row[0] in (noted, lost)]
        report.close()
    assert own_rows(sites, KEYSPACE, 2, lost) == NOTHING
    assert not {noted, lost} & set(store.recordings())
    store.put(lost, blob(0, b"again"))
    assert store.get(lost, 0) == blob(0, b"again")


def test_a_dead_node_is_replaced_by_an_empty_one(
    sites: Cluster, store: CassandraBlobs, everyone: CassandraBlobs
) -> None:
    """By the steps of docs/storage.md: it fetches its copy before it serves.

    It comes before the test that makes a file rotten: nothing can be fetched from that file.
    """
    one = recording("replaced")
    everyone.put(one, blob(0, b"replaced"))
    everyone.put_manifest(one, b"whole")
    replaced = sites.replace(2)
    assert own_rows(sites, KEYSPACE, 2, one) == {"recording": 1, "bucket": 1, "blob": 1}
    wait_until_all_are_up(everyone)
    until(
        "three copies",
        lambda: [each.blob for each in store.replicas(one, 0)] == [blob(0, b"replaced")] * 3,
        HEALED_S,
    )
    replaced.stop()  # its second start is like any other
    sites.start(2)


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
        report = ScrubReport(tmp_path / "scrub.db")
        assert scrubbed(recordings, report) == [
            (one, 1, "volume:volume", "rotten", FindingOutcome.MENDED),
            (one, 1, f"blobs:{replica}", "rotten", FindingOutcome.MENDED),
        ]
        assert scrubbed(recordings, report) == []
        assert report.rounds(1)[0].bytes_read == (1 + len(sites.nodes)) * len(data)
        report.close()
    assert all(each.blob == kept[1] for each in store.replicas(one, 1))
    assert store.leaves(one) == {each.index: each.leaf_hash for each in kept}


def scrubbed(recordings: RecordingStore, report: ScrubReport) -> list[tuple[Any, ...]]:
    """Go round; return the findings, but for what other tests left in the cluster."""
    return [row for row in go_round(recordings, report) if row[3] != "orphan"]


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
    rot(rotten, KEYSPACE, bytes(kept[1].data)[BLOB_BYTES // 2 :])
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
