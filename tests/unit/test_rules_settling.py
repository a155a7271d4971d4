"""An authority ends a delivery that its parties did not end."""

import pytest

from contracts import address
from contracts.encoding import canonical
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoConfig
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    BUYER,
    CARRIER,
    RELEASED,
    WITHHELD,
    AcceptDelivery,
    AnnounceSettlement,
    DisputeDelivery,
    Payment,
    RegisterParty,
    SettleDelivery,
)
from contracts.proto.state_pb2 import Delivery
from contracts.records.clock import UTC_MS_MAX
from contracts.rules.case import EVENT_DELIVERY, EVENT_NOTICE
from contracts.rules.ids import Rule
from contracts.rules.settling import ANTEDATED_MS, FAR_NOTICE_MS, NOTICE_MS, NOTICES_MAX
from support.ledgers.hosts import DirectHost, Host, apply_all, refused, told
from support.network.chains import DEADLINE_MS, chain_registrations, chain_terms
from support.network.world import START_MS, Trip, handovers, key, one, party

COURT, CUSTOMS, BUYING = key("court"), key("customs"), key("buyer")
DISPUTE = DisputeDelivery(delivery_id="delivery-1", reason="thawed", at_ms=START_MS)
ACCEPT = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)


def notice(authority_id: str = "court", at_ms: int = START_MS) -> AnnounceSettlement:
    return AnnounceSettlement(
        delivery_id="delivery-1", authority_id=authority_id, reason="case 17", at_ms=at_ms
    )


def settle(at_ms: int, payment: Payment = WITHHELD, authority_id: str = "court") -> SettleDelivery:
    return SettleDelivery(
        delivery_id="delivery-1",
        authority_id=authority_id,
        payment=payment,
        reason="case 17",
        at_ms=at_ms,
    )


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


def ready(host: Host, deadline_ms: int = 0, authority_id: str = "") -> None:
    apply_all(host, chain_registrations(chain_terms(deadline_ms, authority_id)))


def test_a_dispute_that_nobody_settles_ends_at_the_agreed_deadline(host: Host) -> None:
    ready(host, DEADLINE_MS, "court")
    host.apply(one(BUYING, DISPUTE))
    assert refused(host, one(COURT, settle(DEADLINE_MS - 1))) is Rule.TOO_EARLY
    assert refused(host, one(BUYING, settle(DEADLINE_MS))) is Rule.NOT_THE_PARTY
    other = settle(DEADLINE_MS, authority_id="customs")
    assert refused(host, one(CUSTOMS, other)) is Rule.NOT_THE_PARTY
    (said,) = told(EVENT_DELIVERY, host.apply(one(COURT, settle(DEADLINE_MS, RELEASED))))
    assert (said["status"], said["payment"]) == ("settled", "released")
    entry = delivery(host)
    assert (entry.status, entry.payment) == (Delivery.SETTLED, RELEASED)
    assert entry.settlement == settle(DEADLINE_MS, RELEASED)
    assert refused(host, one(COURT, settle(DEADLINE_MS))) is Rule.WRONG_STATE


def test_a_far_deadline_keeps_no_authority_out_for_ever(host: Host) -> None:
    ready(host, UTC_MS_MAX, "court")
    host.apply(one(BUYING, DISPUTE))
    due_ms = START_MS + FAR_NOTICE_MS
    assert refused(host, one(COURT, settle(due_ms))) is Rule.TOO_EARLY  # nobody had notice
    host.apply(one(COURT, notice()))
    assert refused(host, one(COURT, settle(due_ms - 1))) is Rule.TOO_EARLY
    host.apply(one(COURT, settle(due_ms)))
    assert delivery(host).status == Delivery.SETTLED


def test_a_notice_on_an_offer_ends_nothing_that_both_have_signed(host: Host) -> None:
    """Else an authority could store notices on offers, and settle as soon as both have signed."""
    seller, buyer = chain_registrations(chain_terms())[-2:]
    apply_all(host, [*chain_registrations(chain_terms())[:-2], seller])
    host.apply(one(COURT, notice()))
    host.apply(buyer)
    due_ms = START_MS + NOTICE_MS
    assert refused(host, one(COURT, settle(due_ms, RELEASED))) is Rule.NOT_ANNOUNCED
    host.apply(one(COURT, notice(at_ms=due_ms)))
    host.apply(one(COURT, settle(due_ms + NOTICE_MS)))
    assert delivery(host).status == Delivery.SETTLED


def test_a_notice_prolongs_no_deadline(host: Host) -> None:
    ready(host, DEADLINE_MS, "court")
    host.apply(one(COURT, notice(at_ms=DEADLINE_MS - 1)))
    assert refused(host, one(COURT, settle(DEADLINE_MS - 1))) is Rule.TOO_EARLY
    host.apply(one(COURT, settle(DEADLINE_MS)))
    assert delivery(host).status == Delivery.SETTLED


def test_with_a_deadline_and_no_authority_any_authority_settles(host: Host) -> None:
    ready(host, DEADLINE_MS)
    host.apply(one(CUSTOMS, settle(DEADLINE_MS, authority_id="customs")))
    assert delivery(host).status == Delivery.SETTLED


def test_without_a_deadline_the_parties_have_notice(host: Host) -> None:
    ready(host)
    assert refused(host, one(COURT, settle(DEADLINE_MS))) is Rule.NOT_ANNOUNCED
    (said,) = told(EVENT_NOTICE, host.apply(one(COURT, notice())))
    assert said == {"delivery_id": "delivery-1", "authority_id": "court"}
    due_ms = START_MS + NOTICE_MS
    assert refused(host, one(COURT, settle(due_ms - 1))) is Rule.TOO_EARLY
    other = settle(due_ms, authority_id="customs")
    assert refused(host, one(CUSTOMS, other)) is Rule.NOT_ANNOUNCED
    host.apply(one(COURT, settle(due_ms)))
    assert delivery(host).status == Delivery.SETTLED
    assert refused(host, one(COURT, notice())) is Rule.WRONG_STATE


def test_a_later_notice_of_the_same_authority_replaces_its_first(host: Host) -> None:
    ready(host)
    apply_all(host, [one(COURT, notice()), one(COURT, notice(at_ms=START_MS + 5))])
    assert list(delivery(host).announced) == [notice(at_ms=START_MS + 5)]


def test_the_notices_of_so_many_authorities_are_kept(host: Host) -> None:
    ready(host)
    for at in range(NOTICES_MAX + 1):
        name = f"office-{at}"
        apply_all(host, [party(name, AUTHORITY), one(key(name), notice(name))])
    kept = [each.authority_id for each in delivery(host).announced]
    assert kept == [f"office-{at}" for at in range(1, NOTICES_MAX + 1)]


def test_what_was_accepted_is_settled_with_its_payment_only(host: Host) -> None:
    ready(host, DEADLINE_MS)
    apply_all(host, [*handovers(Trip().trip_id), one(BUYING, ACCEPT)])
    assert refused(host, one(COURT, settle(DEADLINE_MS, WITHHELD))) is Rule.PAYMENT_DIFFERS
    host.apply(one(COURT, settle(DEADLINE_MS, RELEASED)))
    assert delivery(host).status == Delivery.SETTLED


def test_terms_of_one_side_give_no_authority_and_no_payment(host: Host) -> None:
    """A seller could else name a judge and a deadline for a buyer that never agreed."""
    apply_all(host, chain_registrations(chain_terms(1, "court"), signers=("seller",)))
    assert refused(host, one(COURT, settle(DEADLINE_MS))) is Rule.NOT_ANNOUNCED
    host.apply(one(CUSTOMS, notice("customs")))
    due_ms = START_MS + NOTICE_MS
    paid = settle(due_ms, RELEASED, "customs")
    assert refused(host, one(CUSTOMS, paid)) is Rule.PAYMENT_DIFFERS
    host.apply(one(CUSTOMS, settle(due_ms, WITHHELD, "customs")))
    assert delivery(host).status == Delivery.SETTLED


def test_nobody_settles_a_delivery_of_its_own(host: Host) -> None:
    ready(host, DEADLINE_MS)
    host.apply(party("haulier", CARRIER, AUTHORITY))
    own = settle(DEADLINE_MS, authority_id="haulier")
    assert refused(host, one(key("haulier"), own)) is Rule.NOT_THE_PARTY
    carrier = settle(DEADLINE_MS, authority_id="carrier")
    assert refused(host, one(key("carrier"), carrier)) is Rule.ROLE_MISSING


@pytest.mark.parametrize(
    "action",
    [
        settle(DEADLINE_MS, 0),  # type: ignore[arg-type] # as from the wire
        settle(1 << 63),
        AnnounceSettlement(delivery_id="delivery-1", authority_id="court"),
        SettleDelivery(delivery_id="delivery-1", authority_id="court", payment=RELEASED),
    ],
)
def test_what_is_not_well_formed_is_refused(
    host: Host, action: SettleDelivery | AnnounceSettlement
) -> None:
    ready(host, DEADLINE_MS)
    assert refused(host, one(COURT, action)) is Rule.FORM


def test_a_buyer_whose_keys_are_lost_is_registered_again(host: Host) -> None:
    ready(host)
    apply_all(host, handovers(Trip().trip_id))
    again = RegisterParty(
        party_id="buyer", name="Buyer", public_keys=[key("buyer-2").public_key], roles=[BUYER]
    )
    host.apply(one(key("admin"), again))
    assert refused(host, one(BUYING, ACCEPT)) is Rule.NOT_THE_PARTY
    host.apply(one(key("buyer-2"), ACCEPT))
    assert delivery(host).status == Delivery.ACCEPTED


def at_time(host: DirectHost, now_ms: int) -> None:
    """Give the ledger the time of a block, as family block_info does."""
    host.put(address.block_info_config(), canonical(BlockInfoConfig(latest_block=7)))
    info = BlockInfo(block_num=7, timestamp=now_ms // 1000)
    host.put(address.block_info(7), canonical(info))


def test_where_blocks_have_times_nobody_settles_before_the_deadline_has_come() -> None:
    host = DirectHost()
    ready(host, DEADLINE_MS, "court")
    at_time(host, DEADLINE_MS - 1000)
    assert refused(host, one(COURT, settle(DEADLINE_MS))) is Rule.TOO_EARLY
    at_time(host, DEADLINE_MS)
    host.apply(one(COURT, settle(DEADLINE_MS)))


def test_where_blocks_have_times_a_notice_is_not_dated_back() -> None:
    host = DirectHost()
    ready(host)
    at_time(host, START_MS)
    assert refused(host, one(COURT, notice(at_ms=START_MS - ANTEDATED_MS - 1))) is Rule.ANTEDATED
    host.apply(one(COURT, notice(at_ms=START_MS - ANTEDATED_MS)))
