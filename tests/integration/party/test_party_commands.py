"""`wayseal-party` against a node: all actions of parties, from registration to closed delivery."""

import json
from pathlib import Path

import pytest

from contracts import address
from contracts.proto.payload_pb2 import DUE, RELEASED, WITHHELD, Role
from contracts.proto.state_pb2 import Delivery, Hold, Lot, Party, Trip
from contracts.runtime.commands import FAILED, WORKED, WRONG_USAGE
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import propose
from support.ledgers.party_desk import AT, LOT, TERMS, Desk
from support.network.world import Trip as Drive
from support.network.world import key
from support.trucks.rogue import nonce

pytestmark = pytest.mark.integration


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
