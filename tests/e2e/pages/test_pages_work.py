"""Files and checks for which a gateway works: they show how far it is, and can be cancelled."""

import re
from typing import Final

import pytest
from playwright.sync_api import Browser, Route, StorageState, expect

from support.gateways.pages import LOT, Scene, check_looks, until_forgotten
from support.machine.pages import Visit, visit

pytestmark = pytest.mark.e2e
TRIP_FILES: Final = {
    "Certificate, PDF": ("button", b"%PDF-"),
    "Evidence": ("button", b"WAYSEAL"),
    "Readings, CSV": ("link", b"time,device_id"),
    "Readings, SenML": ("link", b'[{"bn":'),
    "Events, EPCIS": ("link", b'{"@context":'),
}
"""What asks for each file, and how it begins: buttons let the gateway work, and tell how far."""
LOT_FILES: Final = {
    "Certificate, PDF": ("button", b"%PDF-"),
    "FSMA 204, XLSX": ("button", b"PK"),
    "Events, EPCIS": ("button", b'{"@context":'),
}
WORKING: Final = {
    "job_id": "ab" * 16,
    "state": "running",
    "progress": {
        "step": 2,
        "steps": 4,
        "subject": "trip 7",
        "doing": "reads batches",
        "done": 1,
        "total": 2,
        "unit": "batches",
    },
    "error": None,
    "result": None,
    "size": None,
    "sha256": None,
}


def test_files_are_taken_along_from_the_pages(operator: Visit, scene: Scene) -> None:
    page = operator.page
    for path, files in ((scene.trip, TRIP_FILES), (f"{scene.base}{LOT}", LOT_FILES)):
        page.goto(path)
        for name, (role, begins) in files.items():
            asks = page.get_by_role("button" if role == "button" else "link", name=name, exact=True)
            with page.expect_download() as download:
                asks.click()
            assert download.value.path().read_bytes().startswith(begins), name
            if role == "button":
                ready = page.get_by_text("Ready: ")
                expect(ready).to_contain_text(download.value.suggested_filename)
    check_looks(operator, "taken-along")


def test_a_file_that_the_gateway_works_for_tells_how_far_it_is_and_can_be_cancelled(
    operator: Visit, scene: Scene
) -> None:
    page, asked = operator.page, list[str]()

    def answer(route: Route) -> None:
        asked.append(route.request.method)
        route.fulfill(status=204 if asked[-1] == "DELETE" else 200, json=WORKING)

    page.route("**/certificate.pdf", lambda route: route.fulfill(status=202, json=WORKING))
    page.route(f"**/v1/jobs/{WORKING['job_id']}", answer)
    page.goto(scene.trip)
    make = page.get_by_role("button", name="Certificate, PDF", exact=True)
    make.click()
    expect(page.get_by_text("trip 7 (2 of 4): reads batches")).to_be_visible()
    expect(make).to_be_disabled()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(make).to_be_enabled()
    expect(page.get_by_text("The gateway makes: ")).to_be_hidden()
    until_forgotten(operator, asked)


def test_a_file_that_waits_for_a_place_can_be_given_up_by_keyboard(
    operator: Visit, scene: Scene
) -> None:
    page, busy = operator.page, {"status": 429, "title": "Too Many Requests", "detail": "4 jobs"}
    page.route("**/certificate.pdf", lambda route: route.fulfill(status=429, json=busy))
    page.goto(scene.trip)
    make = page.get_by_role("button", name="Certificate, PDF", exact=True)
    make.focus()
    page.keyboard.press("Enter")
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_visible()
    expect(make).to_be_focused()
    cancel.focus()
    page.keyboard.press("Enter")
    expect(cancel).to_be_hidden()
    expect(make).to_be_enabled()
    expect(make).to_be_focused()


def test_a_file_for_which_the_gateway_has_no_room_is_taken_without_a_job(
    operator: Visit, scene: Scene
) -> None:
    page = operator.page
    why = "expected results of at most 8589934592 bytes of operator at a time, and 8500000000 are "
    ended = {**WORKING, "state": "failed", "progress": None, "error": f"{why}kept: delete jobs"}

    def asked(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(status=202, json=WORKING)
        else:
            route.continue_()

    page.route("**/v1/evidence?*", asked)
    page.route(f"**/v1/jobs/{WORKING['job_id']}", lambda route: route.fulfill(json=ended))
    page.goto(scene.trip)
    page.get_by_role("button", name="Evidence, video", exact=True).click()
    told = page.get_by_role("alert").filter(has_text="Not made: Evidence, video")
    expect(told).to_contain_text(why)
    assert not operator.violations()
    with page.expect_download() as download:
        told.get_by_role("link", name="Take it without a job").click()
    assert download.value.path().read_bytes().startswith(b"WAYSEAL")


def as_a_job(seen: Visit) -> list[str]:
    """Have each verification run as a job, and show the first look at it half-way; return looks."""
    looks: list[str] = []

    def at_once(route: Route) -> None:
        url = route.request.url.removesuffix("?kept=true")  # no earlier verdict
        headers = {**route.request.headers, "prefer": "respond-async"}
        begun = route.fetch(url=url, headers=headers)
        # The page would have nothing to show of a job that has ended by now.
        route.fulfill(response=begun, json={**begun.json(), "state": "running"})

    def half_way(route: Route) -> None:
        looks.append(route.request.method)
        if looks != ["GET"]:
            route.continue_()
            return
        fetched = route.fetch()
        told = {"step": 2, "steps": 4, "subject": "trip T-2", "doing": "reads", "done": 5}
        running = {"state": "running", "progress": {**told, "total": 10, "unit": "batches"}}
        route.fulfill(response=fetched, json={**fetched.json(), **running})

    seen.page.route("**/verify*", at_once)
    seen.page.route(re.compile("/v1/jobs/[0-9a-f]+$"), half_way)
    return looks


def test_a_long_check_shows_how_far_it_is_and_ends_with_the_seal(
    operator: Visit, scene: Scene
) -> None:
    looks = as_a_job(operator)
    operator.page.goto(scene.trip)
    seal = operator.page.get_by_role("region", name="Seal")
    expect(seal.get_by_text("trip T-2 (2 of 4): reads")).to_be_visible()
    expect(seal.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "38")
    assert not operator.violations()
    expect(seal.get_by_text("Genuine and complete")).to_be_visible()
    expect(seal.get_by_role("progressbar")).to_have_count(0)
    until_forgotten(operator, looks)


def test_a_lot_is_checked_on_demand_and_says_what_was_not_looked_at(
    operator: Visit, scene: Scene
) -> None:
    looks = as_a_job(operator)
    operator.page.goto(scene.base + LOT)
    card = operator.page.get_by_role("region", name="Does the record hold")
    card.get_by_role("button", name="Check this lot").click()
    expect(card.get_by_role("progressbar")).to_be_visible()
    expect(card.get_by_text("All of it was checked, and all holds")).to_be_visible()
    expect(card.get_by_text("1 trip judged, 1 recording read")).to_be_visible()
    until_forgotten(operator, looks)
    looks.clear()
    card.get_by_role("button", name="Check again").click()
    card.get_by_role("button", name="Cancel").click()
    expect(card.get_by_role("button", name="Check this lot")).to_be_visible()
    until_forgotten(operator, looks)
    assert not operator.violations()


def test_a_trip_is_verified_in_the_browser_by_the_keys_that_a_person_brings(
    operator: Visit, scene: Scene
) -> None:
    page = operator.page
    page.goto(scene.trip)
    seal = page.get_by_role("region", name="Seal")
    seal.get_by_text("Check it in this browser", exact=True).click()
    seal.get_by_role("button", name="Check in this browser").click()
    expect(seal.get_by_text("Unanchored, by this browser")).to_be_visible()
    expect(seal.get_by_text("anyone could have made it")).to_be_visible()
    seal.get_by_label("Keys that you trust").set_input_files(scene.trust)
    seal.get_by_role("button", name="Check in this browser again").click()
    expect(seal.get_by_text("Holds, by this browser")).to_be_visible()
    done = seal.get_by_role("listitem").filter(has_text="Batches and transactions: signed")
    expect(done).to_contain_text("holds")
    check_looks(operator, "verified-here")
    assert not operator.said


def test_a_check_in_the_browser_that_was_stopped_gives_no_verdict(
    browser: Browser, scene: Scene, kept: StorageState
) -> None:
    """Stopped while the file of keys is read, which nothing can interrupt."""
    with visit(browser, scene.base, kept=kept) as seen:
        page = seen.page
        page.add_init_script(
            """
            Blob.prototype.text = () => new Promise((told) => (window.tell = () => told("{}")));
            const Before = Worker;
            window.begun = 0;
            window.Worker = function (...given) { window.begun += 1; return new Before(...given); };
            """
        )
        page.goto(scene.trip)
        seal = page.get_by_role("region", name="Seal")
        seal.get_by_text("Check it in this browser", exact=True).click()
        seal.get_by_label("Keys that you trust").set_input_files(scene.trust)
        seal.get_by_role("button", name="Check in this browser").click()
        page.wait_for_function("() => window.tell")
        seal.get_by_role("button", name="Stop").click()
        page.evaluate("() => { window.tell(); return new Promise((done) => setTimeout(done)); }")
        assert page.evaluate("() => window.begun") == 0
        expect(seal.get_by_role("button", name="Check in this browser")).to_be_enabled()


def test_evidence_that_was_altered_on_its_way_does_not_hold_in_the_browser(
    operator: Visit, scene: Scene
) -> None:
    """The browser judges the bytes that it got: the gateway's own verdict stays as it was."""

    def altered(route: Route) -> None:
        fetched = route.fetch()
        body = bytearray(fetched.body())
        body[len(body) // 2] ^= 1
        route.fulfill(response=fetched, body=bytes(body))

    page = operator.page
    page.route("**/v1/evidence?trip=*", altered)
    page.goto(scene.trip)
    seal = page.get_by_role("region", name="Seal")
    seal.get_by_text("Check it in this browser", exact=True).click()
    seal.get_by_label("Keys that you trust").set_input_files(scene.trust)
    seal.get_by_role("button", name="Check in this browser").click()
    expect(seal.get_by_text("Does not hold, by this browser")).to_be_visible()
    expect(seal.get_by_text("Genuine and complete")).to_be_visible()
    assert not operator.violations()
