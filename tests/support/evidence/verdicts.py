"""What `wayseal-verify` says of a trip, from the evidence that a site gives."""

import json
from pathlib import Path
from typing import Any

from support.gateways.yard import command
from support.trucks.rogue import Site


def verdict(site: Site, trip_id: str, folder: Path) -> tuple[dict[str, Any], str]:
    """Return what `wayseal-verify` tells of a trip, for programs and for people."""
    answer = site.operator.get("/v1/evidence", params={"trip": trip_id})
    assert answer.is_success, answer.text
    file = folder / "trip.evidence"
    file.write_bytes(answer.content)
    trust = site.appliance.trust_file()
    told = command("wayseal-verify", file, "--trust", trust, "--json")
    assert told.returncode == 0, told.stdout + told.stderr
    words = command("wayseal-verify", file, "--trust", trust).stdout
    return json.loads(told.stdout)["trips"][0], words
