"""Custody: several carriers in turn, parts of a delivery, returns, seal numbers."""

import pytest

from contracts import address
from contracts.proto.payload_pb2 import (
    DUE,
    PAYMENT_NONE,
    RELEASED,
    AcceptDelivery,
    HandOver,
    OpenDelivery,
)
from contracts.proto.state_pb2 import Delivery
from contracts.proto.state_pb2 import Trip as TripState
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import Host, apply_all, findings, refused, rules_found
from support.network.chains import (
    both_sign,
    chain_registrations,
    chain_terms,
    first_leg,
    hands,
    second_leg,
)
from support.network.world import (
    START_MS,
    delivering,
    handovers,
    key,
    loading,
    one,
    reading,
    registrations,
)

FIRST, SECOND = first_leg(), second_leg()
ACCEPT = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def holdings(host: Host) -> dict[str, int]:
    """Return what each party has, without the ones that have nothing."""
    return {each.party_id: each.quantity for each in delivery(host).holdings if each.quantity}


def ready(host: Host) -> None:
    """Register the chain and start both trips."""
    starts = [one(each.signer, each.start) for each in (FIRST, SECOND)]
    assert rules_found(apply_all(host, [*chain_registrations(chain_terms()), *starts])) == []


def test_goods_pass_two_carriers_and_a_store_without_a_finding(host: Host) -> None:
    ready(host)
    way = [
        hands(FIRST, "seller", "carrier", "site-seller"),
        hands(FIRST, "carrier", "store"),
        hands(SECOND, "store", "haulier"),
        hands(SECOND, "haulier", "buyer", "site-buyer"),
    ]
    for action in way:
        assert rules_found(both_sign(host, action)) == []
        assert delivery(host).custodian_id == action.to_party_id
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.DELIVERED, DUE)
    assert (entry.sent_quantity, entry.received_quantity) == (100, 100)


def test_each_carrier_s_devices_mark_the_delivery(host: Host) -> None:
    ready(host)
    for trip in (first_leg(), second_leg()):
        batch = trip.batches([trip.run([reading(at, 20_000) for at in range(9)])], 1)[0]
        assert rules_found(host.apply(batch)) == []
    assert delivery(host).breaches == 2


def test_the_parties_of_a_trip_are_all_carriers_too(host: Host) -> None:
    ready(host)
    entry = TripState.FromString(host.state(address.trip(SECOND.trip_id)) or b"")
    assert list(entry.party_ids) == ["buyer", "carrier", "haulier", "seller", "store"]


def test_a_carrier_that_the_terms_do_not_name_has_no_part(host: Host) -> None:
    apply_all(host, [*chain_registrations(chain_terms())[:-2], *registrations()[-2:]])
    found = rules_found(host.apply(one(SECOND.signer, SECOND.start)))
    assert found == [Rule.CARRIER_MISMATCH]
    assert delivery(host).status == Delivery.OPEN
    action = hands(SECOND, "carrier", "haulier")
    assert refused(host, one(key("haulier"), action)) is Rule.NOT_THE_PARTY


@pytest.mark.parametrize(
    ("others", "authority", "rule"),
    [
        (["haulier", "haulier"], "", Rule.FORM),
        (["carrier"], "", Rule.FORM),
        (["seller"], "", Rule.FORM),
        (["buyer"], "", Rule.FORM),
        ([f"c{at}" for at in range(9)], "", Rule.FORM),
        (["nobody"], "", Rule.UNKNOWN_PARTY),
        (["court"], "", Rule.ROLE_MISSING),
        ([], "haulier", Rule.ROLE_MISSING),
        ([], "buyer", Rule.FORM),
        ([], "nobody", Rule.UNKNOWN_PARTY),
    ],
)
def test_terms_name_carriers_and_an_authority_that_are_registered_as_such(
    host: Host, others: list[str], authority: str, rule: Rule
) -> None:
    apply_all(host, chain_registrations(chain_terms())[:-2])
    terms = chain_terms(authority_id=authority)
    terms.other_carrier_ids[:] = others
    assert refused(host, one(key("seller"), terms)) is rule


def test_a_part_is_delivered_and_then_the_rest(host: Host) -> None:
    ready(host)
    both_sign(host, hands(FIRST, "seller", "carrier", "site-seller", 60))
    assert (holdings(host), delivery(host).custodian_id) == ({"seller": 40, "carrier": 60}, "")
    both_sign(host, hands(FIRST, "carrier", "buyer", "site-buyer", 60))
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.PART_DELIVERED, PAYMENT_NONE)
    both_sign(host, hands(SECOND, "seller", "haulier", "site-seller", 40))
    assert rules_found(both_sign(host, hands(SECOND, "haulier", "buyer", "site-buyer", 40))) == []
    entry = delivery(host)
    assert (entry.status, entry.payment, entry.custodian_id) == (Delivery.DELIVERED, DUE, "buyer")
    assert (entry.sent_quantity, entry.received_quantity) == (100, 100)


def test_more_than_a_party_has_is_a_gap_in_custody(host: Host) -> None:
    ready(host)
    both_sign(host, hands(FIRST, "seller", "carrier", "site-seller", 60))
    (gap,) = findings(both_sign(host, hands(FIRST, "carrier", "buyer", "site-buyer", 61)))
    assert (gap.rule, gap.detail) == (
        Rule.CUSTODY_GAP,
        "carrier hands over 61 C62 of delivery-1 and has 60 on record",
    )


def test_what_goes_back_is_counted_and_stays_delivered(host: Host) -> None:
    ready(host)
    apply_all(host, handovers(FIRST.trip_id))
    for giver, taker in (("buyer", "haulier"), ("haulier", "seller")):
        action = hands(SECOND, giver, taker, quantity=30, returned=True)
        assert rules_found(both_sign(host, action)) == []
    entry = delivery(host)
    assert holdings(host) == {"buyer": 70, "seller": 30}
    assert (entry.returned_quantity, entry.status) == (30, Delivery.DELIVERED)
    accept = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS, received_quantity=70)
    (found,) = findings(host.apply(one(key("buyer"), accept)))
    assert (found.rule, found.detail) == (
        Rule.QUANTITY_DIFFERS,
        "70 C62 received, 70 sent, 100 ordered",
    )


@pytest.mark.parametrize(
    ("giver", "taker", "returned"),
    [
        ("buyer", "carrier", False),
        ("carrier", "seller", False),
        ("buyer", "seller", False),
        ("carrier", "buyer", True),
        ("seller", "carrier", True),
        ("seller", "buyer", True),
    ],
)
def test_a_handover_says_in_which_direction_the_goods_go(
    host: Host, giver: str, taker: str, *, returned: bool
) -> None:
    ready(host)
    action = hands(FIRST, giver, taker, returned=returned)
    assert refused(host, one(key(giver), action)) is Rule.WRONG_DIRECTION


@pytest.mark.parametrize(("received", "differs"), [(0, False), (100, False), (98, True)])
def test_the_buyer_names_what_it_received(host: Host, received: int, *, differs: bool) -> None:
    ready(host)
    apply_all(host, handovers(FIRST.trip_id))
    accept = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS, received_quantity=received)
    events = host.apply(one(key("buyer"), accept))
    assert rules_found(events) == ([Rule.QUANTITY_DIFFERS] if differs else [])
    entry = delivery(host)
    assert (entry.accepted_quantity, entry.payment) == (received, RELEASED)
    assert list(entry.findings) == findings(events)
    assert all(each.delivery_id == "delivery-1" and not each.trip_id for each in entry.findings)


def test_a_part_is_accepted_when_the_rest_never_comes(host: Host) -> None:
    ready(host)
    both_sign(host, hands(FIRST, "seller", "carrier", "site-seller"))
    both_sign(host, hands(FIRST, "carrier", "buyer", "site-buyer", 60))
    accept = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS, received_quantity=60)
    assert rules_found(host.apply(one(key("buyer"), accept))) == [Rule.QUANTITY_DIFFERS]
    assert delivery(host).status == Delivery.ACCEPTED


@pytest.mark.parametrize(
    ("seals", "found"),
    [
        (("A1", "A2"), []),
        (("A2", "A1"), []),
        (("A1",), [Rule.SEAL_NUMBER_DIFFERS]),
        (("A1", "B2"), [Rule.SEAL_NUMBER_DIFFERS]),
        ((), [Rule.SEAL_NUMBER_DIFFERS]),
    ],
)
def test_seals_that_changed_between_two_hands_are_found(
    host: Host, seals: tuple[str, ...], found: list[Rule]
) -> None:
    ready(host)
    both_sign(host, hands(FIRST, "seller", "carrier", "site-seller", seals=("A1", "A2")))
    assert rules_found(both_sign(host, hands(FIRST, "carrier", "store", seals=seals))) == found


def test_seals_put_on_later_are_no_finding(host: Host) -> None:
    ready(host)
    both_sign(host, hands(FIRST, "seller", "carrier", "site-seller"))
    assert rules_found(both_sign(host, hands(FIRST, "carrier", "store", seals=("A1",)))) == []


def test_changed_seals_are_found_when_the_first_handover_is_committed_last(host: Host) -> None:
    ready(host)
    late = hands(FIRST, "seller", "carrier", "site-seller", seals=("A1",))
    gap = both_sign(host, hands(FIRST, "carrier", "buyer", "site-buyer", seals=("B1",)))
    assert rules_found(gap) == [Rule.CUSTODY_GAP]
    (found,) = findings(both_sign(host, late))
    assert (found.rule, found.detail) == (
        Rule.SEAL_NUMBER_DIFFERS,
        "carrier received delivery-1 under seals A1 and hands it over under B1",
    )
    assert (holdings(host), delivery(host).custodian_id) == ({"buyer": 100}, "buyer")


NOT_WELL_FORMED = [
    hands(FIRST, "carrier", "buyer", quantity=10**15 + 1),
    hands(FIRST, "carrier", "buyer", seals=("",)),
    hands(FIRST, "carrier", "buyer", seals=("A" * 21,)),
    hands(FIRST, "carrier", "buyer", seals=("A 1",)),
    hands(FIRST, "carrier", "buyer", seals=("Ä1",)),
    hands(FIRST, "carrier", "buyer", seals=("A1", "A1")),
    hands(FIRST, "carrier", "buyer", seals=tuple(map(str, range(9)))),
]


@pytest.mark.parametrize("action", NOT_WELL_FORMED, ids=range(len(NOT_WELL_FORMED)))
def test_a_handover_that_is_not_well_formed_is_refused(host: Host, action: HandOver) -> None:
    ready(host)
    assert refused(host, one(key("carrier"), action)) is Rule.FORM


def test_a_quantity_beyond_every_sum_stays_a_number(host: Host) -> None:
    """Version 1.0 knew no largest quantity: such a delivery must not stop the ledger."""
    terms = OpenDelivery()
    terms.CopyFrom(chain_terms())
    terms.quantity = (1 << 64) - 1
    apply_all(host, [*chain_registrations(terms), one(FIRST.signer, FIRST.start)])
    for at in range(3):
        action = hands(FIRST, "carrier", "buyer", ("site-hub", "site-buyer", "site-seller")[at])
        both_sign(host, action)
    assert holdings(host)["buyer"] == 3 * 10**15
    assert delivery(host).status == Delivery.DELIVERED


def test_a_delivery_of_1_0_keeps_its_custodian_under_1_1(host: Host) -> None:
    old = RulesVersion.V1_0
    trip = first_leg()
    trip.via = []
    apply_all(host, [*registrations(old), one(trip.signer, trip.start, version=old)])
    action = loading(trip.trip_id)
    apply_all(host, [one(key(who), action, version=old) for who in ("seller", "carrier")])
    assert rules_found(both_sign(host, delivering(trip.trip_id))) == []
    entry = delivery(host)
    assert (holdings(host), entry.status) == ({"buyer": 100}, Delivery.DELIVERED)
    assert (entry.sent_quantity, entry.received_quantity) == (100, 100)
