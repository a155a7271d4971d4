"""A gateway with one trip whose pages are looked at, and answers that a test changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Route

from support.machine.pages import DESK, PHONE, Scheme, Visit

LOT: Final = "/lot?gtin=00012345678905&lot=L42"
Looks = Sequence[tuple[tuple[int, int], Scheme]]
LOOKS: Final[Looks] = [(PHONE, "dark"), (DESK, "light")]
"""A page that is loaded once is looked at in each."""


@dataclass(frozen=True)
class Scene:
    """A gateway with one trip, and who may look at it.

    Attributes:
        trust: The keys that an auditor trusts, from their makers.
        data: Where the gateway keeps its files.
    """

    base: str
    trip_id: str
    delivery_id: str
    operator: str
    auditor: str
    trust: Path
    data: Path

    @property
    def trip(self) -> str:
        return f"{self.base}/trips/{self.trip_id}"


def check_looks(seen: Visit, path: str, looks: Looks = LOOKS) -> None:
    """Check the page that is loaded on a phone and on a desk."""
    for size, scheme in looks:
        seen.look(size, scheme)
        assert not seen.violations(), (path, size, scheme)
        assert not seen.is_too_wide(), (path, size, scheme)


def changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Route], None]:
    """Return a handler that changes each item of an answer."""

    def answer(route: Route) -> None:
        fetched = route.fetch()
        page = fetched.json()
        page["items"] = [change(each) for each in page["items"] or [{}]]
        route.fulfill(response=fetched, json=page)

    return answer


def until_forgotten(seen: Visit, looks: list[str]) -> None:
    """Return once the page has told the gateway that it needs a job no more."""
    for _ in range(1500):
        if "DELETE" in looks:
            return
        seen.page.wait_for_timeout(20)
    pytest.fail(f"the page forgot no job: {looks}")
