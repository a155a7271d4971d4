"""Goods: the status of lots, and lots, units and certificates in the terms of a delivery."""

import pytest

from contracts import address
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import (
    DeliveredLot,
    OpenDelivery,
    RequiredCertificate,
    SetLotStatus,
)
from contracts.proto.payload_pb2 import Lot as LotName
from contracts.proto.state_pb2 import Delivery, Lot
from contracts.rules.case import EVENT_LOT
from contracts.rules.ids import Rule
from support.ledgers.hosts import Host, apply_all, findings, refused, rules_found, told
from support.network.dairy import MILK, UNITS, certificate, make, pack, ready, status
from support.network.world import GTIN, START_MS, TERMS, Trip, key, one


def lot_state(host: Host) -> Lot:
    return Lot.FromString(host.state(address.lot(GTIN, "milk")) or b"")


def test_the_maker_recalls_a_lot_and_its_use_is_found(host: Host) -> None:
    ready(host)
    make(host, "t1")
    events = host.apply(one(key("dairy"), status("dairy")))
    assert told(EVENT_LOT, events) == [{"gtin": GTIN, "lot": "milk", "status": "recalled"}]
    (found,) = findings(make(host, "t2", used="milk", made="cheese"))
    assert (found.rule, found.transformation_id) == (Rule.LOT_WITHHELD, "t2")
    assert "recalled by dairy" in found.detail
    host.apply(one(key("dairy"), status("dairy", SetLotStatus.CLEARED)))
    assert rules_found(make(host, "t3", used="milk", made="cheese")) == [Rule.LOT_OVERDRAWN]


def test_what_an_authority_said_only_an_authority_takes_back(host: Host) -> None:
    ready(host)
    make(host, "t1")
    host.apply(one(key("agency"), status("agency", SetLotStatus.QUARANTINED)))
    clear = status("dairy", SetLotStatus.CLEARED)
    assert refused(host, one(key("dairy"), clear)) is Rule.NOT_THE_PARTY
    assert lot_state(host).status.party_id == "agency"
    host.apply(one(key("court"), status("court", SetLotStatus.CLEARED)))
    assert refused(host, one(key("dairy"), status("dairy"))) is Rule.NOT_THE_PARTY


def test_an_authority_speaks_of_a_lot_that_nobody_made(host: Host) -> None:
    ready(host)
    host.apply(one(key("agency"), status("agency")))
    assert rules_found(make(host, "t1", used="milk", made="cheese")) == [
        Rule.LOT_WITHHELD,
        Rule.LOT_UNKNOWN,
    ]
    assert lot_state(host).unit == "KGM"
    make(host, "t2")
    assert lot_state(host).party_id == "dairy"


def test_others_do_not_speak_of_a_lot(host: Host) -> None:
    ready(host)
    assert refused(host, one(key("dairy"), status("dairy"))) is Rule.UNKNOWN_LOT
    make(host, "t1")
    assert refused(host, one(key("seller"), status("seller"))) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("dairy"), status("agency"))) is Rule.NOT_THE_PARTY


def test_the_form_of_a_status(host: Host) -> None:
    ready(host)
    odd = status("agency")
    odd.reason = ""
    assert refused(host, one(key("agency"), odd)) is Rule.FORM
    odd = status("agency")
    odd.status = 3  # type: ignore[assignment]  # a status of a later version
    assert refused(host, one(key("agency"), odd)) is Rule.FORM


def signed(host: Host, **changes: object) -> list[str]:
    """Let both sides sign a delivery of the lot `milk`; return the findings in its entry."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-2"
    del terms.lots[:]
    terms.MergeFrom(OpenDelivery(lots=[MILK], **changes))  # type: ignore[arg-type]
    events = apply_all(host, [one(key(side), terms) for side in ("seller", "buyer")])
    entry = Delivery.FromString(host.state(address.delivery("delivery-2")) or b"")
    told = [each.rule for each in findings(events)]
    assert told == [each.rule for each in entry.findings]
    assert all(each.delivery_id == "delivery-2" for each in entry.findings)
    return told


def item(quantity: int = 10, unit: str = "KGM", lot: LotName = MILK) -> DeliveredLot:
    return DeliveredLot(lot=lot, product="milk", quantity=quantity, unit=unit)


def test_a_delivery_of_a_lot_that_nobody_made_is_found_once_both_have_signed(host: Host) -> None:
    ready(host)
    assert signed(host) == [Rule.LOT_UNKNOWN]


def test_a_delivery_of_lots_and_units_as_they_should_be(host: Host) -> None:
    ready(host)
    make(host, "t1")
    host.apply(one(key("dairy"), pack(UNITS[0], lots=1)))
    assert signed(host, items=[item()], units=[UNITS[0]]) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"items": [item(11)]}, Rule.LOT_OVERDRAWN),
        ({"items": [item(unit="LTR")]}, Rule.UNIT_MISMATCH),
        ({"units": [UNITS[3]]}, Rule.UNIT_UNKNOWN),
        (
            {"required_certificates": [RequiredCertificate(holder_id="carrier", kind="GDP")]},
            Rule.CERTIFICATE_MISSING,
        ),
    ],
)
def test_what_is_odd_about_goods_is_found(
    host: Host, changes: dict[str, object], rule: Rule
) -> None:
    ready(host)
    make(host, "t1")
    assert signed(host, **changes) == [rule]


def test_a_recalled_lot_is_not_sold_unseen(host: Host) -> None:
    ready(host)
    make(host, "t1")
    host.apply(one(key("agency"), status("agency")))
    assert signed(host) == [Rule.LOT_WITHHELD]


@pytest.mark.parametrize("until_ms", [START_MS - 1, START_MS])
def test_a_certificate_must_be_valid_when_the_trip_starts(host: Host, until_ms: int) -> None:
    ready(host)
    make(host, "t1")
    host.apply(one(key("agency"), certificate(until_ms=until_ms)))
    required = RequiredCertificate(holder_id="carrier", kind="GDP")
    assert signed(host, required_certificates=[required]) == []
    trip = Trip(deliveries=["delivery-2"])
    found = rules_found(host.apply(one(trip.signer, trip.start)))
    expected = [] if until_ms == START_MS else [Rule.CERTIFICATE_EXPIRED]
    assert [each for each in found if each != Rule.TRIP_NUMBER_GAP] == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"items": [item(), item()]},
        {"items": [item(lot=LotName(gtin=GTIN, lot="other"))]},
        {"items": [item(0)]},
        {"units": ["x"]},
        {"units": [UNITS[0], UNITS[0]]},
        {"required_certificates": [RequiredCertificate(holder_id="agency", kind="GDP")]},
        {"required_certificates": [RequiredCertificate(holder_id="carrier")]},
    ],
)
def test_the_form_of_goods_in_terms(host: Host, changes: dict[str, object]) -> None:
    ready(host)
    with pytest.raises(RejectedError, match="form"):
        signed(host, **changes)
