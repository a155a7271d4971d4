"""Nodes that the driver gave up for good, on a real node: the store connects to them again.

The driver has races after which a node is down, or up without a connection, and nobody connects
again; a test puts it into such a state.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from cassandra.cluster import Cluster as Driver
from cassandra.cluster import Session
from cassandra.pool import Host

from storage.bench.servers.cassandra.cluster import Cluster
from storage.blobs.cassandra import pools
from storage.blobs.cassandra.session import Peer
from storage.blobs.cassandra.store import CassandraBlobs
from support.storage.blobsuite import blob, recording
from support.storage.cassandras import HEALED_S, config_of, opened, wait_until_it_works, works
from support.trucks.rogue import until

pytestmark = pytest.mark.integration
KEYSPACE = "pools"
ONE = recording("given up")


@pytest.fixture
def store(cassandra: Cluster) -> Iterator[CassandraBlobs]:
    with opened(config_of(cassandra, KEYSPACE)) as made:
        wait_until_it_works(made)
        made.put(ONE, blob(0, b"here"))
        yield made


def sees_its_replica(store: CassandraBlobs) -> bool:
    return [each.blob for each in store.replicas(ONE, 0)] == [blob(0, b"here")]


@contextmanager
def untended(peer: Peer) -> Iterator[None]:
    """Keep the store from looking for lost nodes: no request mends what it should find broken."""
    tending = peer._pools  # noqa: SLF001
    tending._look_s = math.inf  # noqa: SLF001
    yield
    tending._look_s = tending._list_s = 0.0  # noqa: SLF001


def without_pool(session: Session, host: Host) -> None:
    removed = session.remove_pool(host)
    if removed is not None:
        removed.result()


def down(driver: Driver, session: Session) -> None:
    """A pool that failed while the driver believed that it was reconnecting."""
    (host,) = driver.metadata.all_hosts()
    without_pool(session, host)
    host.get_and_set_reconnection_handler(None)
    host.set_down()


def up_without_pool(driver: Driver, session: Session) -> None:
    (host,) = driver.metadata.all_hosts()
    without_pool(session, host)


def stale(driver: Driver, session: Session) -> None:
    """Removed and added again: the token map still has the old object, which stays down."""
    (old,) = driver.metadata.all_hosts()
    driver.remove_host(old)
    host, new = driver.add_host(old.endpoint, old.datacenter, old.rack, signal=False)
    assert new
    assert host is not old
    host.host_id = old.host_id
    without_pool(session, host)
    host.set_down()


def refused_once(driver: Driver, session: Session) -> None:
    """A node that could not read the roles refused us: the driver never tries it again."""
    (host,) = driver.metadata.all_hosts()
    down(driver, session)
    driver._start_reconnector(host, is_host_addition=False)  # noqa: SLF001
    host._reconnection_handler.cancel()  # noqa: SLF001 - as good as one that ended


@pytest.mark.parametrize("give_up", [down, up_without_pool, stale, refused_once])
def test_a_node_that_the_driver_gave_up_is_found_again(
    store: CassandraBlobs,
    monkeypatch: pytest.MonkeyPatch,
    give_up: Callable[[Driver, Session], None],
) -> None:
    for name in ("RECONNECT_S", "CONNECT_TIMEOUT_S", "LIST_AGAIN_S", "STUCK_S"):
        monkeypatch.setattr(pools, name, 0.5)
    peer = store._connected()  # noqa: SLF001 - no request brings the driver into these states
    with untended(peer):
        assert sees_its_replica(store)
        give_up(peer._cluster, peer._session)  # noqa: SLF001
        assert not works(store)
    until("its replica", lambda: sees_its_replica(store), HEALED_S)
    until("an answer to any request", lambda: works(store), HEALED_S)
