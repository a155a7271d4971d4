"""Drops what has waited too long in the inbox; its truck still has it, and is told."""

import logging
from typing import Final

from gateway.intake.inbox import Inbox
from gateway.worker import Worker

LOOK_EVERY_S: Final = 600.0
DAY_S: Final = 86_400

_log = logging.getLogger(__name__)


class Expiry:
    """Looks for batches that are too old, now and then.

    Args:
        inbox: Where they wait.
        days: Their age in days during which the gateway ran; 0 keeps them for ever.

    Attributes:
        worker: The thread.
    """

    def __init__(self, inbox: Inbox, days: int) -> None:
        self._inbox = inbox
        self._days = days
        self.worker = Worker("expiry", self.step, idle_s=LOOK_EVERY_S)

    def step(self) -> bool:
        """Drop what is too old; there is nothing more to do for a while.

        Raises:
            UnavailableError: The inbox cannot be written.
        """
        self._inbox.waiting.advance()
        if self._days:
            reason = f"it waited {self._days} days and was dropped; send it again"
            dropped = self._inbox.waiting.expire(self._days * DAY_S, reason)
            if dropped:
                _log.warning("dropped %d batches that waited %d days", dropped, self._days)
        return False
