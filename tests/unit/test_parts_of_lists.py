"""Lists whose items come and go, in parts: nothing twice, nothing left out."""

import asyncio
import re
from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from gateway.api.placed import FIRST, InParts, PlacedWindow, since

NEXT = re.compile(r'<([^<>]+)>; rel="next"')


@pytest.fixture
def listed() -> list[str]:
    return [f"truck {number} & co" for number in range(7)]


Get = Callable[[str], httpx.Response]


@pytest.fixture
def get(listed: list[str]) -> Get:
    app = FastAPI()

    @app.get("/listed")
    def answer(parts: InParts) -> list[str]:
        return parts.of(reversed(listed), str)

    async def asked(path: str) -> httpx.Response:
        through = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=through, base_url="http://gateway") as client:
            return await client.get(path)

    return lambda path: asyncio.run(asked(path))


def walk(get: Get, between: Callable[[], None] = lambda: None) -> list[list[str]]:
    """Return the parts of two, to which the headers lead."""
    found, path = [], "/listed?limit=2"
    while True:
        answer = get(path)
        found.append(answer.json())
        leads = NEXT.fullmatch(answer.headers.get("link", ""))
        if leads is None:
            return found
        path = leads[1]
        between()


def test_without_a_limit_it_answers_whole(get: Get, listed: list[str]) -> None:
    answer = get("/listed")
    assert answer.json() == listed
    assert "link" not in answer.headers


def test_headers_lead_through_all_parts(get: Get, listed: list[str]) -> None:
    assert walk(get) == [listed[:2], listed[2:4], listed[4:6], listed[6:]]


def test_the_last_part_leads_nowhere_if_it_is_full(get: Get, listed: list[str]) -> None:
    listed.pop()
    assert walk(get) == [listed[:2], listed[2:4], listed[4:]]


def test_what_leaves_or_comes_in_between_shifts_nothing(get: Get, listed: list[str]) -> None:
    before = [*listed]

    def first_leaves_and_another_comes() -> None:
        listed.pop(0)
        listed.append(f"truck {8 + len(before) - len(listed)}")

    seen = [each for part in walk(get, first_leaves_and_another_comes) for each in part]
    assert seen[: len(before)] == before
    assert seen == sorted(set(seen))


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=~" + 401 * "x"]
)
def test_what_is_no_part_is_refused(get: Get, query: str) -> None:
    assert get(f"/listed?{query}").status_code == 422


def test_nothing_has_no_parts(get: Get, listed: list[str]) -> None:
    listed.clear()
    assert walk(get) == [[]]


def test_older_comes_first_whatever_its_name() -> None:
    assert since(999, "z") < since(1_000, "a") < since(1_000, "b")


class Item(BaseModel):
    name: str


@pytest.mark.parametrize("newest_first", [False, True])
def test_pages_go_on_where_the_last_one_ended_whatever_has_left(*, newest_first: bool) -> None:
    names = [f"run {number}" for number in range(7)]
    cursor: str | None = FIRST
    seen: list[str] = []
    while cursor is not None:
        items = [Item(name=name) for name in names]
        window = PlacedWindow(cursor, 2)
        page = window.page(items, lambda item: item.name, newest_first=newest_first)
        seen += [item.name for item in page.items]
        names.remove(seen[0] if seen[0] in names else seen[-1])  # of what was seen
        names.append("run 9" if newest_first else "run -")  # before what was seen
        cursor = page.next_cursor
    assert seen == sorted([f"run {number}" for number in range(7)], reverse=newest_first)
