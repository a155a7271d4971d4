"""The way to an issuer and back: the routes, and a browser that keeps cookies."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import closing
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI

from contracts.runtime.seldom import Seldom
from gateway.access import Role, Tokens
from gateway.api import issuer as routes
from gateway.api import problems, sessions
from gateway.api.headers import Headed
from gateway.oidcsettings import OidcSettings
from gateway.people.accesslog import AccessLog
from gateway.people.oidc.admission import terms_of
from gateway.people.oidc.issuer import OidcIssuer
from gateway.people.oidc.ticket import LASTS_MAX_S, Ticket
from gateway.people.persons import Persons
from gateway.people.rates import Rates
from gateway.people.sessions import Sessions
from gateway.people.signing import People
from gateway.people.tries import FREE_TRIES, Tries
from support.gateways.issuers import (
    ADDRESS,
    DISCOVERY,
    SECRET,
    FakeIssuer,
)
from support.gateways.passwords import cheap_passwords
from support.network.world import key


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
