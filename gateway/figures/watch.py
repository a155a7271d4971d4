"""Keeps the figures of `looked`: a thread looks now and then, and a scrape gets the last look.

A disk or a peer that hangs must not hang the scrape. What could not be looked at has no values, and
`wayseal_figures_failed` says so; how old the look is, `wayseal_figures_timestamp_seconds` says.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final

from contracts.errors import WaysealError
from contracts.records.clock import now_ms
from contracts.runtime.kernelclock import kernel_clock
from gateway.figures import looked, present
from gateway.gauges import Family, by_label, timestamp
from gateway.services import Services
from gateway.worker import Worker

LOOK_EVERY_S: Final = 10.0

_log = logging.getLogger(__name__)


class Figures:
    """All figures of a running gateway.

    Args:
        services: The gateway.

    Attributes:
        worker: The thread that looks.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._groups: Mapping[str, Callable[[], Iterator[Family]]] = {
            name: partial(group, services) for name, group in looked.GROUPS.items()
        } | {"machine": lambda: looked.machine(services, kernel_clock())}
        self._found: tuple[Family, ...] = ()
        self._failed: dict[str, str] = {}
        self._at_ms: int | None = None
        self.worker = Worker("figures", self.look, idle_s=LOOK_EVERY_S)

    def look(self) -> bool:
        """Look at everything once; the next look can wait."""
        found: list[Family] = []
        failed: dict[str, str] = {}
        for name, group in self._groups.items():
            try:
                found += group()
            except WaysealError as error:
                failed[name] = str(error)
                if name not in self._failed:
                    _log.warning("the figures of %s are missing: %s", name, error)
        self._found, self._failed, self._at_ms = tuple(found), failed, now_ms()
        return False

    def families(self) -> Iterator[Family]:
        """Yield what is at hand, and the last look."""
        yield from present.families(self._services)
        yield from self._found
        yield by_label(
            "wayseal_figures_failed",
            "1 for figures that are missing because the last look failed, else 0.",
            "about",
            {name: name in self._failed for name in self._groups},
        )
        yield timestamp(
            "wayseal_figures", "When disks and databases were last looked at.", self._at_ms
        )


@contextmanager
def figures(services: Services) -> Iterator[None]:
    """Show the figures of a gateway in its metrics, and keep them up to date."""
    kept = Figures(services)
    services.metrics.watch(kept.families)
    kept.worker.start()
    try:
        yield
    finally:
        kept.worker.close()
