"""A delivery's states under version 1.0: whatever is signed, it moves as the contract says.

Version 1.1: test_contracts_life.py.
"""

from collections.abc import Callable
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from contracts import address
from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import (
    DUE,
    PAYMENT_NONE,
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    CloseDelivery,
    DisputeDelivery,
    HandOver,
    Payment,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules.case import EVENT_DELIVERY
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import DirectHost, apply_all, refused, told
from support.network.world import START_MS, TERMS, Trip, key, one, registrations

Step = Callable[[], object]
OLD: Final = RulesVersion.V1_0
PARTIES: Final = ["seller", "carrier", "buyer"]
parties = st.sampled_from(PARTIES)
MOVES: Final = {
    ("", "offered"): {"seller", "buyer"},
    ("offered", "open"): {"seller", "buyer"},
    ("open", "in-transit"): {"truck-1"},
    ("open", "delivered"): set(PARTIES),
    ("in-transit", "delivered"): set(PARTIES),
    ("in-transit", "disputed"): {"seller", "buyer"},
    ("delivered", "disputed"): {"seller", "buyer"},
    ("delivered", "accepted"): {"buyer"},
    ("disputed", "accepted"): {"buyer"},
    ("accepted", "closed"): {"seller", "buyer"},
    ("disputed", "closed"): {"seller", "buyer"},
}
"""Every way from state to state, and whose signature can complete it."""
PAID: Final = {
    "": {PAYMENT_NONE},
    "offered": {PAYMENT_NONE},
    "open": {PAYMENT_NONE},
    "in-transit": {PAYMENT_NONE},
    "delivered": {DUE},
    "accepted": {RELEASED},
    "disputed": {WITHHELD},
    "closed": {RELEASED, WITHHELD},
}


class DeliveryStates(RuleBasedStateMachine):
    """One delivery, its parties, and what the table above allows."""

    def __init__(self) -> None:
        super().__init__()
        self.host = DirectHost()
        self.trips: list[Trip] = []
        self.hands: dict[tuple[str, ...], list[tuple[str, HandOver]]] = {}
        self.custodian = ""
        self.disputed_by = ""
        self.ends: list[tuple[str, CloseDelivery]] = []

    @initialize(steps=st.integers(0, 7), disputing=st.sampled_from(["", "seller", "buyer"]))
    def begin(self, steps: int, disputing: str) -> None:
        """Go some way along the usual path, since chance alone would rarely get far."""
        apply_all(self.host, registrations(OLD)[:-2])
        path: list[Step] = [
            lambda: self.open("seller"),
            lambda: self.open("buyer"),
            self.depart,
            lambda: self.hand_over(["seller", "carrier"], "seller", "carrier", "site-seller", 0, 0),
            lambda: self.hand_over(["carrier", "buyer"], "carrier", "buyer", "site-buyer", 0, 0),
            lambda: self.dispute(disputing) if disputing else self.accept("buyer"),
            lambda: self.close("seller", RELEASED, 0),
        ]
        for step in path[:steps]:
            step()

    def entry(self) -> Delivery:
        return Delivery.FromString(self.host.state(address.delivery("delivery-1")) or b"")

    def status(self) -> str:
        status = self.entry().status
        return Delivery.Status.Name(status).lower().replace("_", "-") if status else ""

    def sign(self, signer: str, action: Action) -> Rule | None:
        """Let a party sign; return the rule that refuses it, if one does."""
        before, batch = self.status(), one(key(signer), action, version=OLD)
        try:
            events = self.host.apply(batch)
        except RejectedError:
            return refused(self.host, batch)
        after = self.status()
        said = told(EVENT_DELIVERY, events)
        if after == before:
            assert said == []
        else:
            assert signer in MOVES[before, after]
            assert [each["status"] for each in said] == [after]
            payment = Payment.Name(self.entry().payment).lower().removeprefix("payment_")
            assert said[0]["payment"] == payment
        return None

    @rule(signer=parties)
    def open(self, signer: str) -> None:
        before = list(self.entry().signed_by)
        found = self.sign(signer, TERMS)
        allowed = signer != "carrier" and signer not in before
        assert (found is None) == allowed
        if allowed and before:
            self.custodian = self.custodian or "seller"

    @rule()
    def depart(self) -> None:
        before = self.status()
        trip = Trip(nonce=len(self.trips).to_bytes(16, "big"))
        assert self.sign("truck-1", trip.start) is None
        self.trips.append(trip)
        assert self.status() == ("in-transit" if before == "open" else before)

    @rule(
        signers=st.lists(parties, min_size=1, max_size=2),
        giver=parties,
        taker=parties,
        site=st.sampled_from(["site-seller", "site-buyer"]),
        number=st.integers(0, 2),
        late=st.integers(0, 1),
    )
    def hand_over(  # one argument for each thing that may differ
        self, signers: list[str], giver: str, taker: str, site: str, number: int, late: int
    ) -> None:
        trip_id = Trip(nonce=number.to_bytes(16, "big")).trip_id
        terms = HandOver(
            trip_id=trip_id,
            delivery_id="delivery-1",
            site_id=site,
            from_party_id=giver,
            to_party_id=taker,
            at_ms=START_MS + late,
        )
        for signer in signers:
            signed = self.hands.setdefault((trip_id, site, giver, taker), [])
            if self.sign(signer, terms) is None:
                if signed and signed[0][1] != terms:  # corrected, while nobody else had agreed
                    assert signed.pop()[0] == signer
                    assert signed == []
                signed.append((signer, terms))
                assert signer in (giver, taker)
                assert len({who for who, _ in signed}) == len(signed)
                if len(signed) == 2:
                    self.custodian = taker

    @rule(signer=parties)
    def accept(self, signer: str) -> None:
        before = self.status()
        found = self.sign(signer, AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS))
        ready = before == "delivered" or (before == "disputed" and self.disputed_by == "buyer")
        assert (found is None) == (ready and signer == "buyer")
        if found is None:
            self.ends = []

    @rule(signer=parties)
    def dispute(self, signer: str) -> None:
        before = self.status()
        action = DisputeDelivery(delivery_id="delivery-1", reason="warm", at_ms=START_MS)
        found = self.sign(signer, action)
        allowed = before in ("in-transit", "delivered") and signer != "carrier"
        assert (found is None) == allowed
        if allowed:
            self.disputed_by = signer

    @rule(signer=parties, payment=st.sampled_from([RELEASED, WITHHELD]), late=st.integers(0, 1))
    def close(self, signer: str, payment: Payment, late: int) -> None:
        before = self.status()
        words = CloseDelivery(delivery_id="delivery-1", payment=payment, at_ms=START_MS + late)
        found = self.sign(signer, words)
        ready = before == "disputed" or (before == "accepted" and payment == RELEASED)
        agreed = (
            not self.ends
            or (self.ends[0][0] == signer and self.ends[0][1] != words)
            or (self.ends[0][0] != signer and self.ends[0][1] == words)
        )
        assert (found is None) == (ready and agreed and signer != "carrier")
        if found is None:
            self.ends = [(signer, words)]
            closes = bool(self.entry().closing_signed_by[1:])
            assert (self.status() == "closed") == closes

    @invariant()
    def payment_follows_from_the_state(self) -> None:
        assert self.entry().payment in PAID[self.status()]

    @invariant()
    def the_goods_are_where_the_hands_say(self) -> None:
        assert self.entry().custodian_id == self.custodian

    @invariant()
    def the_dispute_is_remembered(self) -> None:
        assert self.entry().disputed_by == self.disputed_by


TestDeliveryStates = DeliveryStates.TestCase
TestDeliveryStates.settings = settings(stateful_step_count=30)
