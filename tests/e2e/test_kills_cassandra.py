"""kill -9 of the gateway and of its three Cassandra nodes, in turns, while trucks offload.

WAYSEAL_KILLS sets how often something is killed (default 2), WAYSEAL_SEED which and when.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from demo.appliance import Appliance
from demo.auditor import Auditor
from storage.bench.servers.cassandra.cluster import Cluster
from storage.bench.servers.cassandra.config import NodePlace
from support.storage.cassandras import config_of, make_cassandra, opened, wait_until_it_works
from support.trucks.chaos import KILLS, SEED, Chaos, kill_gateway
from support.trucks.rogue import until

pytestmark = [pytest.mark.e2e, pytest.mark.long]
KEYSPACE: Final = "killed"
REPLICATION: Final = {NodePlace().datacentre: 3}
COPIES: Final = ["blobs:cassandra:QUORUM", "volume:volume:fsync"]
CAUGHT_UP_S: Final = 240


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    places = [NodePlace(f"127.0.0.{number}") for number in (1, 2, 3)]
    with make_cassandra(tmp_path_factory.mktemp("nodes"), *places) as cluster:
        yield cluster


def require_both_copies(appliance: Appliance, nodes: Cluster) -> None:
    """Have the gateway give receipts only for what the volume and two of three nodes keep."""
    appliance.variables |= {
        "WAYSEAL_STORAGE__BLOB_STORE": "cassandra",
        "WAYSEAL_CASSANDRA__CONTACT_POINTS": json.dumps(nodes.addresses),
        "WAYSEAL_CASSANDRA__REPLICATION": json.dumps(REPLICATION),
        "WAYSEAL_CASSANDRA__PORT": str(nodes.ports.native),
        "WAYSEAL_CASSANDRA__KEYSPACE": KEYSPACE,
        "WAYSEAL_CASSANDRA__TIMEOUT_S": "10",
        "WAYSEAL_RECEIPTS__REQUIRES": '["volume:fsync", "blobs:QUORUM"]',
    }
    assert appliance.gateway is not None
    appliance.gateway.stop()
    appliance.start_gateway()


def copies(appliance: Appliance, chaos: Chaos) -> list[list[str]]:
    """Return the kinds of sets of copies that recordings have."""
    auditor = Auditor(appliance.rest, appliance.token("operator", "operator"))
    try:
        found = {
            tuple(sorted(recording["copies"]))
            for trip in chaos.trips
            for recording in auditor.pages(f"/v1/trips/{trip}/recordings")
        }
    finally:
        auditor.close()
    return [list(each) for each in sorted(found)]


@pytest.mark.timeout(14400)
def test_nothing_is_lost_or_doubled(
    appliance: Appliance, nodes: Cluster, trip_files: Path, tmp_path: Path
) -> None:
    with opened(config_of(nodes, KEYSPACE, replication=REPLICATION)) as store:
        wait_until_it_works(store)
    require_both_copies(appliance, nodes)
    which = random.Random(SEED)  # no secrets here

    def kill_one() -> None:
        if which.random() < 1 / 2:
            kill_gateway(appliance)
            return
        index = which.randrange(len(nodes.nodes))
        nodes.nodes[index].kill()
        nodes.start(index)

    chaos = Chaos(appliance, trip_files, tmp_path, kill_one)
    chaos.kill_during_offloads(KILLS)
    until("both copies of each", lambda: copies(appliance, chaos) == [COPIES], CAUGHT_UP_S)
    chaos.check_all_is_there_once()
