"""Rows of the table of actions: deliveries, from the offer to the end."""

from collections.abc import Callable
from typing import Final, TypeVar

from contracts import address
from contracts.actions import form, goods
from contracts.actions.kind import ActionKind, SignedBy, blocks
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    AnnounceSettlement,
    CancelDelivery,
    CloseDelivery,
    DisputeDelivery,
    KeyDuties,
    OpenDelivery,
    SettleDelivery,
)
from contracts.rules import agreements, consignment, deliveries, settling
from contracts.rules.case import Case

_OfDelivery = (
    OpenDelivery
    | AcceptDelivery
    | DisputeDelivery
    | CloseDelivery
    | CancelDelivery
    | AnnounceSettlement
    | SettleDelivery
)
_SettlementT = TypeVar("_SettlementT", AnnounceSettlement, SettleDelivery)


def _delivery(action: _OfDelivery) -> list[str]:
    return [address.delivery(action.delivery_id)]


def _about_delivery(action: _OfDelivery) -> list[str]:
    return [f"delivery {action.delivery_id}"]


def _authority_and_blocks(action: AnnounceSettlement | SettleDelivery) -> list[str]:
    """Return the authority, whose roles matter, and the blocks, whose time does."""
    return [address.party(action.authority_id), *blocks(action)]


def _settlement(
    message: type[_SettlementT],
    check: Callable[[_SettlementT], None],
    rule: Callable[[_SettlementT, Case], None],
) -> ActionKind[_SettlementT]:
    """Return the row of an action by which an authority ends a delivery."""
    return ActionKind(
        message,
        SignedBy.PARTY,
        duty=KeyDuties.EVIDENCE,
        check=check,
        reads=_authority_and_blocks,
        writes=_delivery,
        rule=rule,
        subjects=_about_delivery,
    )


ROWS: Final = (
    ActionKind(
        OpenDelivery,
        SignedBy.TWO_PARTIES,
        duty=KeyDuties.TRADE,
        check=form.check_terms,
        reads=lambda terms: [
            address.party(party_id)
            for party_id in (terms.seller_id, terms.carrier_id, terms.buyer_id)
        ],
        writes=_delivery,
        rule=deliveries.open_delivery,
        rule_1_1=agreements.open_delivery,
        check_1_1=goods.check_terms,
        reads_1_1=lambda terms: [
            *(
                address.party(party_id)
                for party_id in (*terms.other_carrier_ids, terms.authority_id)
                if party_id
            ),
            *blocks(terms),
            *consignment.places_of(terms),
        ],
        subjects=_about_delivery,
    ),
    ActionKind(
        AcceptDelivery,
        SignedBy.PARTY,
        duty=KeyDuties.TRADE,
        check=form.check_delivery_time,
        writes=_delivery,
        rule=deliveries.accept_delivery,
        rule_1_1=agreements.accept_delivery,
        check_1_1=form.check_received,
        subjects=_about_delivery,
    ),
    ActionKind(
        DisputeDelivery,
        SignedBy.PARTY,
        duty=KeyDuties.TRADE,
        check=form.check_dispute,
        writes=_delivery,
        rule=deliveries.dispute_delivery,
        rule_1_1=agreements.dispute_delivery,
        subjects=_about_delivery,
    ),
    ActionKind(
        CloseDelivery,
        SignedBy.TWO_PARTIES,
        duty=KeyDuties.TRADE,
        check=form.check_closing,
        writes=_delivery,
        rule=deliveries.close_delivery,
        rule_1_1=agreements.close_delivery,
        subjects=_about_delivery,
    ),
    ActionKind(
        CancelDelivery,
        SignedBy.TWO_PARTIES,
        duty=KeyDuties.TRADE,
        check=form.check_dispute,
        writes=_delivery,
        rule=agreements.cancel_delivery,
        subjects=_about_delivery,
    ),
    _settlement(AnnounceSettlement, form.check_dispute, settling.announce_settlement),
    _settlement(SettleDelivery, form.check_settlement, settling.settle_delivery),
)
