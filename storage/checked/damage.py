"""What was found damaged or missing in a gateway's data, for its log and its status."""

import logging
import threading
from collections import deque
from typing import Final

NOTES_MAX: Final = 100
"""The latest notes that are kept for the status; the log has them all."""

_log: Final = logging.getLogger(__name__)


class DamageNotes:
    """Collects what was found; safe in several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: deque[str] = deque(maxlen=NOTES_MAX)

    def lost(self, what: str) -> None:
        """Note something that is damaged, and log it as an error."""
        _log.error("%s", what)
        self._note(what)

    def doubt(self, what: str) -> None:
        """Note something that an operator should look at, and log it as a warning."""
        _log.warning("%s", what)
        self._note(what)

    def told(self) -> list[str]:
        """Return the notes, oldest first."""
        with self._lock:
            return list(self._notes)

    def _note(self, what: str) -> None:
        with self._lock:
            if what not in self._notes:
                self._notes.append(what)
