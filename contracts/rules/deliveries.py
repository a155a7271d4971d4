"""Deliveries: terms that both sides sign, and the handover of the goods."""

from typing import Final

from contracts import address
from contracts.errors import RejectedError
from contracts.ids import check_gtin, check_id, check_trip_id
from contracts.proto.payload_pb2 import HandOver, Limit, OpenDelivery
from contracts.proto.state_pb2 import Delivery, HandOverState, Site
from contracts.records.clock import check_utc_ms
from contracts.rules.case import Case, invalid
from contracts.rules.ids import Rule
from contracts.rules.parties import check_name, require_known

LOTS_MAX: Final = 100
LIMITS_MAX: Final = 16
LOT_MAX: Final = 20
"""Characters of a lot, GS1 application identifier (10)."""
UNIT_MAX: Final = 3
"""Characters of a UN/ECE Recommendation 20 unit code."""
_HASH_BYTES: Final = 32


def open_delivery(action: OpenDelivery, case: Case) -> None:
    """Sign a delivery's terms; it is open once seller and buyer signed the very same ones."""
    _check_terms(action)
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
    check_trip_id(action.trip_id)
    check_utc_ms("at_ms", action.at_ms)
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


def _check_terms(terms: OpenDelivery) -> None:
    check_id("delivery", terms.delivery_id)
    check_id("order", terms.order_id)
    check_name(terms.product)
    if not 1 <= len(terms.lots) <= LOTS_MAX:
        raise RejectedError(f"a delivery holds 1..{LOTS_MAX} lots, got {len(terms.lots)}")
    for lot in terms.lots:
        check_gtin(lot.gtin)
        if not 1 <= len(lot.lot) <= LOT_MAX or not lot.lot.isprintable():
            raise RejectedError(f"a lot is 1..{LOT_MAX} printable characters: {lot.lot[:40]!r}")
    if terms.quantity < 1 or not 1 <= len(terms.unit) <= UNIT_MAX or not terms.unit.isalnum():
        raise RejectedError(
            f"quantity must be at least 1 with a UN/ECE unit code, got "
            f"{terms.quantity} {terms.unit[:20]!r}"
        )
    if terms.seller_id == terms.buyer_id:
        raise RejectedError(f"seller and buyer must differ, both are {terms.seller_id!r}")
    if len(terms.payment_terms_sha256) not in (0, _HASH_BYTES):
        raise RejectedError(f"the hash of payment terms is {_HASH_BYTES} bytes or absent")
    _check_limits(terms)


def _check_limits(terms: OpenDelivery) -> None:
    quantities = [limit.quantity for limit in terms.limits]
    if len(quantities) > LIMITS_MAX or len(set(quantities)) != len(quantities):
        raise RejectedError("at most one limit per quantity")
    for limit in terms.limits:
        if limit.quantity not in Limit.Quantity.values()[1:]:
            raise RejectedError(f"a limit needs a known quantity, got {limit.quantity}")
        bounded = limit.HasField("minimum"), limit.HasField("maximum")
        if not any(bounded) or (all(bounded) and limit.minimum > limit.maximum):
            raise RejectedError("a limit needs a minimum, a maximum, or both in that order")
