"""Deliveries: two parties sign the terms, and two sign a handover."""

from collections.abc import Callable

import pytest

from contracts import address
from contracts.proto.payload_pb2 import DUE, HandOver, Limit, Lot, OpenDelivery
from contracts.proto.state_pb2 import Delivery, HandOverState
from contracts.rules.case import EVENT_DELIVERY
from contracts.rules.ids import Rule
from support.ledgers.hosts import Host, apply_all, refused, rules_found, told
from support.network.world import START_MS, TERMS, Trip, handovers, key, one, reading, registrations

SELLER, CARRIER, BUYER = key("seller"), key("carrier"), key("buyer")
BEFORE_DELIVERY = registrations()[:-2]
TRIP = Trip()


def delivery(host: Host) -> Delivery:
    value = host.state(address.delivery("delivery-1"))
    assert value is not None
    return Delivery.FromString(value)


def terms(change: Callable[[OpenDelivery], object]) -> OpenDelivery:
    changed = OpenDelivery()
    changed.CopyFrom(TERMS)
    change(changed)
    return changed


def handover(**changes: object) -> HandOver:
    action = HandOver(
        trip_id=TRIP.trip_id,
        delivery_id="delivery-1",
        site_id="site-buyer",
        from_party_id="carrier",
        to_party_id="buyer",
        at_ms=START_MS,
    )
    for name, value in changes.items():
        setattr(action, name, value)
    return action


def drive(host: Host) -> None:
    apply_all(host, [*registrations(), *Trip().whole([reading(0)])])


def test_a_delivery_goes_from_offered_to_delivered(host: Host) -> None:
    apply_all(host, BEFORE_DELIVERY)
    host.apply(one(SELLER, TERMS))
    assert delivery(host).status == Delivery.OFFERED
    host.apply(one(BUYER, TERMS))
    assert delivery(host).status == Delivery.OPEN
    assert delivery(host).custodian_id == "seller"
    assert list(delivery(host).signed_by) == ["seller", "buyer"]
    assert rules_found(apply_all(host, Trip().whole([reading(0)]))) == []
    assert delivery(host).status == Delivery.IN_TRANSIT
    *loaded, first, second = handovers(TRIP.trip_id)
    apply_all(host, loaded)
    assert delivery(host).custodian_id == "carrier"
    host.apply(first)
    assert delivery(host).status == Delivery.IN_TRANSIT
    assert delivery(host).custodian_id == "carrier"
    host.apply(second)
    assert delivery(host).status == Delivery.DELIVERED
    assert (delivery(host).custodian_id, delivery(host).payment) == ("buyer", DUE)
    place = address.handover(TRIP.trip_id, "delivery-1", "site-buyer", "carrier", "buyer")
    state = HandOverState.FromString(host.state(place) or b"")
    assert list(state.signed_by) == ["carrier", "buyer"]


def test_a_handover_to_the_carrier_delivers_nothing(host: Host) -> None:
    drive(host)
    loading = handover(site_id="site-seller", from_party_id="seller", to_party_id="carrier")
    host.apply(one(SELLER, loading))
    host.apply(one(CARRIER, loading))
    assert delivery(host).status == Delivery.IN_TRANSIT


@pytest.mark.parametrize("name", ["carrier", "stranger", "admin", "truck-1"])
def test_only_seller_and_buyer_sign_the_terms(host: Host, name: str) -> None:
    apply_all(host, BEFORE_DELIVERY)
    assert refused(host, one(key(name), TERMS)) is Rule.NOT_THE_PARTY


def test_all_three_parties_must_be_known(host: Host) -> None:
    apply_all(host, BEFORE_DELIVERY)
    unknown = terms(lambda each: setattr(each, "carrier_id", "nobody"))
    assert refused(host, one(SELLER, unknown)) is Rule.UNKNOWN_PARTY


@pytest.mark.parametrize(
    "changes",
    [
        {"seller_id": "carrier"},
        {"carrier_id": "seller"},
        {"carrier_id": "buyer"},
        {"buyer_id": "carrier"},
    ],
)
def test_each_party_must_be_what_the_terms_make_of_it(host: Host, changes: dict[str, str]) -> None:
    apply_all(host, BEFORE_DELIVERY)

    def change(each: OpenDelivery) -> None:
        for name, value in changes.items():
            setattr(each, name, value)

    changed = terms(change)
    assert refused(host, one(key(changed.seller_id), changed)) is Rule.ROLE_MISSING


def test_every_change_of_a_delivery_is_announced(host: Host) -> None:
    heard = [
        told(EVENT_DELIVERY, host.apply(batch))
        for batch in (*registrations(), *Trip().whole([reading(0)]), *handovers(TRIP.trip_id))
    ]
    assert [each for said in heard for each in said] == [
        {"delivery_id": "delivery-1", "status": status, "payment": payment}
        for status, payment in (
            ("offered", "none"),
            ("open", "none"),
            ("in-transit", "none"),
            ("delivered", "due"),
        )
    ]


def test_both_sign_the_very_same_terms_and_each_once(host: Host) -> None:
    apply_all(host, BEFORE_DELIVERY)
    host.apply(one(SELLER, TERMS))
    softer = terms(lambda each: setattr(each.limits[0], "maximum", 50_000))
    assert refused(host, one(BUYER, softer)) is Rule.TERMS_DIFFER
    assert refused(host, one(SELLER, TERMS)) is Rule.ALREADY_SIGNED
    host.apply(one(BUYER, TERMS))
    assert refused(host, one(BUYER, TERMS)) is Rule.ALREADY_SIGNED
    assert refused(host, one(SELLER, softer)) is Rule.TERMS_DIFFER


def test_an_offer_is_corrected_by_who_alone_signed_it(host: Host) -> None:
    apply_all(host, BEFORE_DELIVERY)
    typo = terms(lambda each: setattr(each, "quantity", 1))
    host.apply(one(SELLER, typo))
    (said,) = told(EVENT_DELIVERY, host.apply(one(SELLER, TERMS)))
    assert said["status"] == "offered"
    assert refused(host, one(BUYER, typo)) is Rule.TERMS_DIFFER
    host.apply(one(BUYER, TERMS))
    assert (delivery(host).status, delivery(host).terms) == (Delivery.OPEN, TERMS)
    assert list(delivery(host).signed_by) == ["seller", "buyer"]


def test_a_handover_is_corrected_by_who_alone_signed_it(host: Host) -> None:
    drive(host)
    host.apply(one(CARRIER, handover(at_ms=1)))
    host.apply(one(CARRIER, handover()))
    host.apply(one(BUYER, handover()))
    assert delivery(host).status == Delivery.DELIVERED
    assert refused(host, one(CARRIER, handover(at_ms=1))) is Rule.TERMS_DIFFER


def test_a_handover_between_others_stands_in_nobodys_way(host: Host) -> None:
    drive(host)
    false = handover(from_party_id="seller", to_party_id="carrier")
    host.apply(one(SELLER, false))
    host.apply(one(CARRIER, handover()))
    host.apply(one(BUYER, handover()))
    assert delivery(host).status == Delivery.DELIVERED


def test_both_sign_the_very_same_handover_and_each_once(host: Host) -> None:
    drive(host)
    host.apply(one(CARRIER, handover()))
    assert refused(host, one(BUYER, handover(at_ms=START_MS + 1))) is Rule.TERMS_DIFFER
    assert refused(host, one(CARRIER, handover())) is Rule.ALREADY_SIGNED


@pytest.mark.parametrize(
    ("signer", "changes", "rule"),
    [
        (SELLER, {}, Rule.NOT_THE_PARTY),
        (key("truck-1"), {}, Rule.NOT_THE_PARTY),
        (CARRIER, {"to_party_id": "carrier"}, Rule.NOT_THE_PARTY),
        (CARRIER, {"to_party_id": "stranger"}, Rule.NOT_THE_PARTY),
        (CARRIER, {"trip_id": "no trip"}, Rule.FORM),
        (CARRIER, {"delivery_id": "delivery-2"}, Rule.NOT_ON_TRIP),
        (CARRIER, {"site_id": "nowhere"}, Rule.UNKNOWN_SITE),
        (CARRIER, {"at_ms": (1 << 64) - 1}, Rule.FORM),
    ],
)
def test_a_handover_that_cannot_be(
    host: Host, signer: object, changes: dict[str, object], rule: Rule
) -> None:
    drive(host)
    assert isinstance(signer, type(CARRIER))
    assert refused(host, one(signer, handover(**changes))) is rule


def test_a_handover_of_a_delivery_that_does_not_exist(host: Host) -> None:
    apply_all(host, BEFORE_DELIVERY)
    assert rules_found(apply_all(host, Trip().whole([]))) == [Rule.DELIVERY_UNKNOWN]
    assert refused(host, one(CARRIER, handover())) is Rule.UNKNOWN_DELIVERY


NOT_WELL_FORMED: dict[str, Callable[[OpenDelivery], object]] = {
    "no id": lambda each: each.ClearField("delivery_id"),
    "no order": lambda each: each.ClearField("order_id"),
    "no product": lambda each: each.ClearField("product"),
    "no lot": lambda each: each.ClearField("lots"),
    "too many lots": lambda each: each.lots.extend([TERMS.lots[0]] * 100),
    "no GTIN": lambda each: setattr(each.lots[0], "gtin", "1"),
    "a wrong check digit": lambda each: setattr(each.lots[0], "gtin", "00012345678904"),
    "an empty lot": lambda each: setattr(each.lots[0], "lot", ""),
    "a long lot": lambda each: each.lots.append(Lot(gtin=TERMS.lots[0].gtin, lot="x" * 21)),
    "no quantity": lambda each: each.ClearField("quantity"),
    "no unit": lambda each: each.ClearField("unit"),
    "a long unit": lambda each: setattr(each, "unit", "KILO"),
    "no other buyer": lambda each: setattr(each, "buyer_id", "seller"),
    "half a hash": lambda each: setattr(each, "payment_terms_sha256", bytes(31)),
    "half a hash of the price": lambda each: setattr(each, "price_sha256", bytes(31)),
    "two limits of a kind": lambda each: each.limits.append(TERMS.limits[0]),
    "a limit of nothing": lambda each: each.limits.append(Limit(minimum=1)),
    "a limit of a new kind": lambda each: each.limits.append(Limit(quantity=9, minimum=1)),  # type: ignore[arg-type] # as from the wire
    "a limit without bounds": lambda each: each.limits.append(Limit(quantity=Limit.PRESSURE_PA)),
    "bounds the wrong way": lambda each: setattr(each.limits[0], "minimum", 8001),
}


@pytest.mark.parametrize("name", NOT_WELL_FORMED)
def test_terms_that_are_not_well_formed_are_refused(host: Host, name: str) -> None:
    apply_all(host, BEFORE_DELIVERY)
    broken = terms(NOT_WELL_FORMED[name])
    assert refused(host, one(SELLER, broken)) is Rule.FORM
