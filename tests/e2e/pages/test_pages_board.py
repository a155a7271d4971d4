"""The board: trucks that may leave or must stay, on a desk and a wall, and without news."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Route, StorageState, expect

from support.gateways.pages import Scene
from support.machine.pages import WALL, Visit, visit

pytestmark = pytest.mark.e2e


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


def test_the_board_asks_for_no_more_visits_than_are_lately_here(board: Visit) -> None:
    """It asks every 3 s; a site keeps years of visits."""
    asked, old = list[str](), "2020-01-01T00:00:00.000Z"

    def many(route: Route) -> None:
        asked.append(route.request.url)
        limit = int(parse_qs(urlsplit(asked[-1]).query)["limit"][0])
        answer = route.fetch()
        page = answer.json()
        older = [
            {**each, "trip_id": f"{at:032x}", "since": old}
            for each in page["items"]
            for at in range(limit - 1)
        ]
        page |= {"items": [*page["items"], *older], "next_cursor": "7"}
        route.fulfill(response=answer, json=page)

    board.page.route(re.compile(r"/v1/offloads\?order=newest"), many)
    board.page.goto(board.base)
    expect(board.page.get_by_text("May leave", exact=True)).to_have_count(1)
    assert all("limit=50&" in each and each.endswith("cursor=0") for each in asked), asked


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


def test_the_search_leads_from_a_label_to_the_lot(board: Visit) -> None:
    page = board.page
    page.get_by_role("searchbox").fill("L42")
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_role("link", name="L42").click()
    expect(page.locator("h1")).to_have_text("Lot L42")
