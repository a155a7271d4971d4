"""`make sites`: three gateways, three Cassandra nodes, one ledger, and a truck between them.

The truck loads at A, is cut off at B when half of its videos are there, and brings the rest to C.
Then a gateway dies, a Cassandra node dies, and one site's cable is pulled. Each time all sites have
to give the same answers in the end. The nodes stand in network namespaces, one for each site.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from device.commands.simulate import write_trip
from device.sensors.simulated import SimulatedTrip
from gateway.access import Role
from storage.bench.servers.cassandra.cluster import Cluster
from support.gateways.appliance import QuickAppliance
from support.gateways.yard import command
from support.network.world import GTIN
from support.storage.cassandra_nodes import wait_until_all_are_up
from support.storage.cassandra_sites import Network, network, three_sites
from support.storage.cassandras import config_of, opened, wait_until_it_works
from support.trucks.rogue import Site, until
from support.trucks.truck import Truck
from support.trucks.visits import another, join

pytestmark = pytest.mark.field

NAMES: Final = ("site-a", "site-b", "site-c")
KEYSPACE: Final = "network"
VIDEOS: Final = 4
VIDEO_BYTES: Final = 6 << 20
SLOW_BYTES_PER_S: Final = 4 << 20
"""Of a truck at B, so that there is a half at which to cut it off."""
LONG_S: Final = 240
RECEIVED: Final = re.compile(r'^wayseal_stage_bytes_total\{stage="receive"\} (\S+)$', re.MULTILINE)


class Sites:
    """Three sites of one network, and what an auditor asks at each."""

    def __init__(self, folder: Path, made: Network, cluster: Cluster) -> None:
        self.network, self.cluster, self.folder = made, cluster, folder
        first = Site(folder, QuickAppliance(folder / NAMES[0]))
        self.all = [first, *(another(first, folder / name, name) for name in NAMES[1:])]
        copies = json.dumps({place.datacentre: 1 for place in made.places[:3]})
        for index, site in enumerate(self.all):
            site.appliance.variables |= {
                "WAYSEAL_SITE_ID": NAMES[index],
                "WAYSEAL_STORAGE__BLOB_STORE": "cassandra",
                "WAYSEAL_CASSANDRA__CONTACT_POINTS": json.dumps([cluster.addresses[index]]),
                "WAYSEAL_CASSANDRA__PORT": str(cluster.ports.native),
                "WAYSEAL_CASSANDRA__DATACENTRE": made.places[index].datacentre,
                "WAYSEAL_CASSANDRA__REPLICATION": copies,
                "WAYSEAL_CASSANDRA__KEYSPACE": KEYSPACE,
                "WAYSEAL_RECEIPTS__REQUIRES": '["blobs:QUORUM"]',
            }
        slow = {"WAYSEAL_LIMITS__DEVICE_BYTES_PER_S": str(SLOW_BYTES_PER_S)}
        self.all[1].appliance.variables |= slow

    def start(self) -> None:
        first, *others = self.all
        first.start()
        for site in others:
            join(site, first)

    def stop(self) -> None:
        for site in reversed(self.all):
            site.stop()

    def truck(self, name: str) -> Truck:
        tables = "".join(
            f'[[gateways]]\nsite_id = "{name}"\nmqtt = "{site.appliance.mqtt}"\n'
            f'rest = "{site.appliance.rest}"\npublic_keys = {json.dumps(self.keys())}\n'
            f'token = "{site.appliance.token("truck-1", Role.DEVICE)}"\n'
            f'receipt_requires = ["blobs:QUORUM"]\n'
            f'genesis_block_id = "{self.all[0].appliance.genesis_block_id()}"\n'
            for name, site in zip(NAMES, self.all, strict=True)
        )
        return Truck(self.folder / name, tables)

    def keys(self) -> list[str]:
        return [site.appliance.gateway_key() for site in self.all]

    def loaded(self, truck: Truck, start: str, seed: int) -> tuple[str, list[str]]:
        """Record a trip with videos; return it and its recordings, in the order of its offload."""
        files = write_trip(SimulatedTrip(20, seed=seed), truck.folder / f"trip-{seed}")
        options: list[str | Path] = []
        for number in range(VIDEOS):
            video = files.video.with_name(f"video-{number}.avi")
            noise = random.Random(seed * VIDEOS + number).randbytes(VIDEO_BYTES)
            video.write_bytes(files.video.read_bytes() + noise)
            options += ["--video", video]
        made = truck.must("record", "--readings", files.readings, "--start", start, *options)
        trips = truck.must("status")["trips"]
        (trip,) = (each for each in trips if each["trip"] == made["trip"])
        return made["trip"], [each["sha256"] for each in trip["recordings"]]

    def answers(self, site: Site, trip: str) -> dict[str, Any]:
        """Return what a site says of a trip and its lot, without what only it can know."""
        readings = site.ask(f"/v1/trips/{trip}/readings?limit=1000")["items"]
        recordings = site.ask(f"/v1/trips/{trip}/recordings")["items"]
        return {
            "trip": site.ask(f"/v1/trips/{trip}"),
            "readings": readings,
            "recordings": sorted((each["recording_id"], each["size"]) for each in recordings),
            "trace": site.ask(f"/v1/lots/{GTIN}/L42/trace"),
        }

    def has(self, site: Site, trip: str) -> bool:
        """Say whether a site knows all recordings of a trip."""
        answer = site.operator.get(f"/v1/trips/{trip}/recordings")
        return answer.is_success and len(answer.json()["items"]) == VIDEOS

    def alike(self, trip: str) -> None:
        """Check that all sites answer alike, and that each one's evidence holds."""
        first = self.all[0]
        for site in self.all:
            until("the trip", partial(self.has, site, trip))
        told = [self.answers(site, trip) for site in self.all]
        assert told[0] == told[1] == told[2]
        trust = first.appliance.trust_file()
        for name, site in zip(NAMES, self.all, strict=True):
            file = self.folder / f"{name}.evidence"
            query = {"trip": trip, "video": "true"}
            answer = site.operator.get("/v1/evidence", params=query, timeout=LONG_S)
            assert answer.is_success, answer.text
            file.write_bytes(answer.content)
            checked = command("wayseal-verify", file, "--trust", trust)
            assert checked.returncode == 0, checked.stdout + checked.stderr


def received(site: Site) -> int:
    """Return the bytes of recordings that a gateway has taken in since it started."""
    found = RECEIVED.search(site.operator.get("/metrics").text)
    assert found is not None
    return round(float(found[1]))


def whole(site: Site, recordings: Sequence[str]) -> list[str]:
    """Return those of the recordings that a site has whole."""
    answers = {each: site.operator.head(f"/v1/recordings/{each}/content") for each in recordings}
    return [each for each, answer in answers.items() if answer.is_success]


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    folder = tmp_path_factory.mktemp("sites")
    with ExitStack() as undo:
        made = undo.enter_context(network(len(NAMES)))
        cluster = undo.enter_context(three_sites(folder / "cassandra", made))
        sites = Sites(folder, made, cluster)
        undo.callback(sites.stop)
        sites.start()
        yield sites


def test_half_at_b_and_the_rest_at_c(sites: Sites) -> None:
    _, second, third = sites.all
    truck = sites.truck("half")
    trip, recordings = sites.loaded(truck, "2026-03-02T06:00:00Z", 1)
    with truck.start("offload", "--site", NAMES[1]) as process:
        until("half of it at B", lambda: len(whole(second, recordings)) >= VIDEOS // 2, LONG_S)
        process.kill()
    at_b = whole(second, recordings)
    assert VIDEOS // 2 <= len(at_b) < VIDEOS
    code, said, err = truck.run("offload", "--site", NAMES[2], "--json")
    assert code == 0, err
    assert json.loads(said)["receipted"] == [trip]
    sizes = {
        each["recording_id"]: each["size"]
        for each in third.ask(f"/v1/trips/{trip}/recordings")["items"]
    }
    rest = sum(size for name, size in sizes.items() if name not in at_b)
    assert received(third) == rest
    sites.alike(trip)


def test_a_gateway_dies_and_comes_back(sites: Sites) -> None:
    first, second, _ = sites.all
    assert second.appliance.gateway is not None
    truck = sites.truck("dead-gateway")
    trip, recordings = sites.loaded(truck, "2026-03-03T06:00:00Z", 2)
    with truck.start("offload", "--site", NAMES[1]) as process:
        until("a video at B", lambda: bool(whole(second, recordings)), LONG_S)
        second.appliance.gateway.kill()
        process.kill()
    assert truck.must("offload", "--site", NAMES[0])["receipted"] == [trip]
    second.appliance.start_gateway()
    sites.alike(trip)
    assert len(whole(first, recordings)) == VIDEOS


def test_a_cassandra_node_dies_and_comes_back(sites: Sites) -> None:
    sites.cluster.nodes[1].kill()
    truck = sites.truck("dead-node")
    trip, _ = sites.loaded(truck, "2026-03-04T06:00:00Z", 3)
    assert truck.must("offload", "--site", NAMES[0], "--wait-s", "120")["receipted"] == [trip]
    sites.cluster.start(1)
    all_are_up(sites)
    sites.alike(trip)


def test_a_site_is_cut_off_and_catches_up(sites: Sites) -> None:
    if not sites.network.cables:
        pytest.skip("no right to make network namespaces here")
    truck = sites.truck("cut")
    with sites.network.cut(2):
        trip, _ = sites.loaded(truck, "2026-03-05T06:00:00Z", 4)
        assert truck.must("offload", "--site", NAMES[0], "--wait-s", "120")["receipted"] == [trip]
    all_are_up(sites)
    sites.alike(trip)


def all_are_up(sites: Sites) -> None:
    """Wait until each node takes a write again."""
    config = config_of(
        sites.cluster,
        "probe",
        replication={place.datacentre: 1 for place in sites.network.places[:3]},
        datacentre=sites.network.places[0].datacentre,
        write_consistency="ALL",
    )
    with opened(config) as store:
        wait_until_it_works(store)
        wait_until_all_are_up(store)
