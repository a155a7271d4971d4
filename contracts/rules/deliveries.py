"""Deliveries under version 1.0: terms that seller and buyer sign, and how a delivery ends.

Version 1.1 has rules of its own for the same actions (contracts/rules/agreements.py).
"""

from contracts import address
from contracts.proto.payload_pb2 import (
    BUYER,
    CARRIER,
    RELEASED,
    SELLER,
    WITHHELD,
    AcceptDelivery,
    CloseDelivery,
    DisputeDelivery,
    OpenDelivery,
    Payment,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules.case import EVENT_DELIVERY, Case, co_sign, invalid
from contracts.rules.context import InvalidTransactionError
from contracts.rules.ids import Rule
from contracts.rules.parties import require_role


def open_delivery(action: OpenDelivery, case: Case) -> None:
    """Sign a delivery's terms; it is open once seller and buyer have signed the same terms."""
    signed_by = seller_or_buyer(action, case)
    require_role(case, action.seller_id, SELLER)
    require_role(case, action.carrier_id, CARRIER)
    require_role(case, action.buyer_id, BUYER)
    entry = case.load(address.delivery(action.delivery_id), Delivery) or Delivery()
    what = f"delivery {action.delivery_id}"
    if co_sign(what, entry.terms, action, entry.signed_by, signed_by):
        # A handover may have moved the goods before both had signed.
        entry.custodian_id = entry.custodian_id or action.seller_id
        move(case, entry, Delivery.OPEN)
    else:
        move(case, entry, Delivery.OFFERED)


def accept_delivery(action: AcceptDelivery, case: Case) -> None:
    """Accept the goods; the buyer signs, also after its own dispute."""
    entry = known_delivery(case, action.delivery_id)
    buyer_id = entry.terms.buyer_id
    case.require_party(buyer_id)
    own_dispute = entry.status == Delivery.DISPUTED and entry.disputed_by == buyer_id
    if entry.status != Delivery.DELIVERED and not own_dispute:
        raise _wrong_state(entry, "delivered, or disputed by the buyer,")
    # A signature on how to settle the dispute is void once the dispute has ended another way.
    entry.ClearField("closing")
    del entry.closing_signed_by[:]
    move(case, entry, Delivery.ACCEPTED, RELEASED)


def dispute_delivery(action: DisputeDelivery, case: Case) -> None:
    """Dispute a delivery in transit or delivered; buyer or seller signs and gives the reason."""
    entry = known_delivery(case, action.delivery_id)
    signed_by = seller_or_buyer(entry.terms, case)
    if entry.status not in (Delivery.IN_TRANSIT, Delivery.DELIVERED):
        raise _wrong_state(entry, "in transit or delivered")
    entry.dispute.CopyFrom(action)
    entry.disputed_by = signed_by
    move(case, entry, Delivery.DISPUTED, WITHHELD)


def close_delivery(action: CloseDelivery, case: Case) -> None:
    """Close a delivery, once seller and buyer have signed the same action."""
    entry = known_delivery(case, action.delivery_id)
    signed_by = seller_or_buyer(entry.terms, case)
    if entry.status not in (Delivery.ACCEPTED, Delivery.DISPUTED):
        raise _wrong_state(entry, "accepted or disputed")
    if entry.status == Delivery.ACCEPTED and action.payment != RELEASED:
        raise invalid(
            Rule.PAYMENT_DIFFERS,
            f"the payment of {action.delivery_id} was released, not {payment_name(action.payment)}",
        )
    what = f"the end of {action.delivery_id}"
    if co_sign(what, entry.closing, action, entry.closing_signed_by, signed_by):
        move(case, entry, Delivery.CLOSED, action.payment)
    else:
        case.store(address.delivery(action.delivery_id), entry)


def known_delivery(case: Case, delivery_id: str) -> Delivery:
    """Return the delivery `delivery_id`.

    Raises:
        InvalidTransactionError: The delivery does not exist.
    """
    entry = case.load(address.delivery(delivery_id), Delivery)
    if entry is None:
        raise invalid(Rule.UNKNOWN_DELIVERY, f"delivery {delivery_id!r} does not exist")
    return entry


def seller_or_buyer(terms: OpenDelivery, case: Case) -> str:
    """Return the party that signed.

    Raises:
        InvalidTransactionError: The party is neither side of the terms.
    """
    signed_by = case.party_id()
    if signed_by not in (terms.seller_id, terms.buyer_id):
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"signed by {signed_by}, must be seller {terms.seller_id} or buyer {terms.buyer_id}",
        )
    return signed_by


def move(
    case: Case, entry: Delivery, status: Delivery.Status, payment: Payment | None = None
) -> None:
    """Set a delivery's status, write it, and add an event."""
    entry.status = status
    if payment is not None:
        entry.payment = payment
    case.store(address.delivery(entry.terms.delivery_id), entry)
    case.event(
        EVENT_DELIVERY,
        entry,
        delivery_id=entry.terms.delivery_id,
        status=status_name(entry.status),
        payment=payment_name(entry.payment),
    )


def status_name(status: Delivery.Status) -> str:
    """Return a delivery's status as events and messages show it, such as `in-transit`."""
    return Delivery.Status.Name(status).lower().replace("_", "-")


def payment_name(payment: Payment) -> str:
    """Return a payment's status as events and messages show it, such as `released`."""
    return Payment.Name(payment).lower().removeprefix("payment_")


def _wrong_state(entry: Delivery, wanted: str) -> InvalidTransactionError:
    return invalid(
        Rule.WRONG_STATE,
        f"delivery {entry.terms.delivery_id} must be {wanted} and is {status_name(entry.status)}",
    )
