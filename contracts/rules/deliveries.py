"""Deliveries: terms that both sides sign, and the handover of the goods."""

from contracts import address
from contracts.proto.payload_pb2 import HandOver, OpenDelivery
from contracts.proto.state_pb2 import Delivery, HandOverState, Site
from contracts.rules.case import Case, invalid
from contracts.rules.ids import Rule
from contracts.rules.parties import require_known


def open_delivery(action: OpenDelivery, case: Case) -> None:
    """Sign a delivery's terms; it is open once seller and buyer signed the very same ones."""
    signed_by = case.party_id()
    if signed_by not in (action.seller_id, action.buyer_id):
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"signed by {signed_by}, must be seller {action.seller_id} or buyer {action.buyer_id}",
        )
    require_known(case, (action.seller_id, action.carrier_id, action.buyer_id))
    place = address.delivery(action.delivery_id)
    entry = case.load(place, Delivery)
    if entry is None:
        entry = Delivery(terms=action, status=Delivery.OFFERED)
    if entry.terms != action:
        raise invalid(
            Rule.TERMS_DIFFER, f"delivery {action.delivery_id} was offered on other terms"
        )
    if signed_by in entry.signed_by:
        raise invalid(
            Rule.ALREADY_SIGNED, f"{signed_by} already signed delivery {action.delivery_id}"
        )
    entry.signed_by.append(signed_by)
    if {action.seller_id, action.buyer_id} <= set(entry.signed_by):
        entry.status = Delivery.OPEN
    case.store(place, entry)


def hand_over(action: HandOver, case: Case) -> None:
    """Sign that goods changed hands; it counts once both parties signed the very same words."""
    signed_by = case.party_id()
    delivery = _delivery_on_trip(action, case)
    _check_hands(action, delivery.terms, signed_by)
    place = address.handover(action.trip_id, action.delivery_id, action.site_id)
    entry = case.load(place, HandOverState) or HandOverState(terms=action)
    if entry.terms != action:
        raise invalid(
            Rule.TERMS_DIFFER, f"the handover of {action.delivery_id} was signed in other words"
        )
    if signed_by in entry.signed_by:
        raise invalid(Rule.ALREADY_SIGNED, f"{signed_by} already signed this handover")
    entry.signed_by.append(signed_by)
    case.store(place, entry)
    if len(entry.signed_by) > 1 and action.to_party_id == delivery.terms.buyer_id:
        delivery.status = Delivery.DELIVERED
        case.store(address.delivery(action.delivery_id), delivery)


def _delivery_on_trip(action: HandOver, case: Case) -> Delivery:
    trip = case.trip(action.trip_id)
    if action.delivery_id not in trip.start.delivery_ids:
        raise invalid(Rule.NOT_ON_TRIP, f"trip {action.trip_id} carries no {action.delivery_id!r}")
    delivery = case.load(address.delivery(action.delivery_id), Delivery)
    if delivery is None:
        raise invalid(Rule.UNKNOWN_DELIVERY, f"delivery {action.delivery_id} does not exist")
    if case.load(address.site(action.site_id), Site) is None:
        raise invalid(Rule.SITE_UNKNOWN, f"site {action.site_id!r} is not registered")
    return delivery


def _check_hands(action: HandOver, terms: OpenDelivery, signed_by: str) -> None:
    hands = (action.from_party_id, action.to_party_id)
    parties = {terms.seller_id, terms.carrier_id, terms.buyer_id}
    if hands[0] == hands[1] or not parties.issuperset(hands):
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"from {hands[0]!r} to {hands[1]!r} are not two of {sorted(parties)}",
        )
    if signed_by not in hands:
        raise invalid(Rule.NOT_THE_PARTY, f"signed by {signed_by}, must be one of {hands}")
