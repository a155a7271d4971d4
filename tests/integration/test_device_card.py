"""A card that gets full or read-only on the road: recording waits, and goes on where it was."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.gateways.appliance import QuickAppliance
from support.machine.mounts import ext4, let_fail, mount_again, tmpfs
from support.trucks.gps import gpsd
from support.trucks.roaming import READINGS, RoamingTruck
from support.trucks.rogue import Site, running_site, until
from support.trucks.truck import Truck, write_log

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with running_site(directory, QuickAppliance(directory / "site-b")) as made:
        yield made


def fill(card: Path) -> None:
    """Write until nothing more fits."""
    with (card / "big").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def is_paused(said: list[str], why: str) -> bool:
    return any("recording is paused" in line and why in line for line in said)


def test_a_trip_goes_on_once_a_full_card_has_room_again(tmp_path: Path, site: Site) -> None:
    with tmpfs(tmp_path / "card", "16m") as card, gpsd() as gps:
        roaming = RoamingTruck(card, gps, site)
        with roaming.running() as said:
            roaming.say("absent")
            until("readings are recorded", lambda: roaming.readings() >= READINGS)
            before = roaming.readings()
            fill(card)
            until("it is told", lambda: is_paused(said, "disk is full"))
            (card / "big").unlink()
            until("it goes on", lambda: roaming.readings() >= before + READINGS)
            roaming.ends_whole(site, said)


def test_a_card_that_fails_is_told_and_the_trip_goes_on_after_a_reboot(
    tmp_path: Path, site: Site
) -> None:
    with ext4(tmp_path / "card", 32 << 20) as card, gpsd() as gps:
        roaming = RoamingTruck(card, gps, site)
        with roaming.running() as said:
            roaming.say("absent")
            until("readings are recorded", lambda: roaming.readings() >= READINGS)
            before = roaming.readings()
            let_fail(card)
            until("it is told", lambda: is_paused(said, ""))
        mount_again(card)
        with roaming.running() as said:
            until("it goes on", lambda: roaming.readings() >= before + READINGS)
            roaming.ends_whole(site, said)


ON_A_READ_ONLY_ROOT = 'mount -o remount,bind,ro / && ! touch /x 2>/dev/null && exec "$@"'


def test_a_truck_needs_no_root_that_can_be_written(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "card", "64m") as card:
        truck, log = Truck(card / "truck"), write_log(card / "log.csv", 20)
        device = [sys.executable, "-m", "device.wayseal_device", "--config", str(truck.config)]
        alone = ["unshare", "--mount", "sh", "-c", ON_A_READ_ONLY_ROOT, "sh"]
        record = ["record", "--readings", str(log), "--speed", "max"]
        for words in (["init"], record, ["status"]):
            done = subprocess.run(  # noqa: S603 - our own command
                [*alone, *device, *words], capture_output=True, check=False, text=True
            )
            assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        assert "20 readings" in done.stdout
