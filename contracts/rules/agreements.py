"""What parties agree on about a delivery, under version 1.1: its terms, and how it ends.

The table in contracts/rules/life.py says which words a state allows, who says
them, and what follows.
"""

from contracts import address
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    BUYER,
    CARRIER,
    SELLER,
    AcceptDelivery,
    CancelDelivery,
    CloseDelivery,
    DisputeDelivery,
    OpenDelivery,
    Payment,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules import custody
from contracts.rules.blocktimes import latest_block_s
from contracts.rules.case import Case, Notes, co_sign, invalid
from contracts.rules.consignment import check_consignment
from contracts.rules.deliveries import (
    known_delivery,
    move,
    payment_name,
    seller_or_buyer,
    status_name,
)
from contracts.rules.ids import Rule
from contracts.rules.life import FLOWING, LIFE, PAYMENT_OF, Facts, Step, Word, states_of
from contracts.rules.parties import require_role


def open_delivery(action: OpenDelivery, case: Case) -> None:
    """Sign a delivery's terms; once both have signed, its state follows from what happened."""
    signed_by = seller_or_buyer(action, case)
    require_role(case, action.seller_id, SELLER)
    for carrier_id in custody.carriers_of(action):
        require_role(case, carrier_id, CARRIER)
    require_role(case, action.buyer_id, BUYER)
    if action.authority_id:
        require_role(case, action.authority_id, AUTHORITY)
    entry = case.load(address.delivery(action.delivery_id), Delivery) or Delivery()
    if not Facts.of(entry).agreed:  # an offer that ended stays ended
        step_of(entry, Word.OPEN)
    if custody.is_moved(entry) and action != entry.terms:
        raise invalid(
            Rule.TERMS_DIFFER, f"goods of {action.delivery_id} changed hands under other terms"
        )
    what = f"delivery {action.delivery_id}"
    if co_sign(what, entry.terms, action, entry.signed_by, signed_by):
        custody.begin(entry)
        void_half_signed(entry)
        del entry.announced[:]  # a notice on the offer gave nobody time to end what now begins
        entry.agreed_at_s = latest_block_s(case)
        notes = Notes(case, delivery_id=action.delivery_id)
        check_consignment(entry, notes)
        entry.findings.extend(notes.found)
        notes.announce()
    follow_facts(entry, case)


def accept_delivery(action: AcceptDelivery, case: Case) -> None:
    """Accept what was delivered; the buyer signs, also after its own dispute."""
    entry = standing(case, action.delivery_id)
    step = step_of(entry, Word.ACCEPT)
    buyer_id = entry.terms.buyer_id
    case.require_party(buyer_id)
    if entry.status == Delivery.DISPUTED and entry.disputed_by != buyer_id:
        raise invalid(
            Rule.WRONG_STATE, f"{entry.disputed_by} disputed {action.delivery_id}, not the buyer"
        )
    entry.accepted_quantity = action.received_quantity
    notes = Notes(case, delivery_id=action.delivery_id)
    _compare_quantities(entry, notes)
    entry.findings.extend(notes.found)
    take(entry, step, step.payments[0], case)
    notes.announce()


def dispute_delivery(action: DisputeDelivery, case: Case) -> None:
    """Dispute a delivery that is open, on its way or delivered; buyer or seller signs."""
    entry = standing(case, action.delivery_id)
    signed_by = seller_or_buyer(entry.terms, case)
    step = step_of(entry, Word.DISPUTE)
    entry.dispute.CopyFrom(action)
    entry.disputed_by = signed_by
    take(entry, step, step.payments[0], case)


def cancel_delivery(action: CancelDelivery, case: Case) -> None:
    """Cancel a delivery, once seller and buyer have signed the same action.

    A party that alone signed an offer withdraws it alone, unless goods have changed hands.
    """
    entry = standing(case, action.delivery_id)
    signed_by = seller_or_buyer(entry.terms, case)
    step = step_of(entry, Word.CANCEL)
    offered_alone = entry.status == Delivery.OFFERED and not custody.is_moved(entry)
    if offered_alone and signed_by in entry.signed_by:
        entry.cancelling.CopyFrom(action)
        entry.cancelling_signed_by[:] = [signed_by]
        take(entry, step, step.payments[0], case)
        return
    what = f"the cancellation of {action.delivery_id}"
    if co_sign(what, entry.cancelling, action, entry.cancelling_signed_by, signed_by):
        take(entry, step, step.payments[0], case)
    else:
        case.store(address.delivery(action.delivery_id), entry)


def close_delivery(action: CloseDelivery, case: Case) -> None:
    """Close a delivery, once seller and buyer have signed the same action."""
    entry = standing(case, action.delivery_id)
    signed_by = seller_or_buyer(entry.terms, case)
    step = step_of(entry, Word.CLOSE)
    check_payment(step, action.payment, entry)
    what = f"the end of {action.delivery_id}"
    if co_sign(what, entry.closing, action, entry.closing_signed_by, signed_by):
        take(entry, step, action.payment, case)
    else:
        case.store(address.delivery(action.delivery_id), entry)


def standing(case: Case, delivery_id: str) -> Delivery:
    """Return a delivery as it stands under version 1.1.

    Version 1.0 left some where they were, although the buyer had the goods.

    Raises:
        InvalidTransactionError: The delivery does not exist.
    """
    entry = known_delivery(case, delivery_id)
    refresh(entry)
    return entry


def refresh(entry: Delivery) -> None:
    """Bring an entry that version 1.0 wrote to where its facts are."""
    if not entry.holdings and entry.status in FLOWING:
        custody.begin(entry)
        entry.status = Facts.of(entry).status()
        entry.payment = PAYMENT_OF[entry.status]


def step_of(entry: Delivery, word: Word) -> Step:
    """Return what follows when a word is said about a delivery as it stands.

    Raises:
        InvalidTransactionError: The delivery's state does not allow the word.
    """
    step = LIFE[entry.status].get(word)
    if step is None:
        wanted = ", ".join(status_name(each) for each in states_of(word) if each)
        raise invalid(
            Rule.WRONG_STATE,
            f"delivery {entry.terms.delivery_id} is {status_name(entry.status)}; "
            f"{word.value} is possible when it is {wanted}",
        )
    return step


def check_payment(step: Step, payment: Payment, entry: Delivery) -> None:
    """Check that a delivery may end with a payment.

    Raises:
        InvalidTransactionError: The delivery's state does not allow the payment.
    """
    if payment not in step.payments:
        possible = " or ".join(map(payment_name, step.payments))
        raise invalid(
            Rule.PAYMENT_DIFFERS,
            f"the payment of {entry.terms.delivery_id}, which is {status_name(entry.status)}, "
            f"can be {possible}, not {payment_name(payment)}",
        )


def take(entry: Delivery, step: Step, payment: Payment, case: Case) -> None:
    """Move a delivery into the state that follows a word."""
    void_half_signed(entry, except_for=step.word)
    move(case, entry, step.to, payment)


def follow_facts(entry: Delivery, case: Case) -> None:
    """Write a delivery, in the state that follows from its facts; add an event if it changed."""
    status = Facts.of(entry).status()
    if status != entry.status or status == Delivery.OFFERED:
        move(case, entry, status, PAYMENT_OF[status])
    else:
        case.store(address.delivery(entry.terms.delivery_id), entry)


def keep_facts(entry: Delivery, case: Case) -> None:
    """Write a delivery after a trip or a handover, in the state that follows, if one does."""
    if entry.status in FLOWING:
        follow_facts(entry, case)
    else:
        case.store(address.delivery(entry.terms.delivery_id), entry)


def void_half_signed(entry: Delivery, except_for: Word | None = None) -> None:
    """Forget an end that only one party has signed: the delivery is no longer as it was."""
    if len(entry.closing_signed_by) == 1 and except_for is not Word.CLOSE:
        entry.ClearField("closing")
        entry.ClearField("closing_signed_by")
    if len(entry.cancelling_signed_by) == 1 and except_for is not Word.CANCEL:
        entry.ClearField("cancelling")
        entry.ClearField("cancelling_signed_by")


def _compare_quantities(entry: Delivery, notes: Notes) -> None:
    """Find that the buyer received another quantity than the one sent, or the one ordered."""
    received = entry.accepted_quantity
    ordered = custody.whole_of(entry.terms)
    sent = entry.sent_quantity - min(entry.returned_quantity, entry.sent_quantity)
    if received and (received != ordered or (entry.sent_quantity and received != sent)):
        notes.add(
            Rule.QUANTITY_DIFFERS,
            f"{received} {entry.terms.unit} received, {sent} sent, {ordered} ordered",
        )
