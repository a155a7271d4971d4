"""A truck's visit to a site, as far as several tests need the same."""

import random
from pathlib import Path
from typing import Final

from contracts.commands import FAILED, PROVISIONAL
from device.sensors.simulated import SimulatedDrive
from device.simulate import write_drive
from support.rogue import Site
from support.truck import Truck

TRIES: Final = 10


def meet(truck: Truck, site: Site) -> None:
    """Let the truck offload at this site from now on; a receipt of another site still counts."""
    known = truck.environment.get("WAYSEAL_GATEWAY__PUBLIC_KEYS", "").split(",")
    keys = [*filter(None, known), site.appliance.gateway_key()]
    truck.environment |= {
        "WAYSEAL_GATEWAY__MQTT": site.appliance.mqtt,
        "WAYSEAL_GATEWAY__REST": site.appliance.rest,
        "WAYSEAL_GATEWAY__TOKEN": site.appliance.token("truck-1", "device"),
        "WAYSEAL_GATEWAY__PUBLIC_KEYS": ",".join(keys),
    }


def loaded(directory: Path, *, more_bytes: int = 0) -> tuple[Truck, str]:
    """Return a truck with one sealed trip and a video, which noise makes longer, and the trip."""
    truck = Truck(directory / "truck")
    drive = write_drive(SimulatedDrive(20, seed=5), directory / "drive")
    with drive.video.open("ab") as video:
        video.write(random.Random(5).randbytes(more_bytes))
    made = truck.must("record", "--readings", drive.readings, "--video", drive.video)
    return truck, str(made["trip"])


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
