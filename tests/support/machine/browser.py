"""Chromium without a window, driven over its DevTools protocol."""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from contracts.runtime.processes import tied

COMMANDS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is built without windows: the same pages take it half as much CPU."""
_START_S: Final = 60
_ANSWER_S: Final = 60


class Page:
    """One tab.

    Attributes:
        complaints: What the browser's console said.
        asked_for: Addresses that the page loaded, or tried to.
    """

    def __init__(self, connection: Connection, answer_s: float) -> None:
        self._connection = connection
        self._answer_s = answer_s
        self._last = 0
        self._session: str | None = None
        self._loaded = False
        self.complaints: list[str] = []
        self.asked_for: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def show(self, page: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Load a file at that screen width in pixels, and wait until it is drawn."""
        self.complaints, self.asked_for, self._loaded = [], [], False
        mobile = width < 600
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if mobile else 1,
            mobile=mobile,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url=page.absolute().as_uri())
        while not self._loaded:
            self._take(json.loads(self._connection.recv(self._answer_s)))
        self.value("document.fonts.ready.then(() => 1)")

    def value(self, expression: str) -> Any:  # noqa: ANN401 - whatever JavaScript returns
        """Evaluate a JavaScript expression on the page."""
        answer = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self, path: Path) -> None:
        """Save the whole page as a PNG."""
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def end(self) -> None:
        """End the browser: Debian's command is a shell script, which would leave it running."""
        self._session = None
        with suppress(WebSocketException, OSError):
            self._connection.send(json.dumps({"id": 0, "method": "Browser.close"}))

    def _call(self, method: str, **given: object) -> dict[str, Any]:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": given}
        if self._session is not None:
            message["sessionId"] = self._session
        self._connection.send(json.dumps(message))
        while True:
            heard = json.loads(self._connection.recv(self._answer_s))
            if heard.get("id") == self._last:
                assert "error" not in heard, heard
                result: dict[str, Any] = heard["result"]
                return result
            self._take(heard)

    def _take(self, heard: dict[str, Any]) -> None:
        match heard.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(heard["params"]))
            case "Network.requestWillBeSent":
                self.asked_for.append(heard["params"]["request"]["url"])


def command() -> str:
    """Return the path of the Chromium to use."""
    found = next(filter(None, map(shutil.which, COMMANDS)), None)
    assert found is not None, f"expected one of {COMMANDS}: scripts/packages {COMMANDS[0]}"
    return found


@contextmanager
def browser(profile: Path, answer_s: float = _ANSWER_S) -> Iterator[Page]:
    """Yield a tab of a new browser.

    Args:
        profile: An empty directory for its files.
        answer_s: How long one answer may take, seconds.
    """
    options: Sequence[str] = (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
    )
    with subprocess.Popen(  # noqa: S603 - the browser that is installed
        tied([command(), *options, "about:blank"]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            # No pings: on a busy machine Chromium may leave them unanswered for longer than 20 s.
            with connect(
                _address(profile, process), max_size=None, ping_interval=None
            ) as connection:
                page = Page(connection, answer_s)
                try:
                    yield page
                finally:
                    page.end()
        finally:
            process.terminate()


def _address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    told, until_s = profile / "DevToolsActivePort", time.monotonic() + _START_S
    while not told.exists() or told.read_text("utf-8").count("\n") < 1:
        assert process.poll() is None, f"the browser ended with {process.returncode}"
        assert time.monotonic() < until_s, f"no browser within {_START_S} s"
        time.sleep(0.05)
    port, path = told.read_text("utf-8").split()
    return f"ws://127.0.0.1:{port}{path}"
