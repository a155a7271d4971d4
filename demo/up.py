"""`make up`: a gateway to try things on, running until `make down`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from contracts.errors import WaysealError
from demo.appliance import Appliance, Ports
from demo.processes import is_ours

DIRECTORY: Final = Path("build/up")
STATE: Final = Path("build/up.json")
PIDS: Final = DIRECTORY / "pids.json"


def main() -> None:
    """Start node and gateway, and return once both serve."""
    options = _parse()
    if PIDS.exists() and any(map(is_ours, json.loads(PIDS.read_text()))):
        sys.exit(f"up: already up, see {STATE}; `make down` stops it")
    appliance = Appliance(DIRECTORY.resolve(), Ports(options.rest, options.mqtt, options.ledger))
    try:
        appliance.start()
    except WaysealError as error:
        appliance.stop()
        sys.exit(f"up: {error}")
    state = {
        "rest": appliance.rest,
        "mqtt": appliance.mqtt,
        "ledger": appliance.ledger,
        "operator_token": appliance.token("operator", "operator"),
        "auditor_token": appliance.token("auditor", "auditor"),
        "trust": str(appliance.trust_file()),
    }
    services = [service for service in (appliance.gateway, appliance.node) if service]
    PIDS.write_text(json.dumps([service.pid for service in services]))
    text = json.dumps(state, indent=2)
    STATE.write_text(text + "\n")
    print(text)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make up", description=__doc__)
    for name in ("rest", "mqtt", "ledger"):
        parser.add_argument(f"--{name}", type=int, default=0, help="port; 0 lets the system choose")
    return parser.parse_args()


if __name__ == "__main__":
    main()
