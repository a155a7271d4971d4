"""Sign-in by an issuer's word: what is believed of an issuer, and what of one that lies."""

import asyncio
import base64
import hmac
import json
import logging
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from contracts.runtime.seldom import Seldom
from gateway.access import Caller, Role, Tokens
from gateway.api import issuer as routes
from gateway.api import problems, sessions
from gateway.api.headers import Headed
from gateway.grants import parse_grants
from gateway.oidcsettings import OidcSettings
from gateway.people.accesslog import AccessLog
from gateway.people.oidc import asking, documents
from gateway.people.oidc.admission import terms_of
from gateway.people.oidc.issuer import OidcIssuer
from gateway.people.oidc.refusals import NotSignedInError, Refusal, StrangerError
from gateway.people.oidc.ticket import LASTS_MAX_S, Ticket
from gateway.people.persons import Persons
from gateway.people.rates import Rates
from gateway.people.sessions import Sessions
from gateway.people.signing import People
from gateway.people.tries import FREE_TRIES, Tries
from support.gateways.issuers import CLIENT, SECRET, Claims, FakeIssuer, fake_issuer, signed
from support.gateways.passwords import cheap_passwords
from support.machine.pki import Pki
from support.network.world import key

ADDRESS: Final = "https://gateway.example"
DISCOVERY: Final = "/.well-known/openid-configuration"
QUALITY: Final = {"claim": "groups", "value": "quality", "role": "auditor"}
CHIEFS: Final = {"claim": "groups", "value": "chiefs", "role": "operator"}
DAIRY: Final = {**QUALITY, "value": "dairy", "grants": ["party:dairy"]}
SHOP: Final = {**QUALITY, "value": "shop", "grants": ["party:shop"]}
BOSS: Final = {"claim": "boss", "value": "true", "role": "operator"}
ACCESS: Final = {"quality": QUALITY, "chiefs": CHIEFS, "dairy": DAIRY, "shop": SHOP, "boss": BOSS}


@pytest.fixture
def fake() -> Iterator[FakeIssuer]:
    with fake_issuer() as made:
        made.person["groups"] = ["quality"]
        yield made


@pytest.fixture
def settings(fake: FakeIssuer, tmp_path: Path) -> OidcSettings:
    return settings_for(fake, tmp_path)


def settings_for(fake: FakeIssuer, tmp_path: Path, **changed: object) -> OidcSettings:
    """Return settings that name this issuer."""
    secret = tmp_path / "client.secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    return OidcSettings.model_validate(
        {
            "issuer": fake.url,
            "client_id": CLIENT,
            "client_secret_file": secret,
            "access": ACCESS,
            **changed,
        }
    )


@dataclass
class Attempt:
    """One sign-in, as the browser's part of it may be changed."""

    fake: FakeIssuer
    issuer: OidcIssuer
    ticket: Ticket = field(default_factory=lambda: Ticket.new("/"))

    def caller(self, **changed: str) -> Caller:
        async def tried() -> Caller:
            answer = self.fake.signed_in(await self.issuer.place(self.ticket))
            return await self.issuer.person(self.ticket, answer | changed)

        return asyncio.run(tried())

    def refused(self, **changed: str) -> NotSignedInError:
        with pytest.raises(NotSignedInError) as caught:
            self.caller(**changed)
        return caught.value


@pytest.fixture
def attempt(fake: FakeIssuer, settings: OidcSettings) -> Attempt:
    return Attempt(fake, OidcIssuer(settings, ADDRESS))


def test_an_issuer_by_tls_is_believed_if_its_authority_is(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki")
    with fake_issuer(pki) as fake:
        fake.person["groups"] = ["quality"]
        trusting = settings_for(fake, tmp_path, ca=pki.ca)
        assert Attempt(fake, OidcIssuer(trusting, ADDRESS)).caller().name == "oidc:anna"
        stranger = OidcIssuer(settings_for(fake, tmp_path), ADDRESS)
        refused = Attempt(fake, stranger).refused()
        assert refused.why is Refusal.AWAY
        assert "certificate verify failed" in str(refused)
        for name in ("token_endpoint", "authorization_endpoint", "jwks_uri"):
            fake.says = {DISCOVERY: {name: "http://127.0.0.1:8008/batches"}}
            said = str(Attempt(fake, OidcIssuer(trusting, ADDRESS)).refused())
            assert f"{name}: expected an https:// URL" in said


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


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("access_denied", Refusal.DECLINED),
        ("something_new", Refusal.DECLINED),
        ("temporarily_unavailable", Refusal.AWAY),
        ("server_error", Refusal.AWAY),
        ("invalid_scope", Refusal.OURS),
        ("unauthorized_client", Refusal.OURS),
    ],
)
def test_an_error_of_the_issuer_says_whose_it_is(
    attempt: Attempt, error: str, why: Refusal
) -> None:
    assert attempt.refused(error=error).why is why


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


def without(name: str) -> Callable[[Claims], Claims]:
    return lambda claims: {each: value for each, value in claims.items() if each != name}


def with_(**changed: object) -> Callable[[Claims], Claims]:
    return lambda claims: claims | changed


NOW: Final = int(time.time())


@pytest.mark.parametrize(
    "lie",
    [
        with_(iss="https://evil.example"),
        with_(iss=["x"]),
        with_(aud="another"),
        with_(aud=[]),
        with_(aud=[CLIENT, "another"]),
        with_(aud=[CLIENT, "another"], azp="another"),
        with_(azp="another"),
        with_(exp=NOW - 3600),
        with_(exp="soon"),
        with_(exp=float("nan")),
        with_(iat=NOW + 3600),
        with_(nbf=NOW + 3600),
        with_(nonce="another"),
        with_(nonce=None),
        with_(sub=""),
        with_(sub="x" * 256),
        with_(sub=7),
        with_(sub="a\nb"),
        with_(at_hash="AAAA"),
        *(without(name) for name in ("iss", "aud", "exp", "iat", "nonce", "sub")),
    ],
)
def test_a_token_that_fails_one_check_is_refused(
    attempt: Attempt, lie: Callable[[Claims], Claims]
) -> None:
    attempt.fake.claims = lie
    error = attempt.refused()
    assert error.why is Refusal.FALSE, error


@pytest.mark.parametrize("seconds", [-30, 30])
def test_clocks_may_differ_a_little(attempt: Attempt, seconds: int) -> None:
    now = int(time.time())
    attempt.fake.claims = with_(iat=now + seconds, exp=now + seconds)
    assert attempt.caller().name == "oidc:anna"


def test_an_audience_of_two_needs_us_as_the_authorized_party(attempt: Attempt) -> None:
    attempt.fake.claims = with_(aud=[CLIENT, "another"], azp=CLIENT)
    assert attempt.caller().name == "oidc:anna"


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def unsigned(_: FakeIssuer, claims: Claims) -> str:
    return f"{part({'alg': 'none'})}.{part(claims)}."


def by_public_key(issuer: FakeIssuer, claims: Claims) -> str:
    """Sign by HMAC with what everybody knows, as if the algorithm were the token's to choose."""
    text = f"{part({'alg': 'HS256', 'kid': 'first'})}.{part(claims)}"
    made = hmac.digest(issuer.key.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"


def by_another(_: FakeIssuer, claims: Claims) -> str:
    return jwt.encode({"alg": "ES256", "kid": "first"}, claims, ECKey.generate_key("P-256"))


def by_its_own_header(_: FakeIssuer, claims: Claims) -> str:
    own = ECKey.generate_key("P-256")
    header = {"alg": "ES256", "kid": "first", "jwk": own.as_dict(private=False)}
    return jwt.encode(header, claims, own)


def changed_afterwards(issuer: FakeIssuer, claims: Claims) -> str:
    head, _, tail = signed(issuer, claims).split(".")
    return f"{head}.{part({**claims, 'groups': ['chiefs']})}.{tail}"


def critical(issuer: FakeIssuer, claims: Claims) -> str:
    header = {"alg": "ES256", "kid": "first", "crit": ["exp"], "exp": 1}
    head, body = part(header), part(claims)
    return f"{head}.{body}.{signed(issuer, claims).split('.')[2]}"


@pytest.mark.parametrize(
    "forge",
    [
        unsigned,
        by_public_key,
        by_another,
        by_its_own_header,
        changed_afterwards,
        critical,
        lambda issuer, claims: signed(issuer, claims)[:-4] + "AAAA",
        lambda issuer, claims: signed(issuer, claims) * 40,
        lambda *_: "",
        lambda *_: "a.b",
        lambda *_: "é.é.é",
        lambda *_: "..",
        lambda *_: [],
    ],
)
def test_a_token_that_the_issuer_did_not_sign_is_refused(
    attempt: Attempt, forge: Callable[[FakeIssuer, Claims], str]
) -> None:
    attempt.fake.sign = forge
    error = attempt.refused()
    assert error.why is Refusal.FALSE, error


def test_a_shared_secret_among_the_keys_counts_for_nothing(attempt: Attempt) -> None:
    shared = OctKey.import_key("known to everybody who reads this", {"kid": "shared"})
    attempt.fake.keys.append(shared.as_dict(private=True))
    attempt.fake.sign = lambda _, claims: jwt.encode(
        {"alg": "HS256", "kid": "shared"}, claims, shared, algorithms=["HS256"]
    )
    assert attempt.refused().why is Refusal.FALSE


def test_keys_that_are_changed_are_fetched_again_but_not_for_each_token(
    fake: FakeIssuer, settings: OidcSettings
) -> None:
    clock = SimpleNamespace(s=1000.0)
    issuer = OidcIssuer(settings, ADDRESS)
    issuer.documents = documents.Documents(
        settings, asking.Asking(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)), clock_s=lambda: clock.s
    )
    attempt = Attempt(fake, issuer)
    attempt.caller()
    second = RSAKey.generate_key(2048, {"kid": "second"})
    fake.keys.append(second.as_dict(private=False))
    fake.sign = lambda _, claims: jwt.encode({"alg": "RS256", "kid": "second"}, claims, second)
    assert attempt.refused().why is Refusal.FALSE  # fetched a moment ago
    assert attempt.refused().why is Refusal.FALSE
    assert fake.asked.count("/keys") == 1
    clock.s += documents.KEYS_AGAIN_S
    attempt.caller()
    assert fake.asked.count("/keys") == 2
    clock.s += documents.KEPT_S
    fake.keys[:] = fake.keys[:1]  # the second is withdrawn
    assert attempt.refused().why is Refusal.FALSE
    assert fake.asked.count(DISCOVERY) == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 500 Broken\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n" + b" " * 900_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"[" * 200_000,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
        b"\x16\x03\x01 this is no HTTP\r\n\r\n",
    ],
)
@pytest.mark.parametrize("path", [DISCOVERY, "/keys", "/token"])
def test_an_issuer_whose_answer_has_no_known_form_is_away(
    attempt: Attempt, path: str, answer: bytes
) -> None:
    attempt.fake.raw[path] = answer
    assert attempt.refused().why is Refusal.AWAY


@pytest.mark.parametrize("path", [DISCOVERY, "/keys", "/token"])
def test_an_issuer_that_never_answers_is_away(
    attempt: Attempt, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ANSWER_MAX_S", 0.2)
    attempt.fake.slow.add(path)
    error = attempt.refused()
    assert error.why is Refusal.AWAY
    asked = list(attempt.fake.asked)
    assert attempt.refused().why is Refusal.AWAY
    if path != "/token":  # it is not asked again for each person
        assert attempt.fake.asked.count(path) == asked.count(path)


@pytest.mark.parametrize(
    "told",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "http://evil.example/token"},
        {"token_endpoint": "ftp://127.0.0.1/"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "https://evil.example/\r\nSet-Cookie: a=b"},
        {"jwks_uri": 7},
        {"jwks_uri": "https://[::1"},
    ],
)
def test_an_issuer_that_says_odd_things_of_itself_is_not_asked_further(
    attempt: Attempt, told: Claims
) -> None:
    attempt.fake.says[DISCOVERY] = told
    assert attempt.refused().why is Refusal.AWAY


@pytest.mark.parametrize(
    "keys",
    [[], "no list", [7], [{"kty": "RSA"}], [{"kty": "oct", "k": "AAAA"}], [{}] * 65],
)
def test_an_issuer_without_keys_is_away(attempt: Attempt, keys: object) -> None:
    attempt.fake.says["/keys"] = {"keys": keys}
    assert attempt.refused().why is Refusal.AWAY


def test_an_answer_counts_in_the_browser_that_began_alone(
    attempt: Attempt, fake: FakeIssuer
) -> None:
    assert attempt.refused(state="another").why is Refusal.LATE
    assert attempt.refused(iss="https://evil.example").why is Refusal.FALSE
    assert attempt.refused(error="access_denied").why is Refusal.DECLINED
    assert attempt.refused(code="guessed").why is Refusal.DECLINED
    assert attempt.refused(code="").why is Refusal.FALSE

    async def stolen() -> None:
        """Have an answer to one browser, code and all, arrive in another with its own ticket."""
        answer = fake.signed_in(await attempt.issuer.place(attempt.ticket))
        other = Ticket.new("/")
        await attempt.issuer.person(other, answer | {"state": other.state})

    with pytest.raises(NotSignedInError) as caught:
        asyncio.run(stolen())
    assert caught.value.why is Refusal.DECLINED  # its verifier is another one


@pytest.mark.parametrize(
    ("content", "mode"), [(b"wrong\n", 0o600), (b"\n", 0o600), (SECRET.encode(), 0o644), (None, 0)]
)
def test_a_secret_that_is_not_in_order_is_said_to_be(
    attempt: Attempt, settings: OidcSettings, content: bytes | None, mode: int
) -> None:
    path = settings.client_secret_file or Path()
    path.unlink()
    if content is not None:
        path.write_bytes(content)
        path.chmod(mode)
    error = attempt.refused()
    assert error.why is Refusal.OURS
    assert SECRET not in str(error)


def test_a_ticket_is_for_ten_minutes_and_its_parts_tell_nothing_of_each_other() -> None:
    made = Ticket.new("/trips")
    assert Ticket.parse(str(made)) == made
    assert len({made.secret, made.state, made.nonce, made.verifier}) == 4
    assert len(made.verifier) == 43
    for age_s in (LASTS_MAX_S + 1, -LASTS_MAX_S - 1):
        assert Ticket.parse(str(Ticket(made.secret, made.began_s - age_s, "/"))) is None
    for text in (None, "", "a", "1.2", "1.2.3.4", f"{'9' * 900}.a.Lw", f"x.{made.secret}.Lw"):
        assert Ticket.parse(text) is None


class Desk:
    """The routes of sign-in, in this process, and a browser that keeps cookies."""

    def __init__(self, directory: Path, settings: OidcSettings) -> None:
        tokens, self.persons = Tokens(directory / "tokens.json"), Persons(directory / "people.json")
        self.sessions = Sessions(
            directory / "sessions.db", tokens, self.persons, issuer=terms_of(settings)
        )
        self.log = AccessLog(directory / "accesses.db", key("gateway"), "site-b")
        people = People(tokens, self.persons, self.sessions, Tries())
        self.app = FastAPI()
        self.app.state.rates = Rates(1000)
        self.app.state.services = SimpleNamespace(
            settings=SimpleNamespace(oidc=settings, tls=SimpleNamespace(ca=None)),
            people=people,
            accesses=self.log,
            issuer=OidcIssuer(settings, ADDRESS) if settings.issuer else None,
        )
        problems.install(self.app)
        for router in (routes.router, routes.callback_router, sessions.router):
            self.app.include_router(router)
        self.app.add_middleware(Headed)
        self.cookies: dict[str, str] = {}

    def get(self, path: str, **headers: str) -> httpx.Response:
        async def asked() -> httpx.Response:
            through = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=through, base_url=ADDRESS) as client:
                kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
                return await client.get(path, headers={"Cookie": kept, **headers})

        answer = asyncio.run(asked())
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
                if morsel["max-age"] == "0":
                    del self.cookies[name]
        return answer

    def come_back(self, answer: dict[str, str]) -> httpx.Response:
        return self.get(f"/v1/session/callback?{httpx.QueryParams(answer)}")


@pytest.fixture
def desk(tmp_path: Path, settings: OidcSettings) -> Iterator[Desk]:
    made = Desk(tmp_path, settings)
    with closing(made.sessions), closing(made.log):
        yield made


TICKET: Final = "__Host-wayseal-signing-in"
SESSION: Final = "__Host-wayseal"


def test_a_browser_goes_to_the_issuer_and_comes_back_signed_in(
    desk: Desk, fake: FakeIssuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert desk.get("/v1/session/ways").json() == {"issuer": urlsplit(fake.url).netloc}
    went = desk.get("/v1/session/issuer?to=/trips/12?at%3D3")
    assert went.status_code == 303
    assert went.headers["cache-control"] == "no-store"
    (cookie,) = went.headers.get_list("set-cookie")
    for word in ("HttpOnly", "Secure", "Path=/", "SameSite=lax", f"Max-Age={LASTS_MAX_S}"):
        assert word in cookie
    ticket, planted = desk.cookies[TICKET], "planted"
    desk.cookies[SESSION] = planted
    answer = fake.signed_in(went.headers["location"])
    asked = parse_qs(urlsplit(went.headers["location"]).query)
    assert asked["redirect_uri"] == [f"{ADDRESS}/v1/session/callback"]
    came = desk.come_back(answer)
    assert (came.status_code, came.headers["location"]) == (303, "/trips/12?at=3")
    assert TICKET not in desk.cookies
    assert desk.cookies[SESSION] != planted
    who = desk.get("/v1/session").json()
    assert (who["name"], who["role"]) == ("oidc:anna", "auditor")
    (session,) = desk.sessions.all()
    assert session.ends_ms - session.began_ms <= 4 * 3_600_000
    secrets = [SECRET, answer["code"], answer["state"], ticket, desk.cookies[SESSION], "access"]
    written = [
        record.getMessage() for record in caplog.records if record.name.startswith("gateway")
    ]
    assert written == ["oidc:anna signs in by the issuer's word, role auditor"]
    assert not [
        each for each in secrets if each in went.headers["location"] and each != answer["state"]
    ]
    # The same answer again: the browser has no ticket any more, and the issuer no code.
    assert desk.come_back(answer).headers["location"] == "/?refused=begin-again"
    desk.cookies[TICKET] = ticket
    assert desk.come_back(answer).headers["location"] == "/?refused=issuer-declined"


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/%5cevil.example",
        "///evil.example/trips",
        "/trips//evil.example/",
        "javascript:alert(1)",
        "/v1/session/issuer",
        "/trips\r\nSet-Cookie: a=b",
        "/trips#@evil.example",
        " /trips",
        "/trips/\u202e",
        "@evil.example",
        "",
    ],
)
def test_a_browser_goes_to_pages_of_ours_alone(desk: Desk, fake: FakeIssuer, to: str) -> None:
    went = desk.get(f"/v1/session/issuer?{httpx.QueryParams({'to': to})}")
    assert urlsplit(went.headers["location"]).netloc == urlsplit(fake.url).netloc
    came = desk.come_back(fake.signed_in(went.headers["location"]))
    assert came.headers["location"] == "/"
    # Nor does a ticket that somebody else has put into the browser lead elsewhere.
    forged = Ticket.new(to if to.isascii() else "/x")
    desk.cookies[TICKET] = str(forged)

    async def place() -> str:
        issuer: OidcIssuer = desk.app.state.services.issuer
        return await issuer.place(forged)

    answer = fake.signed_in(asyncio.run(place()))
    assert desk.come_back(answer).headers["location"] == "/"


def test_another_sites_page_signs_nobody_in(desk: Desk, fake: FakeIssuer) -> None:
    for site in ("cross-site", "same-site"):
        answer = desk.get("/v1/session/issuer", **{"Sec-Fetch-Site": site})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    # Someone else's answer, which an attacker has a victim's browser open.
    attacker = Ticket.new("/")

    async def place() -> str:
        issuer: OidcIssuer = desk.app.state.services.issuer
        return await issuer.place(attacker)

    answer = desk.come_back(fake.signed_in(asyncio.run(place())))
    assert answer.headers["location"] == "/?refused=begin-again"
    assert SESSION not in desk.cookies


def test_another_sites_page_keeps_nobody_from_signing_in(desk: Desk, fake: FakeIssuer) -> None:
    """Any page can have a browser open the way back; that is no try of who has the address."""
    for query in ("", "?state=made-up&code=a", "?code=a&code=b"):
        for _ in range(FREE_TRIES + 2):
            desk.get(f"/v1/session/callback{query}")
    went = desk.get("/v1/session/issuer")
    assert desk.come_back(fake.signed_in(went.headers["location"])).headers["location"] == "/"


def test_a_sign_in_goes_on_whatever_else_the_browser_brings(desk: Desk, fake: FakeIssuer) -> None:
    """Another tab's answer, or one that another site's page has it bring."""
    went = desk.get("/v1/session/issuer")
    desk.get("/v1/session/callback?state=made-up&code=a")
    assert desk.come_back(fake.signed_in(went.headers["location"])).headers["location"] == "/"


def test_passwords_and_tokens_do_not_wait_for_failures_at_the_issuer(
    desk: Desk, fake: FakeIssuer
) -> None:
    people: People = desk.app.state.services.people
    for _ in range(FREE_TRIES + 2):
        went = desk.get("/v1/session/issuer")
        desk.come_back(fake.signed_in(went.headers["location"]) | {"error": "access_denied"})
    assert desk.get("/v1/session/callback").headers["location"] == "/?refused=too-many"
    with cheap_passwords():
        desk.persons.add("inspector", Role.AUDITOR, "a sentence of my own")
        assert people.by_password("inspector", "a sentence of my own", "127.0.0.1")


def test_the_log_has_each_reason_and_each_who_signs_in(
    desk: Desk,
    fake: FakeIssuer,
    settings: OidcSettings,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever strangers have it write in the same minute."""
    refusals = logging.getLogger(f"{routes.__name__}.refusals")
    assert [type(each) for each in refusals.filters] == [Seldom]
    monkeypatch.setattr(refusals, "filters", [Seldom(arguments=1)])  # no other test has said it
    caplog.set_level(logging.INFO)
    for name in ("anna", "bert"):
        desk.get("/v1/session/callback")
        fake.person["sub"] = name
        desk.come_back(fake.signed_in(desk.get("/v1/session/issuer").headers["location"]))
    (settings.client_secret_file or Path()).unlink()
    desk.come_back(fake.signed_in(desk.get("/v1/session/issuer").headers["location"]))
    written = [each.getMessage() for each in caplog.records if each.name.startswith("gateway")]
    assert len(written) == 4
    assert written[0].startswith("nobody is signed in, begin-again: ")
    assert [each.split()[0] for each in written[1:3]] == ["oidc:anna", "oidc:bert"]
    assert written[3].startswith("nobody is signed in, gateway-settings: oidc.client_secret_file")


@pytest.mark.parametrize("groups", [["quality"], ["guests"]])
def test_nobody_is_let_in_or_refused_without_being_written_down(
    desk: Desk, fake: FakeIssuer, groups: list[str]
) -> None:
    fake.person["groups"] = groups
    answer = fake.signed_in(desk.get("/v1/session/issuer").headers["location"])
    desk.sessions.close()
    desk.log.close()
    came = desk.come_back(answer)
    assert (came.status_code, came.headers["location"]) == (303, "/?refused=gateway-trouble")
    assert {SESSION, TICKET}.isdisjoint(desk.cookies)


def test_a_page_with_a_long_or_an_odd_query_is_no_error(desk: Desk, fake: FakeIssuer) -> None:
    odd = "/search?q=it's!(a)*b,c"
    for to, page in (("/search?q=" + "a" * 2000, "/"), (odd, odd)):
        went = desk.get(f"/v1/session/issuer?{httpx.QueryParams({'to': to})}")
        came = desk.come_back(fake.signed_in(went.headers["location"]))
        assert came.headers["location"] == page


def test_who_is_refused_is_told_why_and_a_stranger_is_on_record(
    desk: Desk, fake: FakeIssuer
) -> None:
    fake.person["groups"] = ["guests"]
    for _ in range(2):
        went = desk.get("/v1/session/issuer")
        came = desk.come_back(fake.signed_in(went.headers["location"]))
        assert came.headers["location"] == "/?refused=unknown-person"
        assert SESSION not in desk.cookies
    ((_, access),) = desk.log.listed(0, 10)
    assert (access.who, access.role, access.what) == ("oidc:anna", "stranger", "nothing")
    twice = desk.get("/v1/session/callback?code=a&code=b")
    assert twice.headers["location"] == "/?refused=issuer-false"
    refused = []
    for _ in range(FREE_TRIES):
        went = desk.get("/v1/session/issuer")
        answer = fake.signed_in(went.headers["location"]) | {"iss": "https://another.example"}
        refused.append(desk.come_back(answer).headers["location"])
    assert refused[0] == "/?refused=issuer-false"
    assert refused[-1] == "/?refused=too-many"
    fake.raw[DISCOVERY] = b""
    desk.app.state.services.issuer = OidcIssuer(desk.app.state.services.settings.oidc, ADDRESS)
    assert desk.get("/v1/session/issuer").headers["location"] == "/?refused=issuer-away"


def test_sessions_end_when_the_settings_let_in_others(
    desk: Desk, fake: FakeIssuer, settings: OidcSettings, tmp_path: Path
) -> None:
    went = desk.get("/v1/session/issuer")
    desk.come_back(fake.signed_in(went.headers["location"]))
    session_id = desk.cookies[SESSION]
    assert desk.sessions.find(session_id) is not None
    fewer = {name: each for name, each in settings.access.items() if name != "quality"}
    tokens = Tokens(tmp_path / "tokens.json")
    for changed, stays in (
        (settings.model_copy(update={"session_hours": 1}), True),
        (settings.model_copy(update={"access": fewer}), False),
        (settings.model_copy(update={"issuer": "https://another.example"}), False),
        (OidcSettings(), False),
    ):
        path = tmp_path / "sessions.db"
        with closing(Sessions(path, tokens, desk.persons, issuer=terms_of(changed))) as reopened:
            assert (reopened.find(session_id) is not None) is stays


def test_a_gateway_without_an_issuer_says_so(tmp_path: Path) -> None:
    made = Desk(tmp_path, OidcSettings())
    with closing(made.sessions), closing(made.log):
        assert made.get("/v1/session/ways").json() == {"issuer": None}
        for path in ("/v1/session/issuer", "/v1/session/callback"):
            answer = made.get(path)
            assert answer.status_code == 404
            assert "oidc.issuer is not set" in answer.json()["detail"]


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
