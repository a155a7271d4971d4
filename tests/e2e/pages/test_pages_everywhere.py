"""All pages: sign-in and sign-out, accessibility, keyboard, names, and pages that do not exist."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, StorageState, expect

from contracts.keys import Signer
from gateway.access import Role, Tokens
from gateway.grants import parse_grants
from gateway.pki.unregistered import Unregistered
from support.gateways.pages import LOOKS, LOT, Scene, check_looks
from support.machine.pages import Visit, visit

pytestmark = pytest.mark.e2e


def paths(scene: Scene) -> list[str]:
    lists = ["/", "/trips", "/lots", "/deliveries", "/parties", "/devices"]
    own = [f"/trips/{scene.trip_id}", LOT, f"/deliveries/{scene.delivery_id}"]
    return [*lists, "/storage", "/ledger", "/access", "/search?q=L4", *own]


def test_a_stranger_signs_in_and_a_wrong_token_is_told(browser: Browser, scene: Scene) -> None:
    with visit(browser, scene.base) as seen:
        seen.page.goto(scene.trip)
        expect(seen.page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert not seen.said
        assert not seen.violations()
        seen.page.get_by_role("radio", name="Token").check()
        seen.page.locator("#token").fill("not-a-token")
        seen.page.get_by_role("button", name="Sign in").click()
        expect(seen.page.get_by_role("alert")).to_contain_text("You are not signed in")
        seen.page.locator("#token").fill(scene.auditor)
        seen.page.get_by_role("button", name="Sign in").click()
        expect(seen.page.get_by_role("heading", name="Seal")).to_be_visible()
        assert scene.auditor not in str(seen.page.context.storage_state()["origins"])


def test_signing_out_ends_the_session(browser: Browser, scene: Scene) -> None:
    with visit(browser, scene.base) as seen:
        seen.sign_in(scene.operator)
        seen.page.get_by_role("button", name="Sign out").click()
        expect(seen.page.get_by_role("heading", name="Sign in")).to_be_visible()
        answer = seen.page.request.get(f"{scene.base}/v1/trips")
        assert answer.status == 401


def test_every_page_is_accessible_quiet_and_loads_nothing_from_elsewhere(
    browser: Browser, scene: Scene, kept: StorageState
) -> None:
    with visit(browser, scene.base, *LOOKS[0], kept) as seen:
        for path in paths(scene):
            seen.look(*LOOKS[0])
            seen.page.goto(scene.base + path)
            expect(seen.page.locator("h1")).to_be_visible()
            expect(seen.page.get_by_role("status")).to_have_count(0)
            check_looks(seen, path)
        assert not seen.said
        assert {urlsplit(each).netloc for each in seen.asked} == {urlsplit(scene.base).netloc}


def test_an_operator_sees_who_may_see_what_who_waits_and_the_newest_block(
    operator: Visit, scene: Scene
) -> None:
    grants = parse_grants(["party:buyer"])
    Tokens(scene.data / "tokens.json").add("insurer", Role.AUDITOR, None, grants)
    key = Signer.generate().public_key
    Unregistered(scene.data / "waiting.json").add("truck-11", key)
    page = operator.page
    page.goto(f"{scene.base}/access")
    row = page.get_by_role("region", name="Who may see what").get_by_role("row")
    expect(row.filter(has_text="insurer")).to_contain_text("party:buyer")
    page.goto(f"{scene.base}/devices")
    waits = page.get_by_role("region", name="To be admitted")
    expect(waits).to_contain_text("Its key waits to be confirmed")
    expect(waits.get_by_text(key, exact=True)).to_be_visible()
    check_looks(operator, "/devices")
    page.goto(f"{scene.base}/ledger")
    status = page.request.get(f"{scene.base}/v1/status").json()
    first = page.get_by_role("region", name="Newest blocks").get_by_role("row").nth(1)
    expect(first).to_contain_text(status["index_block_id"][:16])
    assert not operator.said


def test_an_operator_ends_the_sessions_of_an_auditor(
    operator: Visit, browser: Browser, scene: Scene
) -> None:
    with visit(browser, scene.base) as other:
        other.sign_in(scene.auditor)
        operator.page.goto(f"{scene.base}/access")
        sessions = operator.page.get_by_role("region", name="Sessions under way")
        rows = sessions.get_by_role("row").filter(has_text="auditor")
        rows.first.get_by_role("button", name="End…").click()
        rows.get_by_role("button", name="Yes, end all of auditor").first.click()
        expect(rows).to_have_count(0)
        other.page.goto(f"{scene.base}/trips")
        expect(other.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_lot_leads_to_its_trip_by_keyboard(operator: Visit, scene: Scene) -> None:
    page = operator.page
    page.goto(scene.base + LOT)
    link = page.get_by_role("link", name=f"Trip {scene.trip_id}").first
    link.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(scene.trip)
    expect(page.locator("h1")).to_be_focused()


def test_a_name_that_a_party_chose_is_text(operator: Visit, scene: Scene) -> None:
    operator.page.goto(f"{scene.base}/lot?gtin=1&lot=<img src=x onerror=alert(1)>")
    expect(operator.page.locator("h1")).to_have_text("Lot <img src=x onerror=alert(1)>")
    expect(operator.page.get_by_role("alert").first).to_contain_text("Not found")


def test_an_unknown_trip_and_an_unknown_page_are_told(operator: Visit, scene: Scene) -> None:
    operator.page.goto(f"{scene.base}/trips/{'0' * 32}")
    expect(operator.page.get_by_role("alert").first).to_contain_text("Not found")
    assert operator.page.request.get(f"{scene.base}/nowhere").status == 404
