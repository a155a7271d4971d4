"""Heads of gateways' records of accesses: from then on no entry up to it changes unseen."""

from contracts import address
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.proto.state_pb2 import CommittedAccesses, Site
from contracts.rules.case import Case, invalid
from contracts.rules.ids import Rule


def commit_accesses(action: CommitAccesses, case: Case) -> None:
    """Keep a head; a key that the site has registered for its gateway signs.

    Numbers grow, so that nobody who has such a key later puts another word in place of this one.
    """
    site = case.load(address.site(action.site_id), Site)
    if site is None:
        raise invalid(Rule.UNKNOWN_SITE, f"site {action.site_id} is not registered")
    if case.signer not in site.site.gateway_public_keys:
        raise invalid(
            Rule.UNKNOWN_KEY, f"key {case.signer} is not a key of a gateway of {action.site_id}"
        )
    newest = address.accesses(action.site_id)
    before = case.load(newest, CommittedAccesses)
    before_number = 0 if before is None else before.head.number
    if action.number <= before_number:
        raise invalid(
            Rule.WRONG_STATE,
            f"access {before_number} of {action.site_id} is committed: expected a later one, got "
            f"{action.number}",
        )
    entry = CommittedAccesses(head=action, before_number=before_number, public_key=case.signer)
    for place in (newest, address.accesses(action.site_id, action.number)):
        case.store(place, entry)
