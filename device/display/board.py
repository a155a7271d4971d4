"""Keeps each display up to date; one that fails or hangs is tried again, and stops nothing."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from contracts.errors import UnavailableError
from device.backoff import Backoff
from device.display.port import Display
from device.display.shown import Shown
from device.live.health import Finding, Health

LOOK_EVERY_S: Final = 2.0
RETRY_LIMIT_S: Final = 60.0
HANGS_AFTER_S: Final = 30.0
_SHOW_EVERY_S: Final = 0.5
_log: Final = logging.getLogger(__name__)


class Board:
    """All displays of a truck. Each has its own thread, which is left behind if it hangs.

    Args:
        displays: How each is opened, by its name.
        look: Says how the truck stands; may take as long as a read of the journal.
        found: Told of each change of a display's health, in any thread.
    """

    def __init__(
        self,
        displays: Mapping[str, Callable[[], Display]],
        look: Callable[[], Shown],
        found: Callable[[Finding], None],
    ) -> None:
        self._displays = displays
        self._look = look
        self._found = found
        self._over = threading.Event()
        self._shown: Shown | None = None
        self._lock = threading.Lock()
        self._told: dict[str, tuple[Health, str]] = {}
        self._beats_s: dict[str, float] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show until the block ends; then each display that answers goes dark."""
        if not self._displays:
            yield
            return
        threads = [threading.Thread(target=self._watch, name="board", daemon=True)]
        threads += [
            threading.Thread(target=self._serve, args=[name, connect], name=name, daemon=True)
            for name, connect in self._displays.items()
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join(_SHOW_EVERY_S)

    def _watch(self) -> None:
        while not self._over.is_set():
            try:
                self._shown = self._look()
            except Exception as error:  # noqa: BLE001 - a display must not end the agent
                _log.error("the truck's status is unknown: %r", error)
            for name, beat_s in list(self._beats_s.items()):
                if time.monotonic() - beat_s > HANGS_AFTER_S:
                    self._say(name, Health.SILENT, f"it hangs for over {HANGS_AFTER_S:.0f} s")
            self._over.wait(LOOK_EVERY_S)

    def _serve(self, name: str, connect: Callable[[], Display]) -> None:
        backoff = Backoff(RETRY_LIMIT_S)
        while not self._over.is_set():
            self._beats_s[name] = time.monotonic()
            try:
                display = connect()
                try:
                    self._feed(name, display, backoff)
                finally:
                    display.close()
            except UnavailableError as error:
                self._say(name, Health.LOST, str(error))
            except Exception as error:  # noqa: BLE001 - see above
                self._say(name, Health.LOST, f"its driver failed: {error!r:.200}")
            self._beats_s.pop(name, None)
            self._over.wait(backoff.next_s())

    def _feed(self, name: str, display: Display, backoff: Backoff) -> None:
        while not self._over.is_set():
            shown = self._shown
            if shown is not None:
                display.show(shown)
                backoff.reset()
                self._say(name, Health.WORKS, "")
            self._beats_s[name] = time.monotonic()
            self._over.wait(_SHOW_EVERY_S)

    def _say(self, name: str, health: Health, detail: str) -> None:
        with self._lock:
            before, self._told[name] = self._told.get(name), (health, detail)
        if before is None or before[0] is not health:
            finding = Finding(name, health, detail, "display")
            _log.log(logging.INFO if health is Health.WORKS else logging.WARNING, "%s", finding)
            self._found(finding)
