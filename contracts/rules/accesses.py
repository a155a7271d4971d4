"""Heads of gateways' records of accesses: from then on no entry up to it changes unseen."""

from contracts import address
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.proto.state_pb2 import CommittedAccesses, Site
from contracts.rules.blocktimes import latest_block_s
from contracts.rules.case import Case, invalid
from contracts.rules.ids import Rule


def commit_accesses(action: CommitAccesses, case: Case) -> None:
    """Keep a head; a key that the site has registered for its gateways signs.

    Each key counts the heads of each record by itself, and leaves out none. So nobody puts another
    word in place of this one, and no other key keeps this one from the next. The number of the
    access may be smaller than before: a record that was restored from an older copy goes on at
    once, and the heads tell that it was cut.
    """
    site = case.load(address.site(action.site_id), Site)
    if site is None:
        raise invalid(Rule.UNKNOWN_SITE, f"site {action.site_id} is not registered")
    if case.signer not in site.site.gateway_public_keys:
        raise invalid(
            Rule.UNKNOWN_KEY, f"key {case.signer} is not a key of a gateway of {action.site_id}"
        )
    newest = address.newest_accesses(action.site_id, action.record_sha256, case.signer)
    before = case.load(newest, CommittedAccesses) or CommittedAccesses()
    expected = before.head.sequence + 1
    if action.sequence != expected:
        raise invalid(
            Rule.WRONG_STATE,
            f"expected head {expected} of this record by this key, got {action.sequence}",
        )
    entry = CommittedAccesses(
        head=action, public_key=case.signer, committed_at_s=latest_block_s(case)
    )
    own = address.accesses(action.site_id, action.record_sha256, case.signer, action.sequence)
    for place in (newest, own):
        case.store(place, entry)
