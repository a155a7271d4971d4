"""Certificates: what an authority says of a party, and until when."""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import AUTHORITY, CertifyParty, OpenDelivery
from contracts.proto.state_pb2 import Certificates, Delivery
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.ids import Rule
from contracts.rules.parties import known_party, require_role
from contracts.text import in_quotes

AUTHORITIES_MAX: Final = 16
"""Authorities that certify one party for the same thing."""


def certify_party(action: CertifyParty, case: Case) -> None:
    """Certify a party, or revoke the authority's own certificate."""
    case.require_party(action.party_id)
    require_role(case, action.party_id, AUTHORITY)
    known_party(case, action.holder_id)
    place = address.certificate(action.holder_id, action.kind)
    entry = case.load(place, Certificates) or Certificates(
        holder_id=action.holder_id, kind=action.kind
    )
    others = [each for each in entry.by_authority if each.party_id != action.party_id]
    if action.revoked and len(others) == len(entry.by_authority):
        raise invalid(
            Rule.CERTIFICATE_UNKNOWN,
            f"{action.party_id} never certified {action.holder_id} for {in_quotes(action.kind)}",
        )
    if len(others) >= AUTHORITIES_MAX:
        raise invalid(Rule.FORM, f"at most {AUTHORITIES_MAX} authorities certify the same")
    del entry.by_authority[:]
    entry.by_authority.extend([*others, action])
    case.store(place, entry)


def standing_certificates(terms: OpenDelivery, notes: Notes) -> list[CertifyParty]:
    """Return the certificates that terms require, expired or not; add a finding for each lack."""
    found = []
    for required in terms.required_certificates:
        place = address.certificate(required.holder_id, required.kind)
        entry = notes.case.load(place, Certificates) or Certificates()
        standing = [each for each in entry.by_authority if not each.revoked]
        if not standing:
            notes.add(
                Rule.CERTIFICATE_MISSING,
                f"{required.holder_id} holds no certificate {in_quotes(required.kind)}",
            )
        found += standing
    return found


def note_expired(delivery: Delivery, at_ms: int, notes: Notes) -> None:
    """Add a finding for each required certificate that no authority had given for a time."""
    valid = {
        (each.holder_id, each.kind)
        for each in delivery.certificates
        if each.valid_from_ms <= at_ms <= each.valid_until_ms
    }
    held = {(each.holder_id, each.kind) for each in delivery.certificates}
    for required in delivery.terms.required_certificates:
        name = (required.holder_id, required.kind)
        if name in held - valid:
            notes.add(
                Rule.CERTIFICATE_EXPIRED,
                f"the certificate {in_quotes(required.kind)} of {required.holder_id} is not valid "
                "then",
            )
