"""Handovers: custody passes from party to party, and a gap is found."""

from contracts import address, rendered_delivery
from contracts.proto.payload_pb2 import DUE, HandOver, RegisterSite
from contracts.proto.sawtooth_pb2 import Event
from contracts.proto.state_pb2 import Delivery, HandOverState
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import DirectHost, Host, apply_all, findings, refused, rules_found
from support.network.world import (
    START_MS,
    TERMS,
    Trip,
    delivering,
    key,
    loading,
    one,
    reading,
    registrations,
)

TRIP = Trip(via=["site-depot"])


def ready(host: Host, trip: Trip = TRIP) -> None:
    depot = RegisterSite(site_id="site-depot", party_id="carrier", name="Depot")
    elsewhere = RegisterSite(site_id="site-elsewhere", party_id="carrier", name="Elsewhere")
    made = [one(key("carrier"), each) for each in (depot, elsewhere)]
    apply_all(host, [*registrations(), *made, one(trip.signer, trip.start)])


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def signed(host: Host, action: HandOver) -> list[Event]:
    """Let both hands sign; return what was announced."""
    signers = (action.from_party_id, action.to_party_id)
    return apply_all(host, [one(key(signer), action) for signer in signers])


def at(action: HandOver, site_id: str) -> HandOver:
    action.site_id = site_id
    return action


def test_hand_to_hand_leaves_no_gap(host: Host) -> None:
    ready(host)
    assert rules_found(signed(host, loading(TRIP.trip_id))) == []
    assert rules_found(signed(host, delivering(TRIP.trip_id))) == []


def test_a_hand_that_did_not_have_the_goods_is_found(host: Host) -> None:
    ready(host)
    (gap,) = findings(signed(host, delivering(TRIP.trip_id)))
    assert (gap.rule, gap.trip_id, gap.device_id) == (Rule.CUSTODY_GAP, TRIP.trip_id, "")
    assert gap.detail == "carrier hands over 100 C62 of delivery-1 and has 0 on record"
    assert gap.delivery_id == "delivery-1"
    assert delivery(host).custodian_id == "buyer"
    assert delivery(host).status == Delivery.DELIVERED


def test_nothing_is_found_before_both_signed(host: Host) -> None:
    ready(host)
    action = at(delivering(TRIP.trip_id), "site-elsewhere")
    assert rules_found(host.apply(one(key("carrier"), action))) == []
    assert delivery(host).custodian_id == "seller"
    found = rules_found(host.apply(one(key("buyer"), action)))
    assert found == [Rule.SITE_NOT_ON_TRIP, Rule.CUSTODY_GAP]


def test_a_site_between_first_and_last_is_on_the_trip(host: Host) -> None:
    ready(host)
    assert rules_found(signed(host, at(loading(TRIP.trip_id), "site-depot"))) == []


def test_goods_that_go_back_are_still_delivered(host: Host) -> None:
    ready(host)
    signed(host, loading(TRIP.trip_id))
    signed(host, delivering(TRIP.trip_id))
    back = HandOver(
        trip_id=TRIP.trip_id,
        delivery_id="delivery-1",
        site_id="site-depot",
        from_party_id="buyer",
        to_party_id="carrier",
        at_ms=START_MS,
        returned=True,
    )
    assert rules_found(signed(host, back)) == []
    entry = delivery(host)
    assert (entry.custodian_id, entry.status, entry.payment) == ("carrier", Delivery.DELIVERED, DUE)


def test_goods_move_under_terms_that_one_side_signed_and_the_other_signs_later(host: Host) -> None:
    apply_all(host, [*registrations()[:-1], one(TRIP.signer, TRIP.start)])
    found = rules_found(signed(host, delivering(TRIP.trip_id)))
    assert found == [Rule.CUSTODY_GAP]
    entry = delivery(host)
    assert (entry.custodian_id, entry.status) == ("buyer", Delivery.OFFERED)
    host.apply(one(key("buyer"), TERMS))
    entry = delivery(host)
    assert (entry.custodian_id, entry.status) == ("buyer", Delivery.DELIVERED)
    assert entry.payment == DUE


def test_handed_over_twice_is_delivered_once(host: Host) -> None:
    trip = Trip(via=["site-depot"])
    ready(host, trip)
    host.apply(trip.batches([trip.record(reading(0)), trip.seal()], 2)[0])
    signed(host, delivering(trip.trip_id))
    again = signed(host, at(delivering(trip.trip_id), "site-depot"))
    assert rules_found(again) == [Rule.CUSTODY_GAP]
    assert delivery(host).status == Delivery.DELIVERED


def test_a_handover_says_when_it_happened(host: Host) -> None:
    """Else a second one, without a time, would take the time of the first one off the trip."""
    ready(host)
    action = loading(TRIP.trip_id)
    action.at_ms = 0
    assert refused(host, one(key("seller"), action)) is Rule.FORM
    assert rules_found(signed(host, loading(TRIP.trip_id))) == []


def test_a_handover_of_version_1_0_may_have_no_time_and_is_shown_without_one() -> None:
    host = DirectHost()
    apply_all(host, registrations(RulesVersion.V1_0))
    host.apply(one(TRIP.signer, TRIP.start, version=RulesVersion.V1_0))
    action = loading(TRIP.trip_id)
    action.at_ms = 0
    for party_id in ("seller", "carrier"):
        host.apply(one(key(party_id), action, version=RulesVersion.V1_0))
    place = address.handover(
        TRIP.trip_id, "delivery-1", action.site_id, action.from_party_id, action.to_party_id
    )
    entry = HandOverState.FromString(host.state(place) or b"")
    assert rendered_delivery.handover(entry)["at"] is None
    assert rendered_delivery.handover(HandOverState(terms=loading(TRIP.trip_id)))["at"]
