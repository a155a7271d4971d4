"""`make trip`: a simulated trip into the gateway of `make up`, to ask for and to export."""

import json
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import locked
from demo.appliance import DELIVERY_ID, Appliance, Ports
from demo.ending import failing_in_one_line
from demo.truck import Truck, simulate
from demo.up import BUSY, DIRECTORY, STATE

TRUCK_ID: Final = "truck-7"


def main() -> None:
    """Register the demo's network, record and offload a trip, and print what to ask for."""
    directory = DIRECTORY.absolute()
    with failing_in_one_line("trip"):
        if not STATE.exists():
            raise UnavailableError("nothing is up: `make up` comes first")
        with locked(directory / "lock", BUSY):
            told = _drive(directory)
    print(json.dumps(told, indent=2))


def _drive(directory: Path) -> dict[str, str]:
    truck = Truck(directory / TRUCK_ID, TRUCK_ID)
    if truck.directory.exists():
        raise RejectedError(
            f"expected a gateway without the demo's trip, {truck.directory} is there: "
            f"`make down` and `rm -r {DIRECTORY}` before `make up` begin again"
        )
    appliance = Appliance(directory, _ports(json.loads(STATE.read_text("utf-8"))))
    appliance.register_network()
    truck.join(appliance)
    drive = truck.directory / "drive"
    simulate(drive)
    files = (("readings", "readings.csv"), ("track", "track.gpx"), ("video", "video.avi"))
    words = [word for name, file in files for word in (f"--{name}", str(drive / file))]
    trip_id: str = truck.ask("record", *words, "--speed", "max")["trip"]
    truck.ask("offload")
    appliance.hand_over(trip_id)
    return {"trip": trip_id, "delivery": DELIVERY_ID, "lot": "00012345678905/L42"}


def _ports(state: dict[str, str]) -> Ports:
    return Ports(*(int(state[name].rpartition(":")[2]) for name in ("rest", "mqtt", "ledger")))


if __name__ == "__main__":
    main()
