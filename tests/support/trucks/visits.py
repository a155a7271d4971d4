"""A truck's visit to a site, as far as several tests need the same."""

import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from contracts.runtime.commands import FAILED, PROVISIONAL
from demo.appliance import Existing
from device.commands.simulate import TripFiles, write_trip
from device.sensors.simulated import SimulatedTrip
from support.gateways.appliance import QuickAppliance
from support.trucks.rogue import Site
from support.trucks.truck import Truck

TRIES: Final = 10
GATEWAY: Final = Path(sys.executable).with_name("wayseal-gateway")


def another(
    site: Site, directory: Path, site_id: str, kind: type[QuickAppliance] = QuickAppliance
) -> Site:
    """Return a second site of the same network, not started; it has no node of its own."""
    existing = Existing("", site.appliance.directory / "keys" / "admin.key")
    made = Site(directory, kind(directory / site_id, existing=existing))
    made.appliance.variables["WAYSEAL_SITE_ID"] = site_id
    return made


def join(other: Site, site: Site) -> None:
    """Start the second site on the ledger of the first."""
    assert other.appliance.existing is not None
    other.appliance.existing = Existing(site.appliance.ledger, other.appliance.existing.admin_key)
    other.appliance.start()
    other.operator = other.client("operator", "operator")


def meet(truck: Truck, site: Site) -> None:
    """Let the truck offload at this site from now on; a receipt of another site still counts."""
    known = truck.environment.get("WAYSEAL_GATEWAY__PUBLIC_KEYS", "").split(",")
    keys = [*filter(None, known), site.appliance.gateway_key()]
    truck.environment |= {
        "WAYSEAL_GATEWAY__MQTT": site.appliance.mqtt,
        "WAYSEAL_GATEWAY__REST": site.appliance.rest,
        "WAYSEAL_GATEWAY__TOKEN": site.appliance.token(truck.device_id, "device"),
        "WAYSEAL_GATEWAY__PUBLIC_KEYS": ",".join(keys),
        "WAYSEAL_GATEWAY__GENESIS_BLOCK_ID": site.appliance.genesis_block_id(),
    }


def table(site: Site, site_id: str) -> str:
    """Return a truck's settings for a site."""
    made = site.appliance
    return (
        f'[[gateways]]\nsite_id = "{site_id}"\nmqtt = "{made.mqtt}"\nrest = "{made.rest}"\n'
        f'public_keys = ["{made.gateway_key()}"]\n'
        f'genesis_block_id = "{made.genesis_block_id()}"\n'
    )


def enrol(truck: Truck, *sites: Site) -> None:
    """Carry what the truck prints to each gateway."""
    code, printed, err = truck.run("enrol")
    assert code == 0, err
    path = truck.folder / "truck.jsonl"
    path.write_text(printed)
    for site in sites:
        done = subprocess.run(  # noqa: S603 - our own command
            [GATEWAY, "enrol", path, "--config", site.appliance.settings_file],
            capture_output=True,
            check=False,
            env=os.environ | site.appliance.variables,
            text=True,
        )
        assert done.returncode == 0, done.stderr


def loaded(directory: Path, *, more_bytes: int = 0) -> tuple[Truck, str]:
    """Return a truck with one sealed trip and a video, which noise makes longer, and the trip."""
    truck = Truck(directory / "truck")
    files = _simulated(directory / "trip")
    with files.video.open("ab") as video:
        video.write(random.Random(5).randbytes(more_bytes))
    made = truck.must("record", "--readings", files.readings, "--video", files.video)
    return truck, str(made["trip"])


def _simulated(folder: Path) -> TripFiles:
    """Write a trip's files into a folder; to film one takes seconds, so they are filmed once."""
    folder.mkdir(parents=True)
    for name, content in _filmed().items():
        (folder / name).write_bytes(content)
    return TripFiles(folder / "readings.csv", folder / "track.gpx", folder / "video.avi")


@cache
def _filmed() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        write_trip(SimulatedTrip(20, seed=5), Path(folder))
        return {each.name: each.read_bytes() for each in Path(folder).iterdir()}


def offload_provisionally(truck: Truck) -> None:
    """Offload with little patience until all of it arrived; fail when it ends in another way."""
    for _ in range(TRIES):
        code, _, err = truck.run("offload", "--wait-s", "3")
        if code != FAILED:
            break
        assert "nothing moved" in err, err
    assert code == PROVISIONAL, err


def copies_of(site: Site, trip_id: str) -> list[str]:
    (recording,) = site.ask(f"/v1/trips/{trip_id}/recordings")["items"]
    return sorted(recording["copies"])
