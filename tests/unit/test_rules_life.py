"""The life of a delivery: the table that the rules run on is the one in docs/contract.md."""

import pytest

from contracts import address
from contracts.actions.table import Action
from contracts.proto.payload_pb2 import (
    PAYMENT_NONE,
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    CancelDelivery,
    CloseDelivery,
    DisputeDelivery,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules.case import EVENT_DELIVERY
from contracts.rules.ids import Rule
from contracts.rules.life import ENDS, LIFE, Word
from support.ledgers.hosts import Host, apply_all, refused, told
from support.network.life import rows
from support.network.world import START_MS, TERMS, Trip, handovers, key, one, registrations
from support.project.pages import ROOT

SELLER, BUYER = key("seller"), key("buyer")
TRIP = Trip()
CANCEL = CancelDelivery(delivery_id="delivery-1", reason="ordered twice", at_ms=START_MS)
ACCEPT = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)
DISPUTE = DisputeDelivery(delivery_id="delivery-1", reason="late", at_ms=START_MS)
WAYS: dict[str, list[Action]] = {"disputed": [DISPUTE], "accepted": [ACCEPT]}
BEFORE_ACCEPTANCE = ["open", "in-transit", "delivered", "disputed"]


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def bring(host: Host, status: str) -> None:
    """Bring the delivery into a state, as it happens in the world."""
    apply_all(host, registrations()[: -1 if status == "offered" else None])
    if status not in ("offered", "open"):
        host.apply(one(TRIP.signer, TRIP.start))
    if status not in ("offered", "open", "in-transit"):
        apply_all(host, handovers(TRIP.trip_id))
    apply_all(host, [one(BUYER, action) for action in WAYS.get(status, [])])


def test_the_page_prints_the_table_that_the_rules_run_on() -> None:
    part = (ROOT / "docs" / "contract.md").read_text("utf-8").split("### Version 1.1", 1)[1]
    head = (
        "| state | what may be said | by | state that follows | payment |\n|---|---|---|---|---|\n"
    )
    table = part.split(head, 1)[1].split("\n\n", 1)[0]
    assert table.splitlines() == list(rows())


def test_every_state_has_its_rows_and_only_ends_have_none() -> None:
    assert set(LIFE) == set(Delivery.Status.values())
    assert {Delivery.CLOSED, Delivery.CANCELLED, Delivery.SETTLED} == ENDS
    for status in set(LIFE) - ENDS - {Delivery.STATUS_UNSET}:
        assert Word.SETTLE in LIFE[status]


@pytest.mark.parametrize("status", BEFORE_ACCEPTANCE)
def test_both_sides_cancel_with_the_same_words_before_acceptance(host: Host, status: str) -> None:
    bring(host, status)
    assert told(EVENT_DELIVERY, host.apply(one(SELLER, CANCEL))) == []
    other = CancelDelivery(delivery_id="delivery-1", reason="I like it less", at_ms=START_MS)
    assert refused(host, one(BUYER, other)) is Rule.TERMS_DIFFER
    assert refused(host, one(key("carrier"), CANCEL)) is Rule.NOT_THE_PARTY
    (said,) = told(EVENT_DELIVERY, host.apply(one(BUYER, CANCEL)))
    assert (said["status"], said["payment"]) == ("cancelled", "none")
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.CANCELLED, PAYMENT_NONE)
    assert list(entry.cancelling_signed_by) == ["seller", "buyer"]
    for action in (ACCEPT, DISPUTE, CANCEL):
        assert refused(host, one(BUYER, action)) is Rule.WRONG_STATE
    assert refused(host, one(BUYER, TERMS)) is Rule.ALREADY_SIGNED


def test_what_was_accepted_is_not_cancelled(host: Host) -> None:
    bring(host, "accepted")
    assert refused(host, one(SELLER, CANCEL)) is Rule.WRONG_STATE


def test_an_offer_is_withdrawn_by_the_party_that_made_it(host: Host) -> None:
    bring(host, "offered")
    host.apply(one(SELLER, CANCEL))
    assert delivery(host).status == Delivery.CANCELLED
    for name in ("seller", "buyer"):
        assert refused(host, one(key(name), TERMS)) is Rule.WRONG_STATE


def test_an_offer_is_not_withdrawn_by_the_other_side_alone(host: Host) -> None:
    bring(host, "offered")
    host.apply(one(BUYER, CANCEL))
    assert delivery(host).status == Delivery.OFFERED
    host.apply(one(SELLER, CANCEL))
    assert delivery(host).status == Delivery.CANCELLED


def test_goods_under_an_offer_bind_its_words_and_the_party_that_made_it(host: Host) -> None:
    bring(host, "offered")
    apply_all(host, handovers(TRIP.trip_id))
    laxer = type(TERMS)()
    laxer.CopyFrom(TERMS)
    laxer.quantity = 1
    assert refused(host, one(SELLER, laxer)) is Rule.TERMS_DIFFER
    host.apply(one(SELLER, CANCEL))
    assert delivery(host).status == Delivery.OFFERED
    host.apply(one(BUYER, TERMS))
    assert delivery(host).status == Delivery.DELIVERED


@pytest.mark.parametrize("word", [CANCEL, None])
def test_an_end_that_one_side_signed_is_void_once_the_delivery_moved_on(
    host: Host, word: CancelDelivery | None
) -> None:
    """Neither side may keep a signature of the other for a day on which it suits better."""
    bring(host, "in-transit" if word else "disputed")
    close = CloseDelivery(delivery_id="delivery-1", payment=WITHHELD, at_ms=START_MS)
    host.apply(one(SELLER, word or close))
    apply_all(host, handovers(TRIP.trip_id)[: None if word else 0])
    if word is None:
        host.apply(one(BUYER, ACCEPT))
    entry = delivery(host)
    assert not entry.HasField("cancelling")
    assert not entry.HasField("closing")
    if word:
        host.apply(one(BUYER, CANCEL))
        assert delivery(host).status == Delivery.DELIVERED


def test_an_accepted_delivery_closes_with_its_payment_only(host: Host) -> None:
    bring(host, "accepted")
    held = CloseDelivery(delivery_id="delivery-1", payment=WITHHELD, at_ms=START_MS)
    assert refused(host, one(SELLER, held)) is Rule.PAYMENT_DIFFERS
    paid = CloseDelivery(delivery_id="delivery-1", payment=RELEASED, at_ms=START_MS)
    apply_all(host, [one(SELLER, paid), one(BUYER, paid)])
    assert delivery(host).status == Delivery.CLOSED
