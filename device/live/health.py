"""One thing that runs in its own thread, such as a sensor: how it is, and each change of it.

One that fails or hangs is tried again, later and later; it never delays another one.
"""

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contracts.errors import UnavailableError
from device.backoff import Backoff
from device.live.port import Measured

RETRY_LIMIT_S: Final = 60.0
LEAVE_S: Final = 0.5
"""So long a driver may still use what the next one opens, such as a pin; one that hangs is left."""
_log: Final = logging.getLogger(__name__)


class Health(StrEnum):
    """What is known of a sensor or camera; the values are shown to people."""

    STARTING = "starting"
    WORKS = "works"
    LOST = "lost"
    """It does not answer: unplugged, or its driver fails."""
    SILENT = "silent"
    """It was asked, and no answer came for too long: it hangs."""
    REFUSED = "refused"
    """Its latest answer was nonsense or cannot be; the value is not recorded."""
    FROZEN = "frozen"
    """Its values have not changed for too long; they are recorded."""
    COVERED = "covered"
    """A camera that sees nothing, or always the same picture; it is recorded."""
    STOPPED = "stopped"
    """A camera that works and is not recorded: there is no room for it."""


BAD: Final = (Health.LOST, Health.SILENT, Health.REFUSED)
"""Nothing of it is recorded, because of itself."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A change in what is known of a sensor or camera.

    Attributes:
        sensor: Its name.
        health: What is known of it now.
        detail: Why, in words; empty if it works.
        kind: `sensor` or `camera`.
    """

    sensor: str
    health: Health
    detail: str
    kind: str = "sensor"

    def __str__(self) -> str:
        """Return a line for a log."""
        because = f": {self.detail}" if self.detail else ""
        return f"{self.kind} {self.sensor} {_WORDS[self.health]}{because}"


_WORDS: Final[Mapping[Health, str]] = {
    Health.STARTING: "is starting",
    Health.WORKS: "works",
    Health.LOST: "is lost",
    Health.SILENT: "hangs",
    Health.REFUSED: "gives a value that is not recorded",
    Health.FROZEN: "gives the same value all the time",
    Health.COVERED: "sees nothing",
    Health.STOPPED: "is not recorded",
}


class Watch(ABC):
    """Runs one thing until it is over, and tries again when it fails.

    Args:
        name: Its name.
        kind: `sensor` or `camera`.
        retry_s: First time after which it is tried again, seconds; it doubles.
        found: Told of each change of its health, in any thread.
    """

    def __init__(
        self, name: str, kind: str, retry_s: float, found: Callable[[Finding], None]
    ) -> None:
        self.name = name
        self._kind = kind
        self._found = found
        self._lock = threading.Lock()
        self._health = Health.STARTING
        self._backoff = Backoff(RETRY_LIMIT_S, retry_s)
        self._is_let_go = False

    @property
    def health(self) -> Health:
        """What is known of it."""
        return self._health

    def run(self, over: threading.Event) -> None:
        """Run it until it is `over`."""
        while not over.is_set():
            try:
                self._work(over)
            except UnavailableError as error:
                self._say(Health.LOST, str(error))
            except Exception as error:  # noqa: BLE001 - a driver's defect must not end recording
                self._say(Health.LOST, f"its driver failed: {error!r:.200}")
                _log.debug("driver of %s", self.name, exc_info=True)
            over.wait(self._backoff.next_s())

    @abstractmethod
    def take(self) -> Measured:
        """Return the latest values, unless they are old, and all signs since the last `take`."""

    def end(self, thread: threading.Thread) -> None:
        """Let go of the thread that ran it, once it is over: it may say nothing of a later trip."""
        thread.join(LEAVE_S)  # a driver that hangs must not keep the agent from ending
        with self._lock:
            self._is_let_go = True

    @abstractmethod
    def _work(self, over: threading.Event) -> None:
        """Open it and work with it until it is `over`.

        Raises:
            UnavailableError: It does not answer; the message says what to do about it.
        """

    def _became(self, health: Health) -> None:  # noqa: B027 - most need nothing
        """Take a change of health; called with the lock held."""

    def _say(self, health: Health, detail: str) -> None:
        with self._lock:
            if self._is_let_go:
                return
            before, self._health = self._health, health
            self._became(health)
        if health is not before:
            self._found(Finding(self.name, health, detail, self._kind))
