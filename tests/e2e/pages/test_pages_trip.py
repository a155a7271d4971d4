"""The page of a trip: its excursion, moments, video, clips and holds."""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, Route, StorageState, expect

from support.gateways.pages import LOOKS, Scene, changed, check_looks
from support.machine.pages import PHONE, Visit, visit

pytestmark = pytest.mark.e2e
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


def test_a_trip_shows_its_excursion_and_its_seal(trip: Page) -> None:
    expect(trip.get_by_text("Genuine and complete")).to_be_visible()
    expect(trip.get_by_role("button", name=re.compile("Temperature reached 11 °C"))).to_be_visible()
    chart = trip.get_by_role("img", name=re.compile("^Temperature from 4.3 to 11.0 °C"))
    expect(chart).to_be_visible()
    expect(chart.locator("canvas")).to_be_visible()
    expect(trip.get_by_role("img", name=re.compile("Route of the trip, near Graz"))).to_be_visible()


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


def test_video_plays_the_moment_one_clicks(trip: Page) -> None:
    trip.get_by_role("slider", name="Moment on the trip").press("Home")
    picture = trip.locator("canvas[data-frame]")
    expect(picture).to_have_attribute("data-frame", "0")
    trip.get_by_role("button", name="Play").click()
    expect(picture).not_to_have_attribute("data-frame", "0")
    trip.get_by_role("button", name="Pause").click()
    assert picture.evaluate("c => c.getContext('2d').getImageData(9, 9, 1, 1).data[3]") == 255


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
