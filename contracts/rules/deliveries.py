"""Deliveries: terms that both sides sign, and the end that they come to."""

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
    """Sign a delivery's terms; it is open once seller and buyer signed the very same ones."""
    signed_by = case.party_id()
    if signed_by not in (action.seller_id, action.buyer_id):
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"signed by {signed_by}, must be seller {action.seller_id} or buyer {action.buyer_id}",
        )
    require_role(case, action.seller_id, SELLER)
    require_role(case, action.carrier_id, CARRIER)
    require_role(case, action.buyer_id, BUYER)
    entry = case.load(address.delivery(action.delivery_id), Delivery) or Delivery()
    what = f"delivery {action.delivery_id}"
    if co_sign(what, entry.terms, action, entry.signed_by, signed_by):
        # Before both signed, a handover may have moved the goods already.
        entry.custodian_id = entry.custodian_id or action.seller_id
        move(case, entry, Delivery.OPEN)
    else:
        move(case, entry, Delivery.OFFERED)


def accept_delivery(action: AcceptDelivery, case: Case) -> None:
    """Take the goods for good; the buyer signs, also when it was the buyer who disputed."""
    entry = known_delivery(case, action.delivery_id)
    buyer_id = entry.terms.buyer_id
    case.require_party(buyer_id)
    own_dispute = entry.status == Delivery.DISPUTED and entry.disputed_by == buyer_id
    if entry.status != Delivery.DELIVERED and not own_dispute:
        raise _wrong_state(entry, "delivered, or disputed by the buyer,")
    # Words on how the dispute was to end mean nothing once it has ended another way.
    entry.ClearField("closing")
    del entry.closing_signed_by[:]
    move(case, entry, Delivery.ACCEPTED, RELEASED)


def dispute_delivery(action: DisputeDelivery, case: Case) -> None:
    """Contest a delivery under way or delivered; buyer or seller signs, and gives the reason."""
    entry = known_delivery(case, action.delivery_id)
    signed_by = _seller_or_buyer(entry, case)
    if entry.status not in (Delivery.IN_TRANSIT, Delivery.DELIVERED):
        raise _wrong_state(entry, "in transit or delivered")
    entry.dispute.CopyFrom(action)
    entry.disputed_by = signed_by
    move(case, entry, Delivery.DISPUTED, WITHHELD)


def close_delivery(action: CloseDelivery, case: Case) -> None:
    """End a delivery for good, once seller and buyer signed the very same words."""
    entry = known_delivery(case, action.delivery_id)
    signed_by = _seller_or_buyer(entry, case)
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
        InvalidTransactionError: There is none.
    """
    entry = case.load(address.delivery(delivery_id), Delivery)
    if entry is None:
        raise invalid(Rule.UNKNOWN_DELIVERY, f"delivery {delivery_id!r} does not exist")
    return entry


def move(
    case: Case, entry: Delivery, status: Delivery.Status, payment: Payment | None = None
) -> None:
    """Bring a delivery into another state, keep it, and announce the change."""
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
    """Return a delivery's state in the words of events and messages, such as `in-transit`."""
    return Delivery.Status.Name(status).lower().replace("_", "-")


def payment_name(payment: Payment) -> str:
    """Return what is recorded of a payment in the words of events and messages."""
    return Payment.Name(payment).lower().removeprefix("payment_")


def _seller_or_buyer(entry: Delivery, case: Case) -> str:
    signed_by = case.party_id()
    sides = (entry.terms.seller_id, entry.terms.buyer_id)
    if signed_by not in sides:
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"signed by {signed_by}, must be seller {sides[0]} or buyer {sides[1]}",
        )
    return signed_by


def _wrong_state(entry: Delivery, wanted: str) -> InvalidTransactionError:
    return invalid(
        Rule.WRONG_STATE,
        f"delivery {entry.terms.delivery_id} must be {wanted} and is {status_name(entry.status)}",
    )
