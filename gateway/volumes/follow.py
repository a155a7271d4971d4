"""Follows the machine's drives: looks at them repeatedly and reports changes."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from contracts.runtime.sizes import size
from gateway.settings import Settings
from gateway.volumes.table import title_of
from gateway.worker import Worker
from storage.drives.devices import Device, devices
from storage.drives.health import Health
from storage.drives.inventory import Inventory, observe, take
from storage.drives.kernel import Kernel
from storage.drives.links import LinkWatch, Word
from storage.drives.mounts import mounts
from storage.drives.nvme import OPTIMIZED, NvmePath
from storage.drives.reported import HEALTH_EVERY_S, known
from storage.drives.tools import Run, run_tool
from storage.volumes.volume import VolumePlace

LOOK_EVERY_S: Final = 2.0
DriveHealths = tuple[tuple[Device, Health], ...]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about a device, a link or a volume.

    Attributes:
        kind: `device`, `link` or `volume`.
        subject: The name of the device or volume.
        state: Compared between two looks; the fact is reported again when it differs.
        words: The text to print; times in it may change while the state stays the same.
        well: No action is needed.
    """

    kind: str
    subject: str
    state: str
    words: str
    well: bool = True

    def gone(self) -> "Fact":
        """Return the fact that the subject is gone."""
        return replace(self, state="gone", words=f"{self.kind} is gone", well=False)

    def document(self) -> dict[str, str]:
        """Return the fact as JSON for programs."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "state": self.state,
            "words": self.words,
        }


def changes(before: Mapping[str, Fact], now: Mapping[str, Fact]) -> Iterator[Fact]:
    """Yield the facts that are new, different or gone since an earlier look."""
    for key, fact in now.items():
        if key not in before or before[key].state != fact.state:
            yield fact
    for key, fact in before.items():
        if key not in now:
            yield fact.gone()


def facts_of(seen: Inventory, out: Mapping[str, str] | None = None) -> dict[str, Fact]:
    """Return all facts of one look; a subject has the same key at every look.

    Args:
        seen: What the kernel knows.
        out: Reason by name of each volume that the running gateway does not use; without it, only
            the kernel is known to have no complaint.
    """
    content = "the kernel reports no problem" if out is None else "no problem"
    facts = [
        Fact(
            "device",
            each.name,
            "there",
            " ".join((title_of(each.interface), size(each.size_bytes), each.model)).strip(),
        )
        for each in seen.devices
        if not each.disk
    ]
    for device in seen.devices:
        if device.paths:
            link = seen.links[device.name]
            state = f"{link.word} ({', '.join(map(_way, device.paths))})"
            well = link.word in (Word.LIVE, Word.CHANGING)
            facts.append(Fact("link", device.name, state, link.words, well))
    for volume in seen.volumes:
        lost = any(state.words == volume.problem for state in seen.links.values())
        problem = volume.problem or (out or {}).get(volume.name, "")
        state = "link" if lost else problem or "ok"
        on = f" on {volume.device}" if volume.device else ""
        words = f"volume {volume.path}{on}: {problem or content}"
        facts.append(Fact("volume", volume.name, state, words, not problem))
    return {f"{each.kind} {each.subject}": each for each in facts}


def _way(path: NvmePath) -> str:
    """Return a path's state in words that change only with it."""
    own = path.controller
    ana = path.ana_state if path.ana_state != OPTIMIZED else ""
    return f"{own.name} {own.state} {ana}".strip()


def places_of(settings: Settings | None) -> dict[str, VolumePlace]:
    """Return the volumes by name, in the order in which new recordings are offered to them.

    Empty without settings.
    """
    volumes = settings.all_volumes if settings else {}
    return {
        name: VolumePlace(each.path, mount=each.mount, quota_bytes=each.quota_bytes)
        for name, each in volumes.items()
    }


class DriveFollower:
    """Looks at sysfs every `LOOK_EVERY_S`, so that it knows since when a link is down.

    Every `HEALTH_EVERY_S` it asks the drives for their health.

    Args:
        places: The gateway's volumes by name.
        kernel: The kernel's files; by default the ones of this machine.
        run: Runs nvme-cli and smartctl.
        out: Returns the reason by name of each volume that the gateway does not use. The follower
            reads no volume itself: a lost drive would stall it.

    Attributes:
        health: What each drive said when it was last asked.
    """

    def __init__(
        self,
        places: Mapping[str, VolumePlace],
        kernel: Kernel | None = None,
        run: Run = run_tool,
        *,
        out: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.kernel = kernel or Kernel()
        self.health: DriveHealths = ()
        self._places = places
        self._run = run
        self._out = out
        self._watch = LinkWatch()
        self._before: dict[str, Fact] = {}
        self.worker = Worker("drives", self.look, idle_s=LOOK_EVERY_S)
        self.asking = Worker("drive health", self.ask, idle_s=HEALTH_EVERY_S)

    def look(self) -> bool:
        """Look once, and log links and volumes that changed; the next look can wait."""
        now = facts_of(observe(self.kernel, self._places, self._watch), self._out())
        for fact in changes(self._before, now):
            if fact.kind != "device":
                level = logging.INFO if fact.well else logging.WARNING
                _log.log(level, "%s %s: %s", fact.kind, fact.subject, fact.words)
        self._before = now
        return False

    def links(self) -> dict[str, bool]:
        """Return for each drive on the network whether its link works, as last looked at."""
        return {each.subject: each.well for each in self._before.values() if each.kind == "link"}

    def ask(self) -> bool:
        """Ask all drives for their health; the next round can wait."""
        found = devices(self.kernel, mounts(self.kernel))
        told = known(found, self.kernel, self._run)
        self.health = tuple((each, told[each.name]) for each in found if each.name in told)
        return False

    def report(self, *, ask_drives: bool) -> Inventory:
        """Return the present inventory.

        Raises:
            UnavailableError: The kernel's list of mounts cannot be read.
        """
        return take(self.kernel, self._places, self._run, self._watch, ask_drives=ask_drives)
