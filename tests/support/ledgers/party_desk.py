"""Parties and administrators who type `wayseal-party`, before a real ledger."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contracts import address
from contracts.ledger.client import LedgerClient
from contracts.party import wayseal_party as party
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import Delivery
from contracts.runtime.commands import FAILED, WORKED
from demo.appliance import Appliance
from support.gateways.appliance import founded
from support.network.world import Trip as Drive
from support.network.world import key, reading
from support.trucks.rogue import nonce

AT = ["--at", "2026-03-02T08:00:00Z"]
ROLES = {
    **{name: name for name in ("seller", "carrier", "buyer")},
    "haulier": "carrier",
    "customs": "authority",
}
LOT = "00012345678905:L42"
TERMS = [
    *("--order", "4711", "--lot", LOT, "--product", "milk", "--quantity", "100"),
    *("--seller", "seller", "--carrier", "carrier", "--buyer", "buyer"),
    *("--limit", "temperature:2:8:20"),
]


@dataclass
class Desk:
    """Parties with their keys before a real ledger."""

    appliance: Appliance
    ledger: LedgerClient
    capsys: pytest.CaptureFixture[str]

    def run(self, who: str, *words: str) -> tuple[int, str]:
        """Run the command with somebody's key; return its exit status and what it said."""
        path = self.appliance.directory / "keys" / f"{who}.key"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            key(who).save(path)
        arguments = ["--ledger", self.appliance.ledger, "--key", str(path), *words]
        with pytest.raises(SystemExit) as ended:
            party.main(arguments)
        said = self.capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out or said.err

    def must(self, who: str, *words: str) -> None:
        status, said = self.run(who, *words)
        assert status == WORKED, said
        assert json.loads(said)["committed"]

    def said(self, who: str, *words: str) -> dict[str, Any]:
        """Return the JSON that a command of administrators prints."""
        status, said = self.run(who, *words)
        assert status == WORKED, said
        told = json.loads(said)
        assert isinstance(told, dict)
        return told

    def refused(self, who: str, *words: str) -> str:
        """Return the rule for which the ledger refuses what somebody signs."""
        status, said = self.run(who, *words)
        assert status == FAILED, said
        assert said.count("\n") == 1
        return said.split(": ")[2]

    def register(self) -> None:
        for name, role in ROLES.items():
            words = ["--name", name.title(), "--public-key", key(name).public_key]
            self.must("admin", "register-party", name, *words, "--role", role)
        for name in ("seller", "buyer"):
            self.must(name, "register-site", f"site-{name}", "--party", name, "--name", "Dock")
        device = ["--party", "carrier", "--public-key", key("truck-1").public_key]
        self.must("carrier", "register-device", "truck-1", *device)

    def open(self, delivery_id: str, *more: str) -> None:
        for side in ("seller", "buyer"):
            self.must(side, "sign-delivery", delivery_id, *TERMS, *more)

    def drive(self, number: int, delivery_id: str) -> str:
        """Let the truck record one reading of a trip; return the trip's id."""
        drive = Drive(nonce=nonce(number), deliveries=[delivery_id])
        signed = [drive.sign(drive.start), drive.record(reading(0))]
        self.commit(*drive.batches(signed, 10))
        return drive.trip_id

    def commit(self, *batches: Batch) -> None:
        self.ledger.submit(batches)
        found = self.ledger.statuses([batch.header_signature for batch in batches], wait_s=30)
        assert {answer.status for answer in found.values()} == {"COMMITTED"}

    def hand_over(self, delivery_id: str, trip_id: str) -> None:
        for site, giver, taker in (("seller", "seller", "carrier"), ("buyer", "carrier", "buyer")):
            words = ["--trip", trip_id, "--site", f"site-{site}", "--giver", giver]
            for side in (giver, taker):
                self.must(side, "hand-over", delivery_id, *words, "--taker", taker, *AT)

    def delivery(self, delivery_id: str) -> Delivery:
        return Delivery.FromString(self.entry(address.delivery(delivery_id)))

    def entry(self, place: str) -> bytes:
        found = self.ledger.state(place)
        assert found is not None
        return found


@contextmanager
def party_desk(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    """Run a ledger of these parties."""
    with founded(folder) as (appliance, ledger):
        made = Desk(appliance, ledger, capsys)
        made.register()
        yield made
