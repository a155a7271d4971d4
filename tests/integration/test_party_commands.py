"""`wayseal-party` against a node: all actions of parties, from registration to closed delivery."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.ledger.client import LedgerClient
from contracts.party import wayseal_party as party
from contracts.proto.payload_pb2 import DUE, RELEASED, WITHHELD, Role
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import Delivery, Hold, Lot, Party, Trip
from contracts.runtime.commands import FAILED, WORKED, WRONG_USAGE
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import APPROVAL_THRESHOLD, AUTHORIZED_KEYS, propose
from contracts.validators import SETTING, encode
from demo.appliance import Appliance
from support.gateways.appliance import founded
from support.network.world import Trip as Drive
from support.network.world import key, reading
from support.trucks.rogue import nonce

pytestmark = pytest.mark.integration

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


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    with founded(tmp_path) as (appliance, ledger):
        made = Desk(appliance, ledger, capsys)
        made.register()
        yield made


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


def test_the_network_s_longest_silence_is_written_into_the_terms(desk: Desk) -> None:
    desk.open("D1")
    desk.open("D2", "--limit", "humidity::80:60:120")
    usual = propose(key("admin"), "wayseal.longest_silence_s", "300")
    desk.commit(build_batch(key("admin"), [usual]))
    desk.open("D3")
    named = {name: desk.delivery(name).terms.limits for name in ("D1", "D2", "D3")}
    told = {name: [each.longest_silence_s for each in limits] for name, limits in named.items()}
    assert told == {"D1": [900], "D2": [900, 120], "D3": [300]}
    desk.commit(
        build_batch(key("admin"), [propose(key("admin"), "wayseal.longest_silence_s", "soon")])
    )
    status, said = desk.run("seller", "sign-delivery", "D4", *TERMS)
    assert status == WRONG_USAGE
    assert "expected seconds, 1..4294967295, got 'soon'" in said


def test_an_administrator_admits_and_dismisses_validators(desk: Desk) -> None:
    first, second = key("validator-1").public_key, key("validator-2").public_key
    status, said = desk.run("admin", "admit-validator", second)
    assert status == FAILED
    assert "no setting wayseal.validators: expected a network of validators" in said
    desk.commit(build_batch(key("admin"), [propose(key("admin"), SETTING, encode({first: 1}))]))

    def done(*words: str) -> dict[str, object]:
        status, said = desk.run("admin", *words)
        assert status == WORKED, said
        told = json.loads(said)
        assert told.pop("in_force")
        assert told.pop("waiting") == []
        told.pop("transaction_id", None)
        return dict(told)

    both = {first: 1, second: 3}
    assert done("admit-validator", second, "--power", "3") == {"changed": True, "validators": both}
    again = done("admit-validator", second, "--power", "3")
    assert again == {"changed": False, "validators": both}
    assert json.loads(desk.ledger.setting(SETTING)) == both
    left = {"changed": True, "validators": {second: 3}}
    assert done("dismiss-validator", first) == left
    for words, expected in (
        (("dismiss-validator", second), "expected an object of 1 to 100"),
        (("admit-validator", "02ab"), "expected a compressed public key"),
        (("admit-validator", first, "--power", "0"), "expected a power from 1"),
    ):
        status, said = desk.run("admin", *words)
        assert (status, expected in said) == (WRONG_USAGE, True), said
    status, said = desk.run("seller", "admit-validator", first)
    assert (status, "is not authorized to change settings" in said) == (FAILED, True), said
    assert json.loads(desk.ledger.setting(SETTING)) == {second: 3}


def test_a_change_of_validators_waits_for_the_other_administrators(desk: Desk) -> None:
    """It is proposed; nobody is admitted before they have signed it too."""
    first, second = key("validator-1").public_key, key("validator-2").public_key
    desk.commit(build_batch(key("admin"), [propose(key("admin"), SETTING, encode({first: 1}))]))
    desk.said("admin", "admit-administrator", key("admin-2").public_key)
    desk.said("admin", "change-setting", APPROVAL_THRESHOLD, "--value", "2")
    told = desk.said("admin", "admit-validator", second)
    assert (told["changed"], told["in_force"], told["validators"]) == (True, False, {first: 1})
    (waits,) = desk.said("admin", "proposals")["waiting"]
    assert told["waiting"] == [waits["proposal_id"]]
    assert (waits["setting"], waits["value"]) == (SETTING, encode({first: 1, second: 1}))
    assert waits["accepted_by"] == [key("admin").public_key]
    again = desk.said("admin", "admit-validator", second)
    assert (again["changed"], again["in_force"]) == (False, False)
    told = desk.said("admin-2", "admit-validator", second)
    assert (told["in_force"], told["validators"]) == (True, {first: 1, second: 1})
    assert desk.said("admin", "proposals") == {"waiting": []}


def test_an_administrator_s_key_is_replaced(desk: Desk) -> None:
    """Whoever is dismissed administers nothing more, settings included."""
    old, new = key("admin").public_key, key("admin-2").public_key
    told = desk.said("admin", "admit-administrator", new)
    assert told["administrators"] == told["change_settings"] == [old, new]
    assert not desk.said("admin", "admit-administrator", new)["changed"]
    told = desk.said("admin", "dismiss-administrator", old)
    assert told["administrators"] == told["change_settings"] == [new]
    party = ("register-party", "P", "--name", "P", "--public-key", key("p").public_key)
    assert desk.refused("admin", *party) == "not-admin"
    desk.must("admin-2", *party)
    status, said = desk.run("admin", "admit-administrator", old)
    assert (status, "is not authorized to change settings" in said) == (FAILED, True), said
    for words, expected in (
        (("dismiss-administrator", new), "expected 1 administrators or more to stay"),
        (("admit-administrator", "02ab"), "expected a compressed public key of secp256k1"),
    ):
        status, said = desk.run("admin-2", *words)
        assert (status, expected in said) == (WRONG_USAGE, True), said
    assert not desk.said("admin-2", "dismiss-administrator", old)["changed"]


def test_two_of_three_administrators_dismiss_a_stolen_key(desk: Desk) -> None:
    """Alone, the thief changes nothing: what it proposes is rejected."""
    keys = [key(name).public_key for name in ("admin", "admin-2", "admin-3")]
    for each in keys[1:]:
        desk.said("admin", "admit-administrator", each)
    desk.said("admin", "change-setting", APPROVAL_THRESHOLD, "--value", "2")
    for each in keys[:2]:
        told = desk.said("admin-3", "dismiss-administrator", each)
        assert (told["in_force"], told["administrators"]) == (False, keys)
    for name in ("admin", "admin-2"):
        told = desk.said(name, "dismiss-administrator", keys[2])
    assert (told["in_force"], told["administrators"]) == (True, keys[:2])
    assert told["change_settings"] == keys[:2]
    left = [each["proposal_id"] for each in desk.said("admin", "proposals")["waiting"]]
    assert len(left) == 4
    for each in left:
        # Its own vote for them still counts: one more, and they would be in force.
        assert desk.said("admin", "reject-proposal", each)["rejected"]
    assert desk.said("admin", "proposals") == {"waiting": []}
    status, said = desk.run("admin", "reject-proposal", left[0])
    assert (status, "expected a proposal that waits, one of none" in said) == (FAILED, True), said
    status, said = desk.run("admin", "dismiss-administrator", keys[1])
    assert (status, "expected 2 administrators or more to stay" in said) == (WRONG_USAGE, True)


def test_who_changes_settings_may_be_somebody_else_than_the_administrators(desk: Desk) -> None:
    """As on a network of Sawtooth, whose founder's key does that."""
    founder, new = key("founder"), key("admin-2").public_key
    desk.commit(
        build_batch(key("admin"), [propose(key("admin"), AUTHORIZED_KEYS, founder.public_key)])
    )
    told = desk.said("founder", "admit-administrator", new)
    assert told["administrators"] == [key("admin").public_key, new]
    assert told["change_settings"] == [founder.public_key]
    desk.said("founder", "dismiss-administrator", new)
    status, said = desk.run("founder", "dismiss-administrator", key("admin").public_key)
    assert (status, "expected another administrator than" in said) == (WRONG_USAGE, True), said


def test_a_dismissed_key_goes_from_each_list_that_has_it(desk: Desk) -> None:
    """The lists differ after a `change-setting`, or where one of two proposals was rejected."""
    admin, thief = key("admin").public_key, key("admin-2").public_key
    for name, left in (
        (ADMIN_KEYS_SETTING, "change_settings"),
        (AUTHORIZED_KEYS, "administrators"),
    ):
        desk.said("admin", "admit-administrator", thief)
        desk.said("admin", "change-setting", name, "--value", admin)
        assert desk.said("admin", "administrators")[left] == [admin, thief]
        told = desk.said("admin", "dismiss-administrator", thief)
        assert (told["changed"], told["in_force"]) == (True, True)
        assert told["administrators"] == told["change_settings"] == [admin]
    third = key("admin-3").public_key
    desk.said("admin", "admit-administrator", thief)
    desk.said("admin", "change-setting", ADMIN_KEYS_SETTING, "--value", f"{admin},{third},{thief}")
    told = desk.said("admin", "dismiss-administrator", thief)
    assert (told["administrators"], told["change_settings"]) == ([admin, third], [admin])


def test_goods_and_certificates_are_in_the_terms_that_both_sign(desk: Desk) -> None:
    words = ["sign-delivery", "D1", *(each for each in TERMS if each not in ("--lot", LOT))]
    goods = ["--item", f"{LOT}=60:C62:milk", "--item", "00012345678905:L4=3=40:C62:a=b: c"]
    words += [*goods, "--sscc", "340123450000000000", "--require-certificate", "carrier=GDP"]
    for side in ("seller", "buyer"):
        desk.must(side, *words)
    entry = desk.delivery("D1")
    terms = entry.terms
    assert [f"{each.gtin}:{each.lot}" for each in terms.lots] == [LOT, "00012345678905:L4=3"]
    assert [each.lot for each in terms.items] == list(terms.lots)
    told = [(each.quantity, each.unit, each.product) for each in terms.items]
    assert told == [(60, "C62", "milk"), (40, "C62", "a=b: c")]
    assert list(terms.units) == ["340123450000000000"]
    (required,) = terms.required_certificates
    assert (required.holder_id, required.kind) == ("carrier", "GDP")
    assert [each.rule for each in entry.findings] == [
        "lot-unknown",
        "unit-unknown",
        "certificate-missing",
    ]


@pytest.mark.parametrize(
    "more",
    [
        ["--item", "00012345678905:L43=1:C62:milk"],
        ["--item", "00012345678905:L42=1:XYZ:milk"],
        ["--sscc", "340123450000000001"],
        ["--require-certificate", "customs=GDP"],
    ],
)
def test_goods_of_a_wrong_form_are_refused(desk: Desk, more: list[str]) -> None:
    assert desk.refused("seller", "sign-delivery", "D1", *TERMS, *more) == "form"


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


def test_a_delivery_is_cancelled_by_both_and_settled_by_an_authority(desk: Desk) -> None:
    desk.open("D1")
    cancel = ["cancel-delivery", "D1", "--reason", "ordered twice", *AT]
    desk.must("seller", *cancel)
    desk.must("buyer", *cancel)
    assert desk.delivery("D1").status == Delivery.CANCELLED
    desk.open("D2", "--deadline", "2026-03-02T06:00:00Z", "--authority", "customs")
    settle = ["--authority", "customs", "--payment", "withheld", "--reason", "case 17"]
    desk.must("customs", "settle-delivery", "D2", *settle)
    assert desk.delivery("D2").status == Delivery.SETTLED
    desk.open("D3")
    assert desk.refused("customs", "settle-delivery", "D3", *settle) == "not-announced"
    notice = ["--authority", "customs", "--reason", "case 18"]
    desk.must("customs", "announce-settlement", "D3", *notice)
    assert desk.refused("customs", "settle-delivery", "D3", *settle) == "too-early"


def test_a_part_changes_hands_before_the_offload_and_is_accepted(desk: Desk) -> None:
    desk.open("D1", "--other-carrier", "haulier")
    drive = Drive(nonce=nonce(1), deliveries=["D1"])
    words = ["--trip", drive.trip_id, "--site", "site-buyer", "--quantity", "60", *AT]
    for giver, taker in (("seller", "carrier"), ("carrier", "haulier"), ("haulier", "buyer")):
        hands = ["--giver", giver, "--taker", taker, "--seal-number", "A17"]
        for side in (giver, taker):
            desk.must(side, "hand-over", "D1", *words, *hands)
    entry = desk.delivery("D1")
    assert (entry.status, entry.received_quantity) == (Delivery.PART_DELIVERED, 60)
    assert len(entry.early) == 3
    assert desk.drive(1, "D1") == drive.trip_id
    desk.must("buyer", "accept", "D1", "--received", "59", *AT)
    entry = desk.delivery("D1")
    assert (entry.accepted_quantity, list(entry.early)) == (59, [])
    assert [each.rule for each in entry.findings] == ["lot-unknown", "quantity-differs"]


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
