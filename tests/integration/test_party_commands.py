"""`wayseal-party` against a node: what parties sign from the first registration to the end."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts import address
from contracts.commands import FAILED, WORKED
from contracts.ledger import LedgerClient
from contracts.party import main as party
from contracts.proto.payload_pb2 import DUE, RELEASED, WITHHELD, Role
from contracts.proto.state_pb2 import Delivery, Hold, Lot, Party, Trip
from demo.appliance import Appliance
from support.rogue import nonce
from support.world import Trip as Drive
from support.world import key, reading

pytestmark = pytest.mark.integration

AT = ["--at", "2026-03-02T08:00:00Z"]
ROLES = {"seller": "seller", "carrier": "carrier", "buyer": "buyer", "customs": "authority"}
TERMS = [
    *("--order", "4711", "--lot", "00012345678905:L42", "--product", "milk", "--quantity", "100"),
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
        self.ledger.submit(batches := drive.batches(signed, 10))
        found = self.ledger.statuses([batch.header_signature for batch in batches], wait_s=30)
        assert {answer.status for answer in found.values()} == {"COMMITTED"}
        return drive.trip_id

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


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    appliance = Appliance(tmp_path)
    path = tmp_path / "keys" / "admin.key"
    path.parent.mkdir()
    key("admin").save(path)
    appliance.start_node()
    try:
        with closing(LedgerClient(appliance.ledger)) as ledger:
            made = Desk(appliance, ledger, capsys)
            made.register()
            yield made
    finally:
        appliance.stop()


def test_a_party_has_roles_and_rotates_its_keys(desk: Desk) -> None:
    old, new = key("seller").public_key, key("seller-2").public_key
    desk.must("seller", "rotate-keys", "seller", "--add", new, "--revoke", old)
    entry = Party.FromString(desk.entry(address.party("seller")))
    assert (list(entry.public_keys), list(entry.roles)) == ([new], [Role.SELLER])
    site = ["register-site", "site-9", "--party", "seller", "--name", "Dock 9"]
    assert desk.refused("seller", *site) == "not-the-party"
    desk.must("seller-2", *site)
    assert desk.refused("seller-2", "rotate-keys", "seller", "--add", old) == "key-was-revoked"
    assert desk.refused("seller-2", "rotate-keys", "seller", "--revoke", new) == "last-key"


def test_a_delivery_is_accepted_and_closed_by_both(desk: Desk) -> None:
    desk.open("D1")
    trip_id = desk.drive(1, "D1")
    assert desk.refused("buyer", "accept", "D1") == "wrong-state"
    desk.hand_over("D1", trip_id)
    assert desk.delivery("D1").payment == DUE
    desk.must("buyer", "accept", "D1")
    assert desk.delivery("D1").payment == RELEASED
    end = ["close-delivery", "D1", "--payment", "released", *AT]
    desk.must("seller", *end)
    assert desk.refused("seller", *end) == "already-signed"
    desk.must("buyer", *end)
    entry = desk.delivery("D1")
    assert (entry.status, list(entry.closing_signed_by)) == (Delivery.CLOSED, ["seller", "buyer"])


def test_a_delivery_is_disputed_with_a_reason_and_settled(desk: Desk) -> None:
    desk.open("D1")
    desk.drive(1, "D1")
    assert desk.refused("carrier", "dispute", "D1", "--reason", "late") == "not-the-party"
    desk.must("buyer", "dispute", "D1", "--reason", "thawed on the way", *AT)
    entry = desk.delivery("D1")
    assert (entry.status, entry.payment) == (Delivery.DISPUTED, WITHHELD)
    assert (entry.dispute.reason, entry.disputed_by) == ("thawed on the way", "buyer")
    for side in ("buyer", "seller"):
        desk.must(side, "close-delivery", "D1", "--payment", "withheld", *AT)
    assert desk.delivery("D1").status == Delivery.CLOSED


def test_a_trip_is_closed_and_its_evidence_held(desk: Desk) -> None:
    desk.open("D1")
    trip_id = desk.drive(1, "D1")
    desk.must("buyer", "close-trip", trip_id, "--party", "buyer", *AT)
    trip = Trip.FromString(desk.entry(address.trip(trip_id)))
    assert trip.close.party_id == "buyer"
    assert desk.refused("seller", "close-trip", trip_id, "--party", "seller") == "trip-closed"
    named = ["--hold", "case-17", "--party", "customs"]
    desk.must("customs", "hold", trip_id, *named, "--reason", "inquiry 17")
    place = address.hold(trip_id, "case-17")
    assert not Hold.FromString(desk.entry(place)).HasField("released")
    other = ["--hold", "case-17", "--party", "buyer"]
    assert desk.refused("buyer", "release-hold", trip_id, *other) == "not-the-party"
    desk.must("customs", "release-hold", trip_id, *named)
    assert Hold.FromString(desk.entry(place)).HasField("released")


def test_lots_are_made_from_lots_told_either_way(desk: Desk, tmp_path: Path) -> None:
    where = ["--party", "seller", "--site", "site-seller"]
    milk, curd = "00012345678905/M/1=100:LTR", "00012345678905/C=9=40:KGM"
    desk.must("seller", "transform", "T1", *where, "--output", milk)
    desk.must("seller", "transform", "T2", *where, "--input", milk, "--output", curd)
    used = Lot.FromString(desk.entry(address.lot("00012345678905", "M/1")))
    assert (used.party_id, used.made, used.used, used.unit) == ("seller", 100, 100, "LTR")
    assert Lot.FromString(desk.entry(address.lot("00012345678905", "C=9"))).made == 40
    path = tmp_path / "lots.toml"
    path.write_text(
        '[[inputs]]\ngtin = "00012345678905"\nlot = "C=9"\nquantity = 10\nunit = "KGM"\n'
        '[[outputs]]\ngtin = "00012345678905"\nlot = "Y7"\nquantity = 80\nunit = "C62"\n'
    )
    desk.must("seller", "transform", "T3", *where, "--file", str(path))
    assert Lot.FromString(desk.entry(address.lot("00012345678905", "Y7"))).made == 80
    again = ["transform", "T3", *where, "--file", str(path)]
    assert desk.refused("seller", *again) == "transformation-exists"


def test_commercial_terms_are_signed_by_both_from_one_file(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "D1.json"
    words = ["--price", "1200 EUR", "--payment-terms", "30 days", "--commercial", str(path)]
    desk.must("seller", "sign-delivery", "D1", *TERMS, *words)
    desk.must("buyer", "sign-delivery", "D1", *TERMS, "--commercial", str(path))
    entry = desk.delivery("D1")
    assert entry.status == Delivery.OPEN
    assert "1200" not in str(entry)
    check = ["check-commercial", "D1", "--commercial", str(path)]
    status, said = desk.run("carrier", *check)
    assert status == WORKED
    assert json.loads(said) == {
        "matches": True,
        "delivery_id": "D1",
        "price": "1200 EUR",
        "payment_terms": "30 days",
        "signed_by": ["seller", "buyer"],
    }
    path.write_text(path.read_text("utf-8").replace("1200", "1300"))
    status, said = desk.run("carrier", *check)
    assert status == FAILED
    assert f"price: the ledger has {entry.terms.price_sha256.hex()}" in said
    path.write_text(path.read_text("utf-8").replace('"D1"', '"D2"'))
    status, said = desk.run("carrier", "check-commercial", "D2", "--commercial", str(path))
    assert status == FAILED
    assert "delivery 'D2' is not on the ledger" in said
