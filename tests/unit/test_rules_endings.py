"""How a delivery ends: accepted, disputed, closed."""

import pytest

from contracts import address
from contracts.actions.table import Action
from contracts.proto.payload_pb2 import (
    DUE,
    PAYMENT_NONE,
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    CloseDelivery,
    DisputeDelivery,
    Payment,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules.case import EVENT_DELIVERY
from contracts.rules.ids import Rule
from support.ledgers.hosts import Host, apply_all, refused, told
from support.network.world import START_MS, TERMS, Trip, handovers, key, one, registrations

SELLER, CARRIER, BUYER = key("seller"), key("carrier"), key("buyer")
TRIP = Trip()
ACCEPT = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)
DISPUTE = DisputeDelivery(delivery_id="delivery-1", reason="warm", at_ms=START_MS)


def close(payment: Payment = RELEASED, at_ms: int = START_MS) -> CloseDelivery:
    return CloseDelivery(delivery_id="delivery-1", payment=payment, at_ms=at_ms)


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def bring(host: Host, status: str) -> None:
    """Bring the delivery into a state, as it happens in the world."""
    ways: dict[str, list[Action]] = {"accepted": [ACCEPT], "disputed": [DISPUTE]}
    known = ["offered", "open", "in-transit", "delivered"]
    steps = known.index(status) if status in known else len(known)
    apply_all(host, registrations()[: -1 if steps == 0 else None])
    if steps > 1:
        host.apply(one(TRIP.signer, TRIP.start))
    if steps > 2:
        apply_all(host, handovers(TRIP.trip_id))
    apply_all(host, [one(BUYER, action) for action in ways.get(status, [])])
    if status == "closed":
        apply_all(host, [one(BUYER, ACCEPT), one(BUYER, close()), one(SELLER, close())])


def test_what_was_delivered_is_accepted_and_paid(host: Host) -> None:
    bring(host, "delivered")
    events = host.apply(one(BUYER, ACCEPT))
    assert (delivery(host).status, delivery(host).payment) == (Delivery.ACCEPTED, RELEASED)
    assert told(EVENT_DELIVERY, events) == [
        {"delivery_id": "delivery-1", "status": "accepted", "payment": "released"}
    ]


@pytest.mark.parametrize("signer", [SELLER, CARRIER, key("truck-1"), key("stranger")])
def test_only_the_buyer_accepts(host: Host, signer: object) -> None:
    assert isinstance(signer, type(SELLER))
    bring(host, "delivered")
    assert refused(host, one(signer, ACCEPT)) is Rule.NOT_THE_PARTY


@pytest.mark.parametrize("status", ["offered", "open", "in-transit", "accepted", "closed"])
def test_what_was_not_delivered_is_not_accepted(host: Host, status: str) -> None:
    bring(host, status)
    assert refused(host, one(BUYER, ACCEPT)) is Rule.WRONG_STATE


@pytest.mark.parametrize("signer", ["seller", "buyer"])
@pytest.mark.parametrize("status", ["in-transit", "delivered"])
def test_a_dispute_withholds_the_payment_and_keeps_the_reason(
    host: Host, status: str, signer: str
) -> None:
    bring(host, status)
    (said,) = told(EVENT_DELIVERY, host.apply(one(key(signer), DISPUTE)))
    assert (said["status"], said["payment"]) == ("disputed", "withheld")
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.DISPUTED, WITHHELD)
    assert (entry.dispute, entry.disputed_by) == (DISPUTE, signer)


@pytest.mark.parametrize("status", ["offered", "accepted", "disputed", "closed"])
def test_what_is_not_open_or_has_ended_is_not_disputed(host: Host, status: str) -> None:
    bring(host, status)
    assert refused(host, one(BUYER, DISPUTE)) is Rule.WRONG_STATE


def test_only_seller_and_buyer_dispute_and_close(host: Host) -> None:
    bring(host, "delivered")
    assert refused(host, one(CARRIER, DISPUTE)) is Rule.NOT_THE_PARTY
    host.apply(one(BUYER, ACCEPT))
    assert refused(host, one(CARRIER, close())) is Rule.NOT_THE_PARTY


def test_who_disputed_may_accept_after_all_and_nobody_else(host: Host) -> None:
    bring(host, "disputed")
    host.apply(one(BUYER, ACCEPT))
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.ACCEPTED, RELEASED)
    assert entry.dispute == DISPUTE


def test_what_the_seller_disputes_the_buyer_cannot_settle_alone(host: Host) -> None:
    bring(host, "delivered")
    host.apply(one(SELLER, DISPUTE))
    assert refused(host, one(BUYER, ACCEPT)) is Rule.WRONG_STATE


def test_a_disputed_delivery_stays_disputed_when_it_arrives(host: Host) -> None:
    bring(host, "in-transit")
    host.apply(one(BUYER, DISPUTE))
    apply_all(host, handovers(TRIP.trip_id))
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.DISPUTED, WITHHELD)
    assert entry.custodian_id == "buyer"


@pytest.mark.parametrize(
    ("status", "payment"),
    [("accepted", RELEASED), ("disputed", RELEASED), ("disputed", WITHHELD)],
)
def test_both_sides_close_with_the_same_words(host: Host, status: str, payment: Payment) -> None:
    bring(host, status)
    assert told(EVENT_DELIVERY, host.apply(one(SELLER, close(payment)))) == []
    assert delivery(host).status != Delivery.CLOSED
    assert refused(host, one(SELLER, close(payment))) is Rule.ALREADY_SIGNED
    assert refused(host, one(BUYER, close(payment, START_MS + 1))) is Rule.TERMS_DIFFER
    (said,) = told(EVENT_DELIVERY, host.apply(one(BUYER, close(payment))))
    assert said["status"] == "closed"
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.CLOSED, payment)
    assert list(entry.closing_signed_by) == ["seller", "buyer"]


def test_who_alone_signed_the_end_may_correct_it(host: Host) -> None:
    bring(host, "disputed")
    host.apply(one(SELLER, close(RELEASED)))
    host.apply(one(SELLER, close(WITHHELD)))
    assert refused(host, one(BUYER, close(RELEASED))) is Rule.TERMS_DIFFER
    host.apply(one(BUYER, close(WITHHELD)))
    assert delivery(host).payment == WITHHELD


def test_words_on_a_dispute_that_ended_otherwise_bind_nobody(host: Host) -> None:
    bring(host, "disputed")
    host.apply(one(SELLER, close(WITHHELD)))
    host.apply(one(BUYER, ACCEPT))
    apply_all(host, [one(BUYER, close()), one(SELLER, close())])
    assert delivery(host).status == Delivery.CLOSED


def test_what_was_paid_is_not_withheld(host: Host) -> None:
    bring(host, "accepted")
    assert refused(host, one(SELLER, close(WITHHELD))) is Rule.PAYMENT_DIFFERS


@pytest.mark.parametrize("status", ["offered", "open", "in-transit", "delivered", "closed"])
def test_what_is_neither_accepted_nor_disputed_is_not_closed(host: Host, status: str) -> None:
    bring(host, status)
    assert refused(host, one(SELLER, close())) is Rule.WRONG_STATE


@pytest.mark.parametrize("action", [ACCEPT, DISPUTE, close()])
def test_a_delivery_that_does_not_exist_has_no_end(host: Host, action: Action) -> None:
    apply_all(host, registrations()[:-2])
    assert refused(host, one(SELLER, action)) is Rule.UNKNOWN_DELIVERY


NOT_WELL_FORMED: list[Action] = [
    AcceptDelivery(delivery_id="a b"),
    AcceptDelivery(delivery_id="delivery-1", at_ms=(1 << 64) - 1),
    DisputeDelivery(delivery_id="delivery-1"),
    DisputeDelivery(delivery_id="delivery-1", reason="x" * 201),
    DisputeDelivery(delivery_id="delivery-1", reason="a\nb"),
    CloseDelivery(delivery_id="delivery-1"),
    close(PAYMENT_NONE),
    close(DUE),
    close(9),  # type: ignore[arg-type] # as from the wire
    CloseDelivery(delivery_id="", payment=RELEASED),
]


@pytest.mark.parametrize("action", NOT_WELL_FORMED, ids=range(len(NOT_WELL_FORMED)))
def test_what_is_not_well_formed_is_refused(host: Host, action: Action) -> None:
    bring(host, "delivered")
    assert refused(host, one(BUYER, action)) is Rule.FORM


def test_the_terms_stay_what_they_were(host: Host) -> None:
    bring(host, "closed")
    assert delivery(host).terms == TERMS
    assert refused(host, one(SELLER, TERMS)) is Rule.ALREADY_SIGNED
