"""Handovers: goods go from one party's hands into another's, and both say so."""

from contracts import address
from contracts.proto.payload_pb2 import DUE, HandOver, OpenDelivery
from contracts.proto.state_pb2 import Delivery, HandOverState, Trip
from contracts.rules.case import Case, Notes, co_sign, invalid
from contracts.rules.deliveries import known_delivery, move
from contracts.rules.ids import Rule
from contracts.rules.sites import require_site, sites_of


def hand_over(action: HandOver, case: Case) -> None:
    """Sign that goods changed hands; it counts once both parties signed the very same words."""
    signed_by = case.party_id()
    trip = case.trip(action.trip_id)
    if action.delivery_id not in trip.start.delivery_ids:
        raise invalid(Rule.NOT_ON_TRIP, f"trip {action.trip_id} carries no {action.delivery_id!r}")
    delivery = known_delivery(case, action.delivery_id)
    require_site(case, action.site_id)
    _check_hands(action, delivery.terms, signed_by)
    place = address.handover(
        action.trip_id,
        action.delivery_id,
        action.site_id,
        action.from_party_id,
        action.to_party_id,
    )
    entry = case.load(place, HandOverState) or HandOverState()
    what = f"the handover of {action.delivery_id}"
    both = co_sign(what, entry.terms, action, entry.signed_by, signed_by)
    case.store(place, entry)
    if both:
        _change_hands(action, trip, delivery, case)


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


def _change_hands(action: HandOver, trip: Trip, delivery: Delivery, case: Case) -> None:
    notes = Notes(case, action.trip_id)
    if action.site_id not in sites_of(trip.start):
        notes.add(Rule.SITE_NOT_ON_TRIP, f"the trip does not name site {action.site_id}")
    if action.from_party_id != delivery.custodian_id:
        notes.add(
            Rule.CUSTODY_GAP,
            f"{action.delivery_id} was with {delivery.custodian_id or 'nobody'}, "
            f"not with {action.from_party_id}",
        )
    delivery.custodian_id = action.to_party_id
    on_its_way = delivery.status in (Delivery.OPEN, Delivery.IN_TRANSIT)
    if on_its_way and action.to_party_id == delivery.terms.buyer_id:
        move(case, delivery, Delivery.DELIVERED, DUE)
    else:
        case.store(address.delivery(action.delivery_id), delivery)
    notes.record()
