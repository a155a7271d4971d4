"""Custody: what each party has of a delivery, by the handovers that both sides signed.

All sums follow from the set of handovers, so that the order in which they are
committed does not matter.
"""

from collections.abc import Sequence
from typing import Final

from contracts.proto.payload_pb2 import HandOver, OpenDelivery
from contracts.proto.state_pb2 import Delivery, Holding
from contracts.rules.case import Notes
from contracts.rules.ids import Rule
from contracts.rules.lots import LOT_QUANTITY_MAX

HELD_MAX: Final = 9 * 10**15
"""Largest sum of handed quantities; sums stop here. Every JSON parser reads it exactly."""


def carriers_of(terms: OpenDelivery) -> list[str]:
    """Return the parties that may carry a delivery or keep it on its way."""
    return [terms.carrier_id, *terms.other_carrier_ids]


def parties_of(terms: OpenDelivery) -> list[str]:
    """Return the parties of a delivery, in the order in which goods pass them."""
    return [terms.seller_id, *carriers_of(terms), terms.buyer_id]


def whole_of(terms: OpenDelivery) -> int:
    """Return the quantity of the whole delivery; version 1.0 had no highest one."""
    return min(terms.quantity, LOT_QUANTITY_MAX)


def quantity_of(action: HandOver, terms: OpenDelivery) -> int:
    """Return how much of a delivery a handover moves; all of it when the handover does not say."""
    return min(action.quantity or whole_of(terms), LOT_QUANTITY_MAX)


def is_moved(entry: Delivery) -> bool:
    """Say whether handovers moved goods; of an offer, which gives the seller nothing yet."""
    return bool(entry.holdings or entry.custodian_id)


def begin(entry: Delivery) -> None:
    """Give the goods to the seller, unless handovers have moved them before.

    An entry of version 1.0 names only the custodian, who then has all of the goods.
    """
    if entry.holdings:
        return
    terms, whole = entry.terms, whole_of(entry.terms)
    had_before = entry.custodian_id or terms.seller_id
    _holding(entry, had_before).quantity = whole
    entry.custodian_id = had_before
    arrived = (Delivery.DELIVERED, Delivery.ACCEPTED, Delivery.CLOSED)
    if had_before == terms.buyer_id or entry.status in arrived:
        entry.received_quantity = whole
    if had_before != terms.seller_id or entry.received_quantity:
        entry.sent_quantity = whole
    under_way = (Delivery.STATUS_UNSET, Delivery.OFFERED, Delivery.OPEN)
    entry.carried = entry.carried or entry.status not in under_way


def pass_on(entry: Delivery, action: HandOver, notes: Notes) -> None:
    """Move goods from one party to another; find gaps in custody, and other seals."""
    begin(entry)
    quantity = quantity_of(action, entry.terms)
    giver, taker = _holding(entry, action.from_party_id), _holding(entry, action.to_party_id)
    if giver.quantity < quantity:
        notes.add(
            Rule.CUSTODY_GAP,
            f"{giver.party_id} hands over {quantity} {entry.terms.unit} of {action.delivery_id} "
            f"and has {max(giver.quantity, 0)} on record",
        )
    _compare_seals(giver.party_id, giver.received_seals, action.seal_numbers, notes)
    if taker.quantity < 0:  # it handed on what reaches it only now, by the order of commits
        _compare_seals(taker.party_id, action.seal_numbers, taker.given_seals, notes)
    giver.quantity = max(giver.quantity - quantity, -HELD_MAX)
    taker.quantity = min(taker.quantity + quantity, HELD_MAX)
    giver.given_seals[:] = action.seal_numbers
    taker.received_seals[:] = action.seal_numbers
    _sum_up(entry, action, quantity)
    entry.custodian_id = _custodian(entry)


def _compare_seals(
    party_id: str, received: Sequence[str], given: Sequence[str], notes: Notes
) -> None:
    """Find that goods leave a party's hands under other seals than they came under, or none."""
    if received and set(received) != set(given):
        notes.add(
            Rule.SEAL_NUMBER_DIFFERS,
            f"{party_id} received {notes.delivery_id} under seals {', '.join(sorted(received))} "
            f"and hands it over under {', '.join(sorted(given)) or 'none'}",
        )


def _sum_up(entry: Delivery, action: HandOver, quantity: int) -> None:
    terms = entry.terms
    if action.to_party_id == terms.seller_id:
        entry.returned_quantity = min(entry.returned_quantity + quantity, HELD_MAX)
    elif action.from_party_id == terms.seller_id:
        entry.sent_quantity = min(entry.sent_quantity + quantity, HELD_MAX)
    if action.to_party_id == terms.buyer_id:
        entry.received_quantity = min(entry.received_quantity + quantity, HELD_MAX)


def _custodian(entry: Delivery) -> str:
    """Return the party that has all of the goods, or "" while they are divided.

    After a gap, several may have them on record. The one nearest to the buyer then has them.
    """
    has = {each.party_id: each.quantity for each in entry.holdings}
    whole = whole_of(entry.terms)
    along = reversed(parties_of(entry.terms))
    return next((party_id for party_id in along if has.get(party_id, 0) >= whole), "")


def _holding(entry: Delivery, party_id: str) -> Holding:
    for each in entry.holdings:
        if each.party_id == party_id:
            return each
    return entry.holdings.add(party_id=party_id)
