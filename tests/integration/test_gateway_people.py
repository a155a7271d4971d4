"""Sessions of browsers, headers and limits of requests, at a real gateway."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pytest

from gateway.access import Role
from gateway.people.persons import Persons
from gateway.settings_file import load_settings
from support.gateways.passwords import cheap_passwords
from support.trucks.rogue import Site, running_site

pytestmark = pytest.mark.integration

PASSWORD: Final = "a sentence of my own"  # noqa: S105 - of nobody
OWN: Final = {"Sec-Fetch-Site": "same-origin"}
TRIES_MAX: Final = 12
"""The wait doubles with each failure: on a slow machine the first waits may end unnoticed."""


@dataclass
class Scene:
    site: Site
    persons: Persons

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.site.appliance.rest, trust_env=False, timeout=30)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with running_site(tmp_path_factory.mktemp("people")) as site:
        settings = load_settings(site.appliance.settings_file)
        persons = Persons(settings.people_file)
        with cheap_passwords():
            persons.add("inspector", Role.AUDITOR, PASSWORD)
            persons.add("chief", Role.OPERATOR, PASSWORD)
        yield Scene(site, persons)


def signed_in(client: httpx.Client, name: str) -> httpx.Response:
    answer = client.post("/v1/session", json={"name": name, "password": PASSWORD}, headers=OWN)
    assert answer.status_code == 201, answer.text
    return answer


def test_a_person_signs_in_asks_and_signs_out(scene: Scene) -> None:
    with scene.browser() as browser:
        answer = signed_in(browser, "inspector")
        assert answer.json()["role"] == "auditor"
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("wayseal=")  # plain text on loopback: no browser takes Secure
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie
        assert browser.get("/v1/session").json()["session_ends"] is not None
        assert browser.get("/v1/trips").status_code == 200
        assert browser.get("/v1/offloads").status_code == 403
        kept = f"wayseal={browser.cookies['wayseal']}"
        assert browser.delete("/v1/session", headers=OWN).status_code == 204
        assert browser.get("/v1/trips").status_code == 401
        assert browser.get("/v1/trips", headers={"Cookie": kept}).status_code == 401


def test_a_session_has_another_id_after_each_sign_in(scene: Scene) -> None:
    with scene.browser() as browser:
        signed_in(browser, "inspector")
        first = browser.cookies["wayseal"]
        signed_in(browser, "chief")
        assert browser.cookies["wayseal"] != first
        with scene.browser() as other:
            assert other.get("/v1/trips", headers={"Cookie": f"wayseal={first}"}).status_code == 401
            for planted in ("wayseal=planted", "__Host-wayseal=planted", "wayseal="):
                assert other.get("/v1/trips", headers={"Cookie": planted}).status_code == 401


def test_a_cookie_is_secure_where_the_browser_comes_by_a_name(scene: Scene) -> None:
    for headers in ({"Host": "gateway.example"}, {"Origin": "https://gateway.example"}):
        with scene.browser() as browser:
            answer = browser.post(
                "/v1/session",
                json={"name": "inspector", "password": PASSWORD},
                headers={**OWN, **headers},
            )
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-wayseal=")
            assert "Secure" in cookie
            assert "Path=/" in cookie
            assert "Domain" not in cookie


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        (OWN, 202),
    ],
)
def test_no_other_site_makes_a_browser_change_something(
    scene: Scene, headers: dict[str, str], status: int
) -> None:
    with scene.browser() as browser:
        signed_in(browser, "chief")
        assert browser.post("/v1/scrub", headers=headers).status_code == status
    own_origin = {"Origin": scene.site.appliance.rest.rstrip("/")}
    with scene.browser() as browser:
        signed_in(browser, "chief")
        assert browser.post("/v1/scrub", headers=own_origin).is_success


def test_no_other_site_signs_a_browser_in(scene: Scene) -> None:
    with scene.browser() as browser:
        answer = browser.post(
            "/v1/session",
            json={"name": "inspector", "password": PASSWORD},
            headers={"Sec-Fetch-Site": "cross-site"},
        )
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_a_programs_token_needs_no_origin(scene: Scene) -> None:
    assert scene.site.operator.post("/v1/scrub").is_success


def test_a_token_becomes_a_session_and_ends_with_it(scene: Scene) -> None:
    token = scene.site.appliance.token("auditor-9", "auditor")
    with scene.browser() as browser:
        answer = browser.post("/v1/session", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 201
        assert browser.get("/v1/trips").status_code == 200
        scene.site.appliance.token("auditor-9", "auditor")
        assert browser.get("/v1/trips").status_code == 401


def test_a_removed_person_is_out_at_once(scene: Scene) -> None:
    scene.persons.add("leaver", Role.AUDITOR, PASSWORD)
    with scene.browser() as browser:
        signed_in(browser, "leaver")
        scene.persons.remove(["leaver"])
        assert browser.get("/v1/trips").status_code == 401


def test_an_operator_sees_sessions_and_ends_them(scene: Scene) -> None:
    with scene.browser() as browser:
        signed_in(browser, "inspector")
        listed = scene.site.ask("/v1/sessions?limit=1")
        assert listed["items"][0]["name"] == "inspector"
        assert scene.site.operator.delete("/v1/sessions/inspector").status_code == 204
        assert browser.get("/v1/trips").status_code == 401
        names = [each["name"] for each in scene.site.ask("/v1/sessions")["items"]]
        assert "inspector" not in names


def test_wrong_passwords_lock_out_for_a_while_and_name_no_secret(scene: Scene) -> None:
    scene.persons.add("victim", Role.AUDITOR, PASSWORD)
    answers: list[httpx.Response] = []
    with scene.browser() as browser:
        while len(answers) < TRIES_MAX and not (answers and answers[-1].status_code == 429):
            typed = {"name": "victim", "password": "guess me if you can"}
            answers.append(browser.post("/v1/session", json=typed, headers=OWN))
    assert [each.status_code for each in answers[:4]] == [401] * 4
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) > 0
    assert all("guess me" not in each.text for each in answers)
    log = "".join(
        path.read_text(errors="replace")
        for path in Path(scene.site.appliance.directory).rglob("*.log")
    )
    assert "guess me" not in log


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b'{"name": "x"}',
        b'{"name": 1, "password": "y"}',
        b'{"name": "", "password": "y"}',
        b'{"name": "x", "password": "y", "role": "operator"}',
        json.dumps({"name": "x", "password": "z" * 10_000}).encode(),
        b"\xff\xfe",
    ],
)
def test_what_is_no_sign_in_is_refused_and_not_repeated(scene: Scene, body: bytes) -> None:
    with scene.browser() as browser:
        headers = {**OWN, "Content-Type": "application/json"}
        answer = browser.post("/v1/session", content=body, headers=headers)
    assert answer.status_code in (401, 422, 429)
    assert "zzz" not in answer.text


def test_every_answer_tells_browsers_what_not_to_do(scene: Scene) -> None:
    for path in ("/v1/trips", "/v1/nothing", "/healthz", "/docs", "/v1/uploads"):
        headers = scene.site.operator.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"


def test_an_answer_that_is_known_is_not_sent_again(scene: Scene) -> None:
    answer = scene.site.operator.get("/v1/parties")
    etag = answer.headers["etag"]
    again = scene.site.operator.get("/v1/parties", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == etag
    assert answer.headers["cache-control"] == "private, no-cache"


def test_a_long_answer_is_compressed_for_who_takes_it(scene: Scene) -> None:
    ask = scene.site.operator.get
    packed = ask("/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    plain = ask("/v1/openapi.json", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert packed.headers["etag"] == plain.headers["etag"]
    assert int(packed.headers["content-length"]) < len(plain.content) / 4
    none = ask("/v1/openapi.json", headers={"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in none.headers
