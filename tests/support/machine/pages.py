"""The gateway's pages in a real Chromium, as a person uses them, and what such a visit shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import axe_playwright_python
from playwright.sync_api import (
    Browser,
    Page,
    Request,
    StorageState,
    ViewportSize,
    expect,
    sync_playwright,
)

from support.machine.browser import command

Scheme = Literal["light", "dark"]
ARGUMENTS: Final = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
DESK: Final = (1280, 900)
PHONE: Final = (390, 844)
WALL: Final = (3840, 2160)
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_AUDIT: Final = """rules => axe.run(document, {runOnly: rules, resultTypes: ["violations"]})
  .then(found => found.violations.map(each => [each.id, each.nodes.map(node => node.target)]))"""
"""The rules that a page keeps are a long list, which costs as much as the audit itself."""
_AXE: Final = Path(axe_playwright_python.__file__).with_name("axe.min.js")


@dataclass
class Visit:
    """A page in a browser, with what it said and asked for."""

    page: Page
    base: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def sign_in(self, token: str) -> None:
        """Sign in with a token, as a person does."""
        self.page.goto(self.base)
        self.page.get_by_label("Token", exact=True).first.check()
        self.page.locator("#token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator("#menu").wait_for(state="attached")

    def look(self, size: tuple[int, int], scheme: Scheme) -> None:
        """Give the browser's window another size and the person another choice of colours."""
        self.page.set_viewport_size(_viewport(size))
        self.page.emulate_media(color_scheme=scheme)

    def violations(self) -> list[tuple[str, list[Any]]]:
        """Return what axe finds on the page as it is now."""
        self.page.evaluate(_AXE.read_text("utf-8"))
        found: list[tuple[str, list[Any]]] = self.page.evaluate(_AUDIT, RULES)
        return found

    def is_too_wide(self) -> bool:
        """Say whether the page scrolls sideways."""
        wide: bool = self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        return wide


PATIENCE_MS: Final = 60_000
"""On a busy machine: how long something takes is measured elsewhere."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield Chromium without a window."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=command(), args=ARGUMENTS)
        yield browser
        browser.close()


def _viewport(size: tuple[int, int]) -> ViewportSize:
    return {"width": size[0], "height": size[1]}


@contextmanager
def visit(
    browser: Browser,
    base: str,
    size: tuple[int, int] = DESK,
    scheme: Scheme = "light",
    kept: StorageState | None = None,
) -> Iterator[Visit]:
    """Yield a browser of a person who was never here before.

    Args:
        browser: Which makes it.
        base: URL of the gateway.
        size: Of the window: width and height in pixels.
        scheme: The person's choice of colours.
        kept: What another browser of this person kept, if this one has it too.
    """
    context = browser.new_context(
        viewport=_viewport(size),
        storage_state=kept,
        color_scheme=scheme,
        locale="en-GB",
        timezone_id="Pacific/Auckland",  # the pages say UTC wherever they are looked at
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    made = Visit(context.new_page(), base)
    made.page.on("console", lambda message: made.said.append(message.text))
    made.page.on("pageerror", lambda error: made.said.append(str(error)))

    def ask(request: Request) -> None:
        made.asked.append(request.url)

    made.page.on("request", ask)
    try:
        yield made
    finally:
        context.close()
