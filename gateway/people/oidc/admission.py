"""Who of an issuer's people may enter, and what they may see: by claims that the settings name."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from contracts.text import is_text
from gateway.access import Caller, Role
from gateway.grants import GRANTS_MAX, Grants, parse_grants
from gateway.oidcsettings import OidcSettings
from gateway.people.oidc.refusals import NotSignedInError, Refusal, StrangerError
from gateway.people.sessions import IssuerTerms

PREFIX: Final = "oidc:"
"""Begins the names of an issuer's people: no token and no person of ours can have one like it."""
_NAME_MAX: Final = 128
_SHOWN: Final = 200


def admitted(claims: Mapping[str, Any], settings: OidcSettings) -> Caller:
    """Return a person of an issuer, with the rights of all entries of the settings that match.

    Args:
        claims: Of a checked ID token.
        settings: The entries.

    Raises:
        StrangerError: No entry fits.
        NotSignedInError: The claim that names the person is missing or malformed.
    """
    name = _name(claims, settings.name_claim)
    fitting = [each for each in settings.access.values() if _fits(claims, each.claim, each.value)]
    if not fitting:
        raise StrangerError(name, f"nothing in [oidc.access] lets {name} in")
    if any(each.role == "operator" for each in fitting):
        return Caller(name, Role.OPERATOR)
    if not all(each.grants for each in fitting):
        return Caller(name, Role.AUDITOR)
    grants: Grants = frozenset().union(*(parse_grants(each.grants) for each in fitting))
    if len(grants) > GRANTS_MAX:
        raise NotSignedInError(
            Refusal.OURS, f"{name}: expected at most {GRANTS_MAX} grants, got {len(grants)}"
        )
    return Caller(name, Role.AUDITOR, grants)


def _name(claims: Mapping[str, Any], claim: str) -> str:
    """Return the name on our records: the claim's value, and the subject, which no other has."""
    subject, value = str(claims["sub"]), claims.get(claim)
    if not isinstance(value, str) or not 0 < len(value) <= (_NAME_MAX if claim != "sub" else 255):
        raise NotSignedInError(
            Refusal.FALSE, f"{claim}: expected 1 to {_NAME_MAX} characters that name the person"
        )
    if claim == "email" and not _has_verified_email(claims):
        raise NotSignedInError(Refusal.FALSE, "email: expected a verified one")
    if claim != "sub" and set(subject) & set("()"):  # or two people could have one name
        raise NotSignedInError(Refusal.FALSE, "sub: expected no parentheses")
    name = f"{PREFIX}{value}" if claim == "sub" else f"{PREFIX}{value} ({subject})"
    if not is_text(name):
        raise NotSignedInError(Refusal.FALSE, f"{claim}: expected text, got {name!r:.{_SHOWN}}")
    return name


def _fits(claims: Mapping[str, Any], claim: str, value: str) -> bool:
    """Say whether a claim is a value, or has it in its list; an email counts if it is verified."""
    told = claims.get(claim)
    if claim == "email" and not _has_verified_email(claims):
        return False
    if isinstance(told, bool):
        return value == str(told).lower()
    return value in told if isinstance(told, list) else told == value


def _has_verified_email(claims: Mapping[str, Any]) -> bool:
    return claims.get("email_verified") is True


def mark_of(settings: OidcSettings) -> str:
    """Return a mark that changes with the issuer and with the settings of access."""
    told = settings.model_dump_json(include={"issuer", "client_id", "name_claim", "access"})
    return hashlib.sha256(told.encode()).hexdigest()


def terms_of(settings: OidcSettings) -> IssuerTerms | None:
    """Return what the issuer's sessions stand on; None without an issuer."""
    if not settings.issuer:
        return None
    return IssuerTerms(mark_of(settings), settings.session_hours * 3600)
