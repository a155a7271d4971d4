"""What is believed of an issuer, and what of one that lies."""

import asyncio
import base64
import hmac
import json
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from gateway.oidcsettings import OidcSettings
from gateway.people.oidc import asking, documents
from gateway.people.oidc.issuer import OidcIssuer
from gateway.people.oidc.refusals import NotSignedInError, Refusal
from gateway.people.oidc.ticket import LASTS_MAX_S, Ticket
from support.gateways.issuers import (
    ADDRESS,
    CLIENT,
    DISCOVERY,
    SECRET,
    Attempt,
    Claims,
    FakeIssuer,
    fake_issuer,
    settings_for,
    signed,
)
from support.machine.pki import Pki


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
