"""Whether the broker can be reached, and whether the gateway's session there is its own.

MQTT 3.1.1 has no word for why a broker hangs up, and mosquitto 2.0.11 sends none in MQTT 5 either.
Two gateways that share a session end each other's connection once a second, though: that shows.
"""

import logging
import threading
from typing import Final

from contracts.runtime.dependency import Dependency

STEADY_S: Final = 3.0
"""Time that a connection must last, after one was lost, before the broker counts as back."""
SUSPECTED_AFTER: Final = 2
"""After so many connections in a row that did not last, another client is suspected."""

_log = logging.getLogger(__name__)


class BrokerLink:
    """Notes what happens to the connection: a line for a loss, a return, and a shared session.

    Args:
        broker: What notes it.
        session: The gateway's client id.
        steady_s: See `STEADY_S`.
    """

    def __init__(self, broker: Dependency, session: str, *, steady_s: float = STEADY_S) -> None:
        self._broker = broker
        self._session = session
        self._steady_s = steady_s
        self._lock = threading.Lock()
        self._lost = False
        self._short = 0
        self._steady: threading.Timer | None = None

    def connected(self) -> None:
        """Note that the broker took the gateway in."""
        with self._lock:
            if not self._lost:
                self._broker.works()
                return
            self._steady = threading.Timer(self._steady_s, self._lasted)
            self._steady.daemon = True
            self._steady.start()

    def failed(self, reason: str) -> None:
        """Note that the broker could not be reached, or refused the gateway."""
        self._broker.fails(f"{reason}; the gateway goes on trying")

    def lost(self, reason: str) -> None:
        """Note that a connection was lost."""
        with self._lock:
            self._lost = True
            self._short = self._short + 1 if self._stop() else 0
            if self._short < SUSPECTED_AFTER:
                self._broker.fails(f"{reason}; the gateway goes on trying")
                return
            shared = (
                f"it takes the gateway in and hangs up again and again: does another gateway use "
                f"the same mqtt.username, or the same site_id (client id {self._session})?"
            )
            self._broker.fails(shared)
            if self._short == SUSPECTED_AFTER:
                _log.warning("%s: %s", self._broker.standing.name, shared)

    def close(self) -> None:
        """Wait for nothing any more."""
        with self._lock:
            self._stop()

    def _stop(self) -> bool:
        """Say whether a connection had yet to prove itself."""
        waited, self._steady = self._steady, None
        if waited is not None:
            waited.cancel()
        return waited is not None

    def _lasted(self) -> None:
        with self._lock:
            if self._steady is not threading.current_thread():
                return
            self._steady, self._lost, self._short = None, False, 0
            self._broker.works()
