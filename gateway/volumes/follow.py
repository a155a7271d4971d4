"""The running gateway's eye on its drives: says in the log what changes, answers what is."""

import logging
from collections.abc import Mapping
from typing import Final

from gateway.volumes.changes import Told, news, told_of
from gateway.worker import Worker
from storage.drives.inventory import Inventory, observe, take
from storage.drives.kernel import Kernel
from storage.drives.links import LinkWatch
from storage.drives.tools import run_tool
from storage.volumes.volume import VolumePlace

LOOK_EVERY_S: Final = 2.0
_log = logging.getLogger(__name__)


class DriveFollower:
    """Looks at sysfs every `LOOK_EVERY_S`, so that since when a link is down is known.

    Args:
        places: The gateway's volumes by name.
        kernel: Which machine.
    """

    def __init__(self, places: Mapping[str, VolumePlace], kernel: Kernel | None = None) -> None:
        self.kernel = kernel or Kernel()
        self._places = places
        self._watch = LinkWatch()
        self._before: dict[str, Told] = {}
        self.worker = Worker("drives", self.look, idle_s=LOOK_EVERY_S)

    def look(self) -> bool:
        """Look once; log links and volumes that changed. Nothing is left to be done at once."""
        now = told_of(observe(self.kernel, self._places, self._watch))
        for told in news(self._before, now):
            if told.kind != "device":
                level = logging.INFO if told.well else logging.WARNING
                _log.log(level, "%s %s: %s", told.kind, told.subject, told.words)
        self._before = now
        return False

    def report(self, *, ask_drives: bool) -> Inventory:
        """Return all that is known now.

        Raises:
            UnavailableError: The kernel does not tell what is mounted.
        """
        return take(self.kernel, self._places, run_tool, self._watch, ask_drives=ask_drives)
