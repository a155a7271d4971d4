"""`make trip`: a simulated trip into the gateway of `make up`, to ask for and to export."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final

from contracts import address
from contracts.errors import UnavailableError
from contracts.runtime.files import locked
from demo.appliance import Appliance, Ports
from demo.auditor import Auditor
from demo.ending import failing_in_one_line
from demo.truck import Truck
from demo.up import BUSY, DIRECTORY, STATE, directory_of

TRUCK_ID: Final = "truck-7"
FIRST_DELIVERY: Final = 12
FIRST_ORDER: Final = 4711
FIRST_START: Final = datetime(2026, 3, 2, 6, tzinfo=UTC)
"""The first trip is order 4711, `order-12` and simulated from seed 1; the next ones count on."""


def main() -> None:
    """Register the demo's network, record and offload one more trip, and print what to ask for."""
    directory = DIRECTORY.absolute()
    with failing_in_one_line("trip"):
        if not STATE.exists():
            raise UnavailableError("nothing is up: `make up` comes first")
        with locked(directory / "lock", BUSY):
            state = json.loads(STATE.read_text("utf-8"))
            if directory_of(state) != directory:
                raise UnavailableError(
                    "what `make demo` left is up: `make down` and `make up` first"
                )
            told = _drive(directory, state)
    print(json.dumps(told, indent=2))


def _drive(directory: Path, state: dict[str, str]) -> dict[str, str]:
    appliance = Appliance(directory, _ports(state))
    appliance.register_parties()
    number = next(each for each in count() if not appliance.has(address.delivery(_delivery(each))))
    delivery_id = _delivery(number)
    appliance.offer(delivery_id, str(FIRST_ORDER + number))
    truck = Truck(directory / TRUCK_ID, TRUCK_ID, delivery_id=delivery_id)
    truck.join(appliance)
    start = (FIRST_START + timedelta(days=number)).isoformat()
    trip_id: str = truck.ask(
        *("record", "--simulate", "--seed", str(number + 1), "--start", start, "--again")
    )["trip"]
    truck.ask("offload")
    appliance.hand_over(trip_id, delivery_id)
    with closing(Auditor(appliance.rest, state["auditor_token"])) as auditor:
        auditor.wait_for(appliance.newest_block_num())
    return {"trip": trip_id, "delivery": delivery_id, "lot": "00012345678905/L42"}


def _delivery(number: int) -> str:
    return f"order-{FIRST_DELIVERY + number}"


def _ports(state: dict[str, str]) -> Ports:
    return Ports(*(int(state[name].rpartition(":")[2]) for name in ("rest", "mqtt", "ledger")))


if __name__ == "__main__":
    main()
