"""Reads the gateway's databases to their ends, so that rot is found before anybody needs the rows.

Each page has a checksum, which is verified whenever the page is read. A database that finds a
damaged page mends itself; here it only gets the occasion.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from contracts.errors import UnavailableError
from gateway.worker import Worker

CHECK_EVERY_S: Final = 86_400.0
IDLE_S: Final = 60.0

_log = logging.getLogger(__name__)


class Checkable(Protocol):
    """A database that can be read to its end."""

    def check(self) -> None:
        """Read every page.

        Raises:
            UnavailableError: A page is damaged, or the file did not answer.
        """
        ...


class Soundness:
    """Checks all databases at the start and once a day, in its own thread.

    Args:
        databases: They are read one after the other.
        monotonic_s: Seconds since any moment.

    Attributes:
        worker: The thread.
    """

    def __init__(
        self,
        databases: Iterable[Checkable],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._databases = tuple(databases)
        self._monotonic_s = monotonic_s
        self._due_s = monotonic_s()
        self.worker = Worker("soundness", self.step, idle_s=IDLE_S)

    def step(self) -> bool:
        """Check all databases if it is time."""
        if self._monotonic_s() < self._due_s:
            return False
        self._due_s = self._monotonic_s() + CHECK_EVERY_S
        for each in self._databases:
            if self.worker.stopping:
                break
            try:
                each.check()
            except UnavailableError as error:
                _log.error("%s", error)
        return False
