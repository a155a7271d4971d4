"""Handovers: goods pass from one party to another, and both sign it."""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import DUE, HandOver, OpenDelivery
from contracts.proto.state_pb2 import Delivery, HandOverState, Trip
from contracts.rules import custody
from contracts.rules.agreements import keep_facts, standing, void_half_signed
from contracts.rules.case import Case, Notes, co_sign, invalid
from contracts.rules.deliveries import known_delivery, move
from contracts.rules.ids import Rule
from contracts.rules.parties import require_site
from contracts.rules.tripend import are_sealed, chains_of, judge_given, judge_received
from contracts.rules.trips import is_given, is_received, note_hands, note_site
from contracts.rules.version import RulesVersion

EARLY_MAX: Final = 8
"""Handovers of one delivery that wait for the starts of their trips."""


def hand_over(action: HandOver, case: Case) -> None:
    """Sign that goods changed hands; it counts once both parties have signed the same action.

    Under version 1.1 a handover may come before its trip's start: the truck offloads later than
    the parties sign.
    """
    signed_by = case.party_id()
    early = case.version >= RulesVersion.V1_1
    trip = case.load(address.trip(action.trip_id), Trip) if early else case.trip(action.trip_id)
    if trip is not None and action.delivery_id not in trip.start.delivery_ids:
        raise invalid(
            Rule.NOT_ON_TRIP, f"trip {action.trip_id} does not carry {action.delivery_id!r}"
        )
    find = standing if early else known_delivery
    delivery = find(case, action.delivery_id)
    require_site(case, action.site_id)
    _check_hands(action, delivery.terms, signed_by)
    _check_direction(action, delivery.terms, case)
    both = _sign(action, signed_by, case)
    if both and case.version is RulesVersion.V1_0:
        _change_hands(action, case.trip(action.trip_id), delivery, case)
    elif both:
        _pass_on(action, trip, delivery, case)


def _sign(action: HandOver, signed_by: str, case: Case) -> bool:
    """Keep a party's signature under a handover; return whether both have signed it."""
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
    return both


def _check_hands(action: HandOver, terms: OpenDelivery, signed_by: str) -> None:
    hands = (action.from_party_id, action.to_party_id)
    parties = set(custody.parties_of(terms))
    if hands[0] == hands[1] or not parties.issuperset(hands):
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"from {hands[0]!r} to {hands[1]!r} are not two of {sorted(parties)}",
        )
    if signed_by not in hands:
        raise invalid(Rule.NOT_THE_PARTY, f"signed by {signed_by}, must be one of {hands}")


def _check_direction(action: HandOver, terms: OpenDelivery, case: Case) -> None:
    """Check that goods which go back are said to go back; version 1.0 did not ask."""
    if case.version is RulesVersion.V1_0:
        return
    back = action.from_party_id == terms.buyer_id or action.to_party_id == terms.seller_id
    forth = action.to_party_id == terms.buyer_id or action.from_party_id == terms.seller_id
    if (back and not action.returned) or (forth and action.returned):
        wanted = "is a return" if back else "is no return"
        raise invalid(
            Rule.WRONG_DIRECTION,
            f"a handover from {action.from_party_id} to {action.to_party_id} {wanted}, "
            f"it says returned: {str(action.returned).lower()}",
        )


def _pass_on(action: HandOver, trip: Trip | None, delivery: Delivery, case: Case) -> None:
    """Move the goods, and the delivery to the state that follows; version 1.1."""
    notes = Notes(case, action.trip_id, delivery_id=action.delivery_id)
    if trip is None:
        if len(delivery.early) >= EARLY_MAX:
            raise invalid(
                Rule.UNKNOWN_TRIP,
                f"trip {action.trip_id} does not exist, and {EARLY_MAX} handovers of "
                f"{action.delivery_id} wait for their trips already",
            )
        delivery.early.append(action)
    else:
        note_site(action.site_id, trip.start, notes)
        _judge_silence(action, trip, delivery, notes)
    custody.pass_on(delivery, action, notes)
    void_half_signed(delivery)
    keep_facts(delivery, case)
    notes.record()


def _change_hands(action: HandOver, trip: Trip, delivery: Delivery, case: Case) -> None:
    """Move the goods, and the delivery if the buyer has them now; version 1.0."""
    notes = Notes(case, action.trip_id)
    note_site(action.site_id, trip.start, notes)
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


def _judge_silence(action: HandOver, trip: Trip, delivery: Delivery, notes: Notes) -> None:
    """Keep when the trip's carrier got or gave the goods; find silence if the trip has ended."""

    def mark(_: str) -> None:
        delivery.silences += 1

    chains = chains_of(trip, notes)
    sealed = are_sealed(chains)
    for carried in trip.deliveries:
        if carried.delivery_id != action.delivery_id:
            continue
        terms = delivery.terms
        note_hands(action, carried, trip.carrier_id, terms)
        if sealed and is_received(action, trip.carrier_id, terms):
            judge_received(carried, chains, notes, mark)
        if sealed and is_given(action, trip.carrier_id, terms):
            judge_given(carried, chains, notes, mark)
    notes.case.store(address.trip(action.trip_id), trip)
