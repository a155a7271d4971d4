"""The pages at `/` in a real Chromium, on a gateway that a truck has offloaded a trip into.

All of them are in one file, although it is long. `make test` gives each file to one process, and a
second gateway with its trip, and a second Chromium, take 9 s to start.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, StorageState, expect

from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.truck import Truck
from support.machine.pages import DESK, PHONE, WALL, Scheme, Visit, chromium, visit

pytestmark = pytest.mark.e2e

LOT: Final = "/lot?gtin=00012345678905&lot=L42"
Looks = Sequence[tuple[tuple[int, int], Scheme]]
LOOKS: Final[Looks] = [(PHONE, "dark"), (DESK, "light")]
"""A page that is loaded once is looked at in each."""


@dataclass(frozen=True)
class Scene:
    """A gateway with one trip, and who may look at it."""

    base: str
    trip_id: str
    delivery_id: str
    operator: str
    auditor: str

    @property
    def trip(self) -> str:
        return f"{self.base}/trips/{self.trip_id}"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    directory = tmp_path_factory.mktemp("pages")
    appliance = Appliance(directory / "site-b")
    try:
        appliance.start()
        appliance.register_network()
        truck = Truck(directory / "truck", "truck-7")
        truck.join(appliance)
        trip_id = truck.ask("record", "--simulate", "--seed", "1")["trip"]
        truck.ask("offload")
        appliance.hand_over(trip_id)
        operator, auditor = (appliance.token(role, role) for role in ("operator", "auditor"))
        with closing(Auditor(appliance.rest, operator)) as asker:
            delivery_id = asker.ask(f"/v1/trips/{trip_id}")["delivery_ids"][0]
        yield Scene(appliance.rest, trip_id, delivery_id, operator, auditor)
    finally:
        appliance.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def kept(browser: Browser, scene: Scene) -> StorageState:
    """Return what the browser of an operator keeps who has signed in."""
    with visit(browser, scene.base) as made:
        made.sign_in(scene.operator)
        return made.page.context.storage_state()


@pytest.fixture(scope="module")
def signed_in(browser: Browser, scene: Scene, kept: StorageState) -> Iterator[Visit]:
    with visit(browser, scene.base, kept=kept) as made:
        yield made


@pytest.fixture
def operator(signed_in: Visit) -> Iterator[Visit]:
    """Yield the one page of an operator; each test goes where it looks, and changes no session."""
    signed_in.said.clear()
    yield signed_in
    signed_in.page.unroute_all()


@pytest.fixture
def board(operator: Visit) -> Visit:
    """Return the operator's page at the board."""
    operator.page.goto(operator.base)
    return operator


@pytest.fixture(scope="module")
def trip(signed_in: Visit, scene: Scene) -> Iterator[Page]:
    """Yield a tab with the trip, loaded once; a test may move its moment, and changes no more."""
    page = signed_in.page.context.new_page()
    page.goto(scene.trip)
    yield page
    page.close()


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


def check_looks(seen: Visit, path: str, looks: Looks = LOOKS) -> None:
    """Check the page that is loaded on a phone and on a desk."""
    for size, scheme in looks:
        seen.look(size, scheme)
        assert not seen.violations(), (path, size, scheme)
        assert not seen.is_too_wide(), (path, size, scheme)


def test_the_board_says_that_the_truck_may_leave(board: Visit) -> None:
    row = board.page.get_by_role("listitem").filter(has_text="truck-7")
    expect(row).to_contain_text("May leave")
    expect(row).to_contain_text("committed and copied")
    expect(board.page.get_by_text("all may leave")).to_be_visible()


def test_the_board_says_why_a_truck_must_stay(board: Visit) -> None:
    def half(route: Route) -> None:
        answer = route.fetch()
        page = answer.json()
        (visit_,) = page["items"]
        (video,) = visit_["recordings"]
        video["received"] = video["size"] // 2
        visit_ |= {"receipted": False, "lacking": ["a copy in the blob store"]}
        route.fulfill(response=answer, json=page)

    board.page.route("**/v1/offloads?order=newest&*", half)
    row = board.page.get_by_role("listitem").filter(has_text="truck-7")
    expect(row).to_contain_text("Must stay")
    expect(row).to_contain_text("6.0 MB of video are still only on the truck; a copy in the blob")
    expect(row.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "50")
    expect(board.page.get_by_text("1 must stay")).to_be_visible()
    assert not board.violations()


def test_an_auditor_is_told_what_the_board_does_not_show(browser: Browser, scene: Scene) -> None:
    with visit(browser, scene.base) as seen:
        seen.sign_in(scene.auditor)
        expect(seen.page.get_by_text("Operators see the trucks here")).to_be_visible()
        assert seen.said == []


def test_a_board_without_news_says_so(board: Visit) -> None:
    expect(board.page.get_by_text("May leave", exact=True)).to_be_visible()
    board.page.context.set_offline(offline=True)
    expect(board.page.get_by_text("No news of the trucks")).to_be_visible()
    board.page.context.set_offline(offline=False)
    expect(board.page.get_by_text("No news of the trucks")).to_be_hidden()


def test_a_trip_shows_its_excursion_and_its_seal(trip: Page) -> None:
    expect(trip.get_by_text("Genuine and complete")).to_be_visible()
    expect(trip.get_by_role("button", name=re.compile("Temperature reached 11 °C"))).to_be_visible()
    chart = trip.get_by_role("img", name=re.compile("^Temperature from 4.3 to 11.0 °C"))
    expect(chart).to_be_visible()
    expect(chart.locator("canvas")).to_be_visible()
    expect(trip.get_by_role("img", name=re.compile("Route of the trip, near Graz"))).to_be_visible()


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


def test_a_moment_moves_chart_map_and_video_together(trip: Page) -> None:
    expect(trip.locator("svg circle.now")).to_be_visible()
    before = trip.locator("svg circle.now").get_attribute("cx")
    trip.get_by_role("button", name=re.compile("Door open")).click()
    expect(trip.get_by_text("06:36:00 UTC")).to_be_visible()
    assert trip.locator("svg circle.now").get_attribute("cx") != before
    slider = trip.get_by_role("slider", name="Moment on the trip")
    slider.focus()
    slider.press("ArrowRight")
    expect(trip.get_by_text("06:36:01 UTC")).to_be_visible()


def test_a_trip_says_what_it_holds_and_the_video_too(
    trip: Page, operator: Visit, scene: Scene
) -> None:
    holds = trip.get_by_role("region", name="Holds")
    expect(holds.get_by_role("button", name=re.compile("Temperature outside"))).to_be_visible()
    # The truck's film ends long before the door opens.
    expect(holds.get_by_role("button", name=re.compile("door-open.*no recording"))).to_be_visible()
    expect(holds.get_by_role("textbox")).to_have_count(0)
    noticed = trip.get_by_role("region", name="What the truck noticed")
    expect(noticed).to_contain_text("No remark on record")
    page = operator.page
    page.route("**/v1/trips/*/recordings?*", changed(lambda each: {**each, "held_because": [WHY]}))
    page.goto(scene.trip)
    video = page.get_by_role("region", name="Video")
    expect(video.get_by_text("held", exact=True)).to_be_visible()
    expect(video).to_contain_text(f"no retention takes it: {WHY}")
    assert not operator.violations()


def test_a_trip_shows_claimed_and_corrected_times_and_what_the_truck_noticed(
    browser: Browser, scene: Scene, kept: StorageState
) -> None:
    with visit(browser, scene.base, *LOOKS[0], kept) as seen:
        page = seen.page
        for name, change in CLOCK_SET_RIGHT.items():
            page.route(f"**/v1/trips/*/{name}?*", changed(change))
        page.goto(scene.trip)
        events = page.get_by_role("region", name="What happened")
        expect(events).to_contain_text(f"by the right clock {RIGHT}")
        expect(events).to_contain_text("Door open, door open ended")
        charts = page.get_by_role("region", name="Readings")
        expect(charts).to_contain_text(f"(by the right clock {RIGHT})")
        expect(charts).to_contain_text("The truck's clock was wrong")
        noticed = page.get_by_role("region", name="What the truck noticed")
        expect(noticed).to_contain_text("Camera back sees nothing: ended")
        expect(noticed).to_contain_text(f"that reading was at {RIGHT} UTC by the right clock")
        expect(page.get_by_role("region", name="Holds")).to_contain_text("no end on record")
        check_looks(seen, scene.trip, [*LOOKS, (PHONE, "light")])
        assert not seen.said


def changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Route], None]:
    """Return a handler that changes each item of an answer."""

    def answer(route: Route) -> None:
        fetched = route.fetch()
        page = fetched.json()
        page["items"] = [change(each) for each in page["items"] or [{}]]
        route.fulfill(response=fetched, json=page)

    return answer


WHY: Final = "temperature outside the limits of delivery D-1"
RIGHT: Final = "3 Mar 2026, 04:05:06"
_RIGHT: Final = "2026-03-03T04:05:06.000Z"
CLOCK_SET_RIGHT: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "readings": lambda each: {**each, "corrected_time": _RIGHT},
    "breaches": lambda each: {**each, "since_corrected": _RIGHT, "until_corrected": _RIGHT},
    "tampers": lambda each: {**each, "corrected_time": _RIGHT, "ended": ["door-open"]},
    "automatic-holds": lambda each: {**each, "since_corrected": _RIGHT, "until": None},
    "remarks": lambda _: {
        "device_id": "truck-7",
        "sequence": 12,
        "time": "2026-03-02T06:31:00.000Z",
        "corrected_time": _RIGHT,
        "kind": "camera-covered",
        "change": "ended",
        "subject": "back",
        "since": "2026-03-02T06:30:59.000Z",
        "amount_s": None,
        "film": [],
        "says": "camera back sees nothing",
    },
}
"""How answers change when the clock of a truck was set right later."""


def test_video_plays_the_moment_one_clicks(trip: Page) -> None:
    trip.get_by_role("slider", name="Moment on the trip").press("Home")
    picture = trip.locator("canvas[data-frame]")
    expect(picture).to_have_attribute("data-frame", "0")
    trip.get_by_role("button", name="Play").click()
    expect(picture).not_to_have_attribute("data-frame", "0")
    trip.get_by_role("button", name="Pause").click()
    assert picture.evaluate("c => c.getContext('2d').getImageData(9, 9, 1, 1).data[3]") == 255


def test_a_lot_leads_to_its_trip_by_keyboard(operator: Visit, scene: Scene) -> None:
    page = operator.page
    page.goto(scene.base + LOT)
    link = page.get_by_role("link", name=f"Trip {scene.trip_id}").first
    link.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(scene.trip)
    expect(page.locator("h1")).to_be_focused()


def test_the_search_leads_from_a_label_to_the_lot(board: Visit) -> None:
    page = board.page
    page.get_by_role("searchbox").fill("L42")
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_role("link", name="L42").click()
    expect(page.locator("h1")).to_have_text("Lot L42")


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


def test_an_operator_ends_the_holds_of_a_trip_with_a_reason(operator: Visit, scene: Scene) -> None:
    """The gateway's own part is in tests/integration/test_gateway_autoholds.py."""
    page, said = operator.page, list[Any]()

    def held(each: dict[str, Any]) -> dict[str, Any]:
        kind = "ended_recording_ids" if said else "recording_ids"
        return {**each, kind: ["ab" * 32]}

    def end(route: Route) -> None:
        said.append(route.request.post_data_json)
        route.fulfill(json={})

    page.route("**/v1/trips/*/automatic-holds?*", changed(held))
    page.route("**/automatic-holds/end", end)
    page.goto(scene.trip)
    holds = page.get_by_role("region", name="Holds")
    expect(holds.get_by_text("1 recording held").first).to_be_visible()
    expect(holds.get_by_role("button", name="End these holds")).to_be_disabled()
    assert not operator.violations()
    holds.get_by_label("Why may this gateway let go").fill("claim settled")
    holds.get_by_role("button", name="End these holds").click()
    expect(holds.get_by_text("1 recording let go").first).to_be_visible()
    expect(holds.get_by_role("textbox")).to_have_count(0)
    (asked,) = said
    assert (asked.pop("block_num") > 0, asked) == (True, {"why": "claim settled"})


def test_an_auditor_ends_no_holds(browser: Browser, scene: Scene) -> None:
    with visit(browser, scene.base) as seen:
        seen.sign_in(scene.auditor)
        held = changed(lambda each: {**each, "recording_ids": ["ab" * 32]})
        seen.page.route("**/v1/trips/*/automatic-holds?*", held)
        seen.page.goto(scene.trip)
        holds = seen.page.get_by_role("region", name="Holds")
        expect(holds.get_by_text("1 recording held").first).to_be_visible()
        expect(holds.get_by_role("textbox")).to_have_count(0)


def test_a_name_that_a_party_chose_is_text(operator: Visit, scene: Scene) -> None:
    operator.page.goto(f"{scene.base}/lot?gtin=1&lot=<img src=x onerror=alert(1)>")
    expect(operator.page.locator("h1")).to_have_text("Lot <img src=x onerror=alert(1)>")
    expect(operator.page.get_by_role("alert").first).to_contain_text("Not found")


def test_an_unknown_trip_and_an_unknown_page_are_told(operator: Visit, scene: Scene) -> None:
    operator.page.goto(f"{scene.base}/trips/{'0' * 32}")
    expect(operator.page.get_by_role("alert").first).to_contain_text("Not found")
    assert operator.page.request.get(f"{scene.base}/nowhere").status == 404


def test_the_board_fills_a_wall(browser: Browser, scene: Scene, kept: StorageState) -> None:
    with visit(browser, scene.base, WALL, "dark", kept) as seen:
        seen.page.goto(scene.base)
        word = seen.page.get_by_text("May leave", exact=True)
        expect(word).to_be_visible()
        size = word.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
        assert size > WALL[1] / 40, (
            "a word that is a fortieth of the wall's height is read from afar"
        )
        assert not seen.is_too_wide()


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


def until_forgotten(seen: Visit, looks: list[str]) -> None:
    """Return once the page has told the gateway that it needs a job no more."""
    for _ in range(1500):
        if "DELETE" in looks:
            return
        seen.page.wait_for_timeout(20)
    pytest.fail(f"the page forgot no job: {looks}")


def test_a_clip_plays_and_its_evidence_has_the_parts_that_show_it(
    operator: Visit, scene: Scene
) -> None:
    page = operator.page
    page.goto(scene.trip)
    video = page.get_by_role("region", name="Video")
    video.get_by_text("A clip to show or hand on").click()
    video.get_by_label("Length").select_option("10")
    video.get_by_role("button", name=re.compile("Make a clip, ")).click()
    clip = video.get_by_label(re.compile(r"^Clip, \d\d:\d\d:\d\d to "))
    expect(clip).to_be_visible()
    expect(video.get_by_text("Its pictures were made again")).to_be_visible()
    page.wait_for_function("e => e.duration > 0 && e.videoWidth > 0", arg=clip.element_handle())
    check_looks(operator, "clip")
    with page.expect_download() as saved:
        video.get_by_role("link", name="Save the clip").click()
    assert saved.value.path().read_bytes()[4:8] == b"ftyp"
    with page.expect_download() as taken:
        video.get_by_role("link", name="Take its evidence").click()
    assert taken.value.path().read_bytes().startswith(b"WAYSEAL")
    assert taken.value.path().stat().st_size > 1 << 20, "with some of the video"


def test_a_gateway_without_clips_says_so_on_the_page(operator: Visit, scene: Scene) -> None:
    told = {"title": "Not Implemented", "status": 501, "detail": "this gateway makes no clips"}
    operator.page.route(
        "**/clip?*",
        lambda route: route.fulfill(status=501, json=told, content_type="application/problem+json"),
    )
    operator.page.goto(scene.trip)
    video = operator.page.get_by_role("region", name="Video")
    video.get_by_text("A clip to show or hand on").click()
    video.get_by_role("button", name=re.compile("Make a clip, ")).click()
    expect(video.get_by_role("alert")).to_contain_text("this gateway makes no clips")
    assert not operator.violations()
