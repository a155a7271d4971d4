"""A delivery's life: it moves as the table says, and an end can be reached from everywhere."""

from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import (
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    AnnounceSettlement,
    CancelDelivery,
    CloseDelivery,
    DisputeDelivery,
    Payment,
    SettleDelivery,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules.custody import parties_of
from contracts.rules.ids import Rule
from contracts.rules.life import ENDS, LIFE, PAYMENT_OF, Word
from contracts.rules.settling import NOTICE_MS
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import DirectHost, apply_all
from support.network.chains import (
    DEADLINE_MS,
    chain_registrations,
    chain_terms,
    first_leg,
    hands,
    second_leg,
)
from support.network.wayout import delivery_of, way_out
from support.network.world import START_MS, TERMS, Trip, delivering, key, one, registrations

PARTIES: Final = ["seller", "carrier", "haulier", "store", "buyer"]
AUTHORITIES: Final = ["court", "customs"]
LEFT: Final = [["court", "customs"], ["seller", "buyer"]]
"""Both sides gone, or every authority: any other rest of the parties has one of these in it."""
TIMES: Final = st.sampled_from([START_MS, DEADLINE_MS, DEADLINE_MS + NOTICE_MS])
signers = st.sampled_from(PARTIES)
quantities = st.sampled_from([0, 40, 60, 100, 200])


class Life(RuleBasedStateMachine):
    """One delivery, all of its parties, and everything that they may say."""

    def __init__(self) -> None:
        super().__init__()
        self.host = DirectHost()
        self.trips = [first_leg(), second_leg()]
        self.terms = chain_terms()

    @initialize(
        deadline=st.sampled_from([0, DEADLINE_MS]),
        authority=st.sampled_from(["", "court"]),
        signed=st.sampled_from([(), ("seller",), ("buyer",), ("seller", "buyer")]),
    )
    def begin(self, deadline: int, authority: str, signed: tuple[str, ...]) -> None:
        self.terms = chain_terms(deadline, authority)
        apply_all(self.host, chain_registrations(self.terms, signed))

    def say(self, word: Word | None, signer: str, action: Action) -> None:
        """Sign something; where the state changes, it changes as the table says."""
        before = delivery_of(self.host)
        try:
            self.host.apply(one(key(signer), action))
        except RejectedError as error:
            Rule(str(error).split(":", 1)[0])
            return
        after = delivery_of(self.host)
        if after.status == before.status:
            assert after.payment == before.payment
            return
        assert word is not None
        step = LIFE[before.status][word]
        if step.to:
            assert after.status == step.to
            assert after.payment in (step.payments or (PAYMENT_OF[after.status],))
        else:
            assert after.payment == PAYMENT_OF[after.status]

    @rule(signer=signers)
    def open(self, signer: str) -> None:
        self.say(Word.OPEN, signer, self.terms)

    @rule(at=st.integers(0, 1))
    def start(self, at: int) -> None:
        self.say(Word.START, self.trips[at].device_id, self.trips[at].start)

    @rule(
        giver=signers,
        taker=signers,
        quantity=quantities,
        at=st.integers(0, 1),
        both=st.booleans(),
        site=st.sampled_from(["site-hub", "site-buyer"]),
    )
    def hand_over(  # one argument for each thing that may differ
        self, giver: str, taker: str, quantity: int, at: int, site: str, *, both: bool
    ) -> None:
        back = giver == "buyer" or taker == "seller"
        action = hands(self.trips[at], giver, taker, site, quantity, returned=back)
        for signer in (giver, taker)[: 2 if both else 1]:
            self.say(Word.HAND_OVER, signer, action)

    @rule(signer=signers, received=quantities)
    def accept(self, signer: str, received: int) -> None:
        action = AcceptDelivery(
            delivery_id="delivery-1", at_ms=START_MS, received_quantity=received
        )
        self.say(Word.ACCEPT, signer, action)

    @rule(signer=signers)
    def dispute(self, signer: str) -> None:
        action = DisputeDelivery(delivery_id="delivery-1", reason="warm", at_ms=START_MS)
        self.say(Word.DISPUTE, signer, action)

    @rule(signer=signers, reason=st.sampled_from(["twice", "late"]))
    def cancel(self, signer: str, reason: str) -> None:
        action = CancelDelivery(delivery_id="delivery-1", reason=reason, at_ms=START_MS)
        self.say(Word.CANCEL, signer, action)

    @rule(signer=signers, payment=st.sampled_from([RELEASED, WITHHELD]))
    def close(self, signer: str, payment: Payment) -> None:
        action = CloseDelivery(delivery_id="delivery-1", payment=payment, at_ms=START_MS)
        self.say(Word.CLOSE, signer, action)

    @rule(name=st.sampled_from(AUTHORITIES), at_ms=TIMES)
    def announce(self, name: str, at_ms: int) -> None:
        action = AnnounceSettlement(
            delivery_id="delivery-1", authority_id=name, reason="notice", at_ms=at_ms
        )
        self.say(None, name, action)

    @rule(
        name=st.sampled_from(AUTHORITIES),
        at_ms=TIMES,
        payment=st.sampled_from([RELEASED, WITHHELD]),
    )
    def settle(self, name: str, at_ms: int, payment: Payment) -> None:
        action = SettleDelivery(
            delivery_id="delivery-1",
            authority_id=name,
            payment=payment,
            reason="enough",
            at_ms=at_ms,
        )
        self.say(Word.SETTLE, name, action)

    @invariant()
    def what_the_parties_have_adds_up_to_the_delivery(self) -> None:
        entry = delivery_of(self.host)
        whole = entry.terms.quantity if entry.holdings else 0
        assert sum(each.quantity for each in entry.holdings) == whole
        assert entry.custodian_id in ("", *parties_of(entry.terms))

    def teardown(self) -> None:
        """Look for an end; here, since each search is as long as a whole example."""
        if delivery_of(self.host).status:
            for left in LEFT:
                assert way_out(self.host, left) is not None, left


TestLife = Life.TestCase
TestLife.settings = settings(stateful_step_count=20)


def test_the_search_finds_the_states_that_version_1_0_could_not_leave() -> None:
    old, everybody = RulesVersion.V1_0, [*PARTIES, *AUTHORITIES]
    never_came, signed_late = DirectHost(), DirectHost()
    apply_all(never_came, registrations(old))
    assert way_out(never_came, everybody, old) is None
    trip = Trip()
    apply_all(signed_late, [*registrations(old)[:-1], one(trip.signer, trip.start, version=old)])
    action = delivering(trip.trip_id)
    for signer in ("carrier", "buyer"):
        signed_late.apply(one(key(signer), action, version=old))
    signed_late.apply(one(key("buyer"), TERMS, version=old))
    assert way_out(signed_late, everybody, old) is None


def test_the_search_knows_the_short_ways() -> None:
    host = DirectHost()
    apply_all(host, chain_registrations(chain_terms()))
    assert way_out(host, ["seller", "buyer"]) == ["seller: CancelDelivery", "buyer: CancelDelivery"]
    assert way_out(host, ["court"]) == ["court: AnnounceSettlement", "court: SettleDelivery"]
    assert way_out(host, ["seller"]) is None
    assert delivery_of(host).status not in ENDS
    assert delivery_of(host).status == Delivery.OPEN
