"""Measures how soon a phone can use the pages of a gateway.

`PYTHONPATH=tests python -m support.machine.first_page URL TOKEN`, with an operator's token.
The phone has a quarter of this machine's speed and 1.6 Mbit/s, and was never here before. Its last
line is JSON with `scripts_kb_gz`, all scripts of all pages, and `first_page_s`, the median of the
times until the sign-in takes input and until the board stands.
"""

import gzip
import json
import sys
from pathlib import Path
from statistics import median
from typing import Final

from playwright.sync_api import Browser, Page, expect

from support.machine.pages import PHONE, chromium, visit

BUILT: Final = Path(__file__).parents[3] / "gateway/web/assets"
SLOWER: Final = 4
BYTES_PER_S: Final = 1_600_000 / 8
LATENCY_MS: Final = 20
"""Of a site's Wi-Fi: the gateway is at most a yard away."""
TIMES: Final = 5
_SINCE_START: Final = "performance.now() / 1000"


def main() -> None:
    """Measure the gateway at a URL, with an operator's token, and print what was found."""
    base, token = sys.argv[1:]
    with chromium() as browser:
        signs = [_sign_in_s(browser, base) for _ in range(TIMES)]
        boards = [board_s(browser, base, token) for _ in range(TIMES)]
    found = {
        "scripts_kb_gz": round(scripts_bytes() / 1000, 1),
        "first_page_s": round(median(boards), 2),
        "sign_in_s": round(median(signs), 2),
        "boards_s": [round(each, 2) for each in boards],
    }
    print(json.dumps(found))  # noqa: T201 - a command


def scripts_bytes() -> int:
    """Return the size of all scripts of all pages, as gzip packs them."""
    return sum(len(gzip.compress(each.read_bytes(), 9)) for each in BUILT.glob("*.js"))


def _sign_in_s(browser: Browser, base: str) -> float:
    with visit(browser, base, PHONE) as seen:
        _as_a_phone(seen.page)
        seen.page.goto(base, wait_until="commit")
        expect(seen.page.get_by_role("heading", name="Sign in")).to_be_visible()
        since: float = seen.page.evaluate(_SINCE_START)
        return since


def board_s(browser: Browser, base: str, token: str) -> float:
    """Return the time from the address to a board with its trucks, of someone who is signed in."""
    with visit(browser, base, PHONE) as seen:
        seen.sign_in(token)
        _as_a_phone(seen.page)
        seen.page.goto(base, wait_until="commit")
        expect(seen.page.get_by_text("May leave", exact=True).first).to_be_visible()
        since: float = seen.page.evaluate(_SINCE_START)
        return since


def _as_a_phone(page: Page) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    speed = {"downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S}
    devtools.send(
        "Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY_MS, **speed}
    )


if __name__ == "__main__":
    main()
