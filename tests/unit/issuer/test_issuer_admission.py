"""Whom an issuer's word lets in, by which claims, and under which name."""

import pytest

from gateway.access import Role
from gateway.grants import parse_grants
from gateway.oidcsettings import OidcSettings
from gateway.people.oidc.issuer import OidcIssuer
from gateway.people.oidc.refusals import Refusal, StrangerError
from support.gateways.issuers import (
    ADDRESS,
    CHIEFS,
    QUALITY,
    Attempt,
    Claims,
    FakeIssuer,
)


@pytest.mark.parametrize(("verified", "is_in"), [(True, True), (False, False), ("true", False)])
def test_an_email_lets_nobody_in_before_it_is_verified(
    attempt: Attempt, settings: OidcSettings, *, verified: object, is_in: bool
) -> None:
    boss = {"claim": "email", "value": "boss@dairy.example", "role": "operator"}
    changed = OidcSettings.model_validate(settings.model_dump() | {"access": {"boss": boss}})
    attempt.issuer = OidcIssuer(changed, ADDRESS)
    attempt.fake.person |= {"email": "boss@dairy.example", "email_verified": verified}
    if is_in:
        assert attempt.caller().role is Role.OPERATOR
    else:
        assert attempt.refused().why is Refusal.STRANGER


def test_two_subjects_never_have_one_name(attempt: Attempt, settings: OidcSettings) -> None:
    changed = OidcSettings.model_validate(settings.model_dump() | {"name_claim": "nick"})
    attempt.issuer = OidcIssuer(changed, ADDRESS)
    attempt.fake.person |= {"sub": "s2", "nick": "anna (s1)"}
    assert attempt.caller().name == "oidc:anna (s1) (s2)"
    attempt.fake.person |= {"sub": "s1) (s2", "nick": "anna"}
    assert "sub: expected no parentheses" in str(attempt.refused())


def test_whoever_has_the_claim_is_let_in(attempt: Attempt) -> None:
    caller = attempt.caller()
    assert (caller.name, caller.role, caller.grants) == ("oidc:anna", Role.AUDITOR, None)


@pytest.mark.parametrize(
    ("claims", "role", "grants"),
    [
        ({"groups": ["dairy"]}, Role.AUDITOR, ["party:dairy"]),
        ({"groups": ["dairy", "shop", "x"]}, Role.AUDITOR, ["party:dairy", "party:shop"]),
        ({"groups": ["dairy", "quality"]}, Role.AUDITOR, None),
        ({"groups": ["dairy", "chiefs"]}, Role.OPERATOR, None),
        ({"groups": "chiefs"}, Role.OPERATOR, None),
        ({"groups": [], "boss": True}, Role.OPERATOR, None),
    ],
)
def test_all_that_fits_is_given_together(
    attempt: Attempt, claims: Claims, role: Role, grants: list[str] | None
) -> None:
    attempt.fake.person |= claims
    caller = attempt.caller()
    assert (caller.role, caller.grants) == (role, grants and parse_grants(grants))


@pytest.mark.parametrize(
    "groups",
    [
        None,
        [],
        ["Quality"],
        ["quality "],
        [["quality"]],
        {"quality": 1},
        "quality2",
        "chiefs,quality",
        True,
        7,
    ],
)
def test_nobody_else_is_let_in(attempt: Attempt, groups: object) -> None:
    attempt.fake.person |= {"groups": groups, "boss": "yes"}
    error = attempt.refused()
    assert isinstance(error, StrangerError)
    assert error.name == "oidc:anna"


def test_a_person_has_the_name_that_the_settings_choose_and_the_subject(
    fake: FakeIssuer, settings: OidcSettings
) -> None:
    issuer = OidcIssuer(settings.model_copy(update={"name_claim": "email"}), ADDRESS)
    attempt = Attempt(fake, issuer)
    fake.person |= {"email": "anna@dairy.example", "email_verified": True}
    assert attempt.caller().name == "oidc:anna@dairy.example (anna)"
    for email, verified in (("anna@dairy.example", False), ("a\u202eb", True), ("", True)):
        fake.person |= {"email": email, "email_verified": verified}
        assert attempt.refused().why is Refusal.FALSE
    del fake.person["email"]
    assert attempt.refused().why is Refusal.FALSE


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"issuer": "http://login.example"}, "https://"),
        ({"issuer": "https://login.example/?a=b"}, "https://"),
        ({"issuer": "https://user@login.example"}, "https://"),
        ({"client_id": ""}, "together"),
        ({"client_secret_file": None}, "together"),
        ({"access": {}}, "together"),
        ({"scopes": ["email"]}, "openid"),
        ({"session_hours": 13}, "12"),
        ({"access": {"x": {**CHIEFS, "grants": ["party:dairy"]}}}, "auditor alone"),
        ({"access": {"x": {**QUALITY, "grants": ["dairy"]}}}, "expected party:ID"),
        ({"access": {"x": {**QUALITY, "role": "device"}}}, "auditor"),
    ],
)
def test_settings_that_would_let_in_nobody_or_anybody_are_refused(
    settings: OidcSettings, changed: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        OidcSettings.model_validate(settings.model_dump() | changed)
