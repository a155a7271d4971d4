"""A drive of a site and a Cassandra node at each, as `ansible/` installs them.

About eight minutes. The drive is a file on a loop device; test_ansible_nvmeof.py has one over
NVMe-oF.
"""

import json
import socket
import ssl
import subprocess
from collections.abc import Iterator
from typing import Any, Final

import pytest

from device.commands.simulate import write_trip
from device.sensors.simulated import SimulatedTrip
from support.field.ansible import CACHE, Network, wheels_of
from support.field.archives import VERSION, cassandra
from support.field.installed import LOG, PARTIES, TRUCK, Installed, site
from support.field.machines import command, fleet, missing
from support.field.prepared import prepared
from support.trucks.rogue import until

pytestmark = [pytest.mark.field, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]

SITES: Final = ("dock-a", "dock-b")
NUMBER: Final = 78
DISK: Final = "ata-Wayseal_Test_1"
DISK_BYTES: Final = 512 << 20
PORTS: Final = (7000, 9042)


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield a loop device with nothing on it."""
    image = tmp_path_factory.mktemp("drive") / "drive.img"
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    device = command("losetup", "--find", "--show", image).strip()
    yield device
    command("losetup", "--detach", device)


@pytest.fixture(scope="module")
def bare(loop: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Yield two sites and a truck that have nothing yet."""
    folder = tmp_path_factory.mktemp("ansible")
    with fleet(folder, CACHE, NUMBER, {SITES[0]: loop}) as (made, stack):
        image = prepared(tmp_path_factory.mktemp("prepared"))
        for name in (*SITES, TRUCK):
            made.start(name, stack, image)
        # udev makes this name on a machine of its own.
        made.machines[SITES[0]].run(
            "sh", "-ec", f"mkdir -p /dev/disk/by-id && ln -s {loop} /dev/disk/by-id/{DISK}"
        )
        wheels_of(folder / "wheels", "gateway", "node", "device-camera")
        yield Installed(Network(folder, made), stack)


def describe(bare: Installed, *, formats: bool) -> None:
    """Write the inventory; `formats` allows a file system on the empty drive."""
    archive, digest = cassandra(bare.network.folder)
    drive: dict[str, Any] = {"path": "/srv/video", "disk": DISK, "format": formats}
    bare.network.write(
        {
            "ledger": {SITES[0]: {}},
            "cassandra": {name: {} for name in SITES},
            "gateways": {
                SITES[0]: site(SITES[0]) | {"volume_drives": {"main": drive}},
                SITES[1]: site(SITES[1]),
            },
            "trucks": {
                TRUCK: {
                    "device_role": "device-camera",
                    "device_party": "haulier",
                    "device_trip": {"origin_site": SITES[0], "destination_site": SITES[1]},
                }
            },
        },
        wayseal_parties=PARTIES,
        cassandra_archive=archive.as_uri(),
        cassandra_sha256=digest,
        cassandra_version=VERSION,
        cassandra_heap="512M",
        release_wheels=str(bare.network.folder / "wheels"),
    )


@pytest.fixture(scope="module")
def stored(bare: Installed, loop: str) -> Installed:
    """Return the sites as `site.yml` makes them, after it has refused to format without leave."""
    describe(bare, formats=False)
    said = bare.network.fails("site.yml", "--limit", SITES[0], "--tags", "common,volume")
    assert f"expected xfs on /dev/disk/by-id/{DISK} of main, or nothing and format: true" in said
    assert subprocess.run(["blkid", "--probe", loop], check=False).returncode == 2  # noqa: S603, S607 - a tool of the system
    describe(bare, formats=True)
    bare.network.play("site.yml")
    return bare


def test_a_second_run_changes_nothing(stored: Installed) -> None:
    again = stored.network.play("site.yml")
    assert set(again.changed.values()) == {0}, again.said
    # test_ansible.py has the check mode of the other roles.
    found = stored.network.play("site.yml", "--check", "--diff", "--tags", "cassandra,volume")
    assert set(found.changed.values()) == {0}, found.said


def test_the_drive_is_mounted_for_the_gateway(stored: Installed, loop: str) -> None:
    machine = stored.machine(SITES[0])
    found = machine.run("findmnt", "-n", "-o", "SOURCE,FSTYPE", "--mountpoint", "/srv/video")
    assert found.split() == [loop, "xfs"]
    assert machine.run("systemctl", "is-enabled", "srv-video.mount").strip() == "enabled"
    assert machine.run("stat", "-c", "%U %a", "/srv/video").split() == ["wayseal-gateway", "750"]


def test_a_drive_with_something_else_is_left_alone(stored: Installed) -> None:
    machine = stored.machine(SITES[0])
    before = machine.run("blkid", "--probe", "--output", "export", f"/dev/disk/by-id/{DISK}")
    words = ("--limit", SITES[0], "--tags", "volume", "-e", "volume_filesystem=ext4")
    said = stored.network.fails("site.yml", *words)
    assert f"expected ext4 on /dev/disk/by-id/{DISK} of main" in said
    assert "got TYPE=xfs; nothing was written" in said
    after = machine.run("blkid", "--probe", "--output", "export", f"/dev/disk/by-id/{DISK}")
    assert after == before


def test_each_site_is_a_data_centre(stored: Installed) -> None:
    told = stored.machine(SITES[0]).run("nodetool", "status")
    centres = [line.split()[1] for line in told.splitlines() if line.startswith("Datacenter:")]
    assert sorted(centres) == sorted(SITES)
    assert sum(line.startswith("UN ") for line in told.splitlines()) == len(SITES)


@pytest.mark.parametrize("port", PORTS)
def test_cassandra_asks_for_a_certificate(stored: Installed, port: int) -> None:
    address = stored.machine(SITES[1]).address
    context = stored.trusting()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection((address, port), timeout=30) as plain,
        pytest.raises(ssl.SSLError, match="alert"),
        # In TLS 1.2 the refusal comes within the handshake.
        context.wrap_socket(plain, server_hostname=address) as secured,
    ):
        secured.recv(1)
    own = stored.network.secrets / "pki" / "servers" / address
    context.load_cert_chain(f"{own}.crt", f"{own}.key")
    with (
        socket.create_connection((address, port), timeout=30) as plain,
        context.wrap_socket(plain, server_hostname=address) as secured,
    ):
        assert secured.getpeercert()


def test_a_video_goes_to_the_drive_and_to_cassandra(stored: Installed) -> None:
    video = write_trip(SimulatedTrip(20, seed=3), stored.network.folder / "trip").video
    command(*stored.network.fleet.podman, "cp", video, f"{TRUCK}:/root/trip{video.suffix}")
    trip = stored.trip(SITES[0], "--video", f"/root/trip{video.suffix}")
    (recording,) = json.loads(stored.ask(SITES[0], f"trips/{trip}/recordings"))["items"]
    assert {each.rpartition(":")[0] for each in recording["copies"]} >= {
        "volume:main",
        "blobs:cassandra",
    }
    machine = stored.machine(SITES[0])
    files = machine.run("find", "/srv/video", "-type", "f", "-size", f"+{len(LOG)}c").split()
    assert files, "expected the recording on the drive"
    # The other site has no copy on a drive: it reads Cassandra, over TLS.
    until("the other site knows it", lambda: stored.knows(SITES[1], trip))
    content = stored.ask(SITES[1], f"recordings/{recording['recording_id']}/content")
    assert content == video.read_bytes()


def test_snapshots_are_taken(stored: Installed) -> None:
    machine = stored.machine(SITES[0])
    assert machine.run("systemctl", "is-active", "cassandra-snapshot.timer").strip() == "active"
    machine.run("systemctl", "start", "cassandra-snapshot.service")
    told = machine.run("nodetool", "listsnapshots")
    assert any(line.startswith("daily-") and " wayseal " in line for line in told.splitlines())
