"""A gateway whose blobs rest in a real Cassandra, which dies while a truck is there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.localcassandra.cluster import Cluster
from support.rogue import Site
from support.visits import copies_of, loaded, meet, offload_provisionally

pytestmark = pytest.mark.integration
LEAVE_S = 240


@pytest.fixture
def site(cassandra: Cluster, tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    made.appliance.variables |= {
        "WAYSEAL_STORAGE__BLOB_STORE": "cassandra",
        "WAYSEAL_CASSANDRA__PORT": str(cassandra.ports.native),
        "WAYSEAL_CASSANDRA__KEYSPACE": "gateway",
        "WAYSEAL_CASSANDRA__TIMEOUT_S": "5",
        "WAYSEAL_RECEIPTS__REQUIRES": '["volume:fsync", "blobs:QUORUM"]',
    }
    try:
        yield made
    finally:
        made.stop()


def test_blobs_follow_a_cluster_that_died_and_came_back(
    cassandra: Cluster, site: Site, tmp_path: Path
) -> None:
    """Nothing is reported as kept there before it is."""
    site.start()
    truck, trip_id = loaded(tmp_path)
    meet(truck, site)
    cassandra.kill()
    try:
        offload_provisionally(truck)
        (lacks,) = site.offload(trip_id)["lacking"]
        assert lacks.endswith("has no copy blobs:QUORUM")
        assert copies_of(site, trip_id) == ["volume:volume:fsync"]
        (item,) = site.ask("/v1/backlog")
        assert item["lacks"] == ["blobs"]
    finally:
        cassandra.start()
    code, _, err = truck.run("offload", "--wait-s", str(LEAVE_S))
    assert code == 0, err
    assert copies_of(site, trip_id) == ["blobs:cassandra:QUORUM", "volume:volume:fsync"]
    assert site.ask("/v1/backlog") == []
