"""What several files of tests need: a server that is dear to start, a device of their own."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.commands.simulate import TripFiles, write_trip
from device.sensors.simulated import SimulatedTrip
from storage.bench.servers.cassandra.cluster import Cluster
from support.gateways.truck_gateway import FakeGateway, amqtt_broker
from support.gateways.tus import UploadServer, running_uploads
from support.machine.loops import loop_device
from support.machine.pki import Pki
from support.network.world import Trip, reading
from support.storage.cassandras import make_cassandra
from support.trucks.gps import gpsd
from support.trucks.roaming import RoamingTruck
from support.trucks.rogue import Rogue, Site, running_site, until


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return one node of data centre dc1, without login or TLS."""
    with make_cassandra(tmp_path_factory.mktemp("cassandra")) as cluster:
        yield cluster


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """Return a loop device of 512 MiB, on drive.img."""
    with loop_device(tmp_path / "drive.img", 512 << 20) as made:
        yield made


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> TripFiles:
    """Return the files of a simulated trip of 20 minutes."""
    return write_trip(SimulatedTrip(20, seed=3), tmp_path_factory.mktemp("trip"))


@pytest.fixture(scope="module")
def broker_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of an embedded broker."""
    with amqtt_broker(tmp_path_factory.mktemp("broker")) as port:
        yield port


@pytest.fixture
def gateway(broker_port: int) -> Iterator[FakeGateway]:
    """Return a fake gateway at the broker of `broker_port`."""
    with FakeGateway(broker_port) as made:
        yield made


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a running site, with a gateway, a node and a broker."""
    with running_site(tmp_path_factory.mktemp("site")) as made:
        yield made


@pytest.fixture
def roaming(tmp_path: Path, site: Site) -> Iterator[RoamingTruck]:
    """Return a truck whose gpsd says where it is, and which offloads at that site."""
    with gpsd() as address:
        yield RoamingTruck(tmp_path, address, site)


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    """Return an authority with the certificates of a site."""
    return Pki(tmp_path_factory.mktemp("authority") / "pki")


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UploadServer]:
    """Return a running server of uploads."""
    with running_uploads(tmp_path_factory.mktemp("gateway")) as made:
        yield made


@pytest.fixture(scope="module")
def truck(site: Site) -> Iterator[Rogue]:
    """Return a connection of truck-1 to that site."""
    with site.device() as made:
        yield made


@pytest.fixture
def alive(site: Site, truck: Rogue) -> Iterator[None]:
    """After every test, whatever came in, an honest trip is still taken and receipted."""
    yield
    trip = Trip(nonce=secrets.token_bytes(16))
    batches = trip.whole([reading(number) for number in range(3)])
    assert not truck.send(*batches).refused
    until("the honest trip's receipt", lambda: site.offload(trip.trip_id).get("receipted", False))
