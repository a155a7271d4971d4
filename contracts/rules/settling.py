"""An authority ends a delivery that its parties did not end; version 1.1.

Without this, a party that is gone would keep a delivery open for ever.
"""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import AUTHORITY, AnnounceSettlement, SettleDelivery
from contracts.proto.state_pb2 import Delivery
from contracts.rules import custody
from contracts.rules.agreements import check_payment, standing, step_of, take
from contracts.rules.blocktimes import latest_block_s
from contracts.rules.case import EVENT_NOTICE, Case, invalid
from contracts.rules.ids import Rule
from contracts.rules.life import Facts, Word
from contracts.rules.parties import require_role

_DAY_MS: Final = 24 * 60 * 60 * 1000
NOTICE_MS: Final = 30 * _DAY_MS
"""Time between an authority's notice and its settlement, for a delivery without a deadline."""
FAR_NOTICE_MS: Final = 365 * _DAY_MS
"""The same for a delivery with a deadline, so that a far one keeps nobody out for ever."""
ANTEDATED_MS: Final = _DAY_MS
"""How far a notice's time may lie before the ledger's block."""
NOTICES_MAX: Final = 4
"""Authorities whose notices on one delivery are kept; the oldest one is forgotten."""


def announce_settlement(action: AnnounceSettlement, case: Case) -> None:
    """Give notice that an authority will settle a delivery, before its deadline if need be."""
    entry = standing(case, action.delivery_id)
    step_of(entry, Word.SETTLE)
    _check_authority(action.authority_id, entry, case)
    block_ms = latest_block_s(case) * 1000
    if action.at_ms < block_ms - ANTEDATED_MS:
        raise invalid(
            Rule.ANTEDATED,
            f"a notice of {action.at_ms} ms cannot come in a block of {block_ms} ms: "
            f"at most {ANTEDATED_MS} ms earlier",
        )
    others = [each for each in entry.announced if each.authority_id != action.authority_id]
    del entry.announced[:]
    entry.announced.extend([*others[-(NOTICES_MAX - 1) :], action])
    case.store(address.delivery(action.delivery_id), entry)
    case.event(
        EVENT_NOTICE, action, delivery_id=action.delivery_id, authority_id=action.authority_id
    )


def settle_delivery(action: SettleDelivery, case: Case) -> None:
    """End a delivery after its deadline, or after a notice; an authority signs."""
    entry = standing(case, action.delivery_id)
    step = step_of(entry, Word.SETTLE)
    _check_authority(action.authority_id, entry, case)
    check_payment(step, action.payment, entry)
    _check_due(action, entry, case)
    entry.settlement.CopyFrom(action)
    take(entry, step, action.payment, case)


def _check_authority(authority_id: str, entry: Delivery, case: Case) -> None:
    """Check that an authority signed, the one in the terms if both parties agreed on one."""
    case.require_party(authority_id)
    require_role(case, authority_id, AUTHORITY)
    terms = entry.terms
    if authority_id in custody.parties_of(terms):
        raise invalid(
            Rule.NOT_THE_PARTY, f"{authority_id} is a party of {terms.delivery_id} itself"
        )
    if Facts.of(entry).agreed and terms.authority_id not in ("", authority_id):
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"{terms.delivery_id} is settled by {terms.authority_id}, not by {authority_id}",
        )


def _check_due(action: SettleDelivery, entry: Delivery, case: Case) -> None:
    """Check that the time to settle has come, by the authority's word and by the ledger's."""
    due_ms = _due_ms(action.authority_id, entry)
    if action.at_ms < due_ms:
        raise invalid(
            Rule.TOO_EARLY,
            f"{action.delivery_id} may be settled from {due_ms} ms on, not at {action.at_ms} ms",
        )
    block_ms = latest_block_s(case) * 1000
    if 0 < block_ms < due_ms:
        raise invalid(
            Rule.TOO_EARLY,
            f"{action.delivery_id} may be settled from {due_ms} ms on, the block is of {block_ms}",
        )


def _due_ms(authority_id: str, entry: Delivery) -> int:
    """Return when an authority may settle: at the agreed deadline, or after its notice."""
    terms = entry.terms
    deadline_ms = terms.deadline_ms if Facts.of(entry).agreed else 0
    for notice in entry.announced:
        if notice.authority_id != authority_id:
            continue
        if deadline_ms:
            return min(deadline_ms, notice.at_ms + FAR_NOTICE_MS)
        return notice.at_ms + NOTICE_MS
    if deadline_ms:
        return deadline_ms
    raise invalid(
        Rule.NOT_ANNOUNCED,
        f"{terms.delivery_id} has no deadline: {authority_id} must give notice before it settles",
    )
