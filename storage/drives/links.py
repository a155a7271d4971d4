"""What the state of a drive's link means right now, in plain words.

All of it is read from sysfs: asking the drive, or nvme-cli, can block for a minute when a link
is down.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from storage.drives.devices import Device
from storage.drives.nvme import GOING, LIVE, NvmePath

SEEN_S: Final = 5.0
"""A change between two looks that are further apart was not seen when it happened."""


class Word(StrEnum):
    """What reads and writes meet."""

    LIVE = "live"
    DEGRADED = "degraded"
    """They go over the paths that are left."""
    WAITING = "waiting"
    LOST = "lost"
    """They wait or fail already: since when the link is down was not seen."""
    FAILING = "failing"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class LinkState:
    """The state of all paths to a drive.

    Attributes:
        word: In one word.
        words: In a sentence or two.
        for_s: Since no path leads to the drive, as far as it was watched.
        fails_in_s: Until reads and writes fail instead of waiting; None: never, or not known.
        given_up_in_s: Until the kernel removes the drive; None: never, or not known.
    """

    word: Word
    words: str
    for_s: float | None = None
    fails_in_s: float | None = None
    given_up_in_s: float | None = None


def link_state(device: Device, down_s: Mapping[str, float]) -> LinkState:
    """Return what the paths of an NVMe drive mean for reads and writes.

    Args:
        device: With its paths.
        down_s: Seconds for which a controller, by name, was seen not to be live.
    """
    broken = [path for path in device.paths if not path.usable]
    if not broken:
        return LinkState(Word.LIVE, "live")
    if len(broken) < len(device.paths):
        left = ", ".join(each.controller.peer for each in device.paths if each.usable)
        told = "; ".join(_what(path, down_s) for path in broken)
        return LinkState(Word.DEGRADED, f"{told}: reads and writes go over {left}")
    told = "; ".join(_what(path, down_s) for path in broken)
    trying = [path for path in broken if _may_return(path)]
    if not trying:
        return LinkState(
            Word.GONE,
            f"{told}: reads and writes fail, and the drive does not come back by itself: "
            "unmount it, connect again, mount it",
        )
    return _lost(told, trying, down_s)


class LinkWatch:
    """Remembers since when each controller is not live; safe to use from many threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._down_since: dict[str, float | None] = {}
        self._looked: float | None = None

    def look(self, devices: Iterable[Device]) -> dict[str, float]:
        """Return the seconds since each controller was seen to be no longer live.

        Left out is what went at a time that nobody saw: before the first look, or while nobody
        looked for longer than `SEEN_S`.
        """
        now = self._clock()
        down = {
            path.controller.name
            for device in devices
            for path in device.paths
            if path.controller.state != LIVE
        }
        with self._lock:
            seen = self._looked is not None and now - self._looked <= SEEN_S
            before = self._down_since
            self._down_since = {name: before.get(name, now if seen else None) for name in down}
            self._looked = now
            known = self._down_since.items()
            return {name: now - since for name, since in known if since is not None}


def _lost(told: str, trying: list[NvmePath], down_s: Mapping[str, float]) -> LinkState:
    """Return the state of a drive to which no path leads, though one may come back."""
    fails = [each.controller.timeouts.fast_io_fail_s for each in trying]
    gives_up = [each.controller.timeouts.ctrl_loss_s for each in trying]
    seen = [down_s.get(each.controller.name) for each in trying]
    # As long as one path may still come back the kernel waits for it.
    fail_in = _last(fails, seen)
    given_up_in = _last(gives_up, seen)
    known = [each for each in seen if each is not None]
    for_s = min(known) if len(known) == len(seen) else None
    after = _after(trying, given_up_in, _longest(gives_up))
    if any(limit is None for limit in fails):
        return LinkState(
            Word.WAITING, f"{told}: reads and writes wait. {after}", for_s, None, given_up_in
        )
    if fail_in is None:
        limit = _longest(fails)
        words = f"{told}: reads and writes wait until {limit} s after the loss, then fail with EIO"
        return LinkState(Word.LOST, f"{words}. {after}", None, None, None)
    if fail_in > 0:
        words = (
            f"{told}: reads and writes wait; in {fail_in:.0f} s they fail with EIO, the gateway "
            "takes the volume out, and its file system may shut down"
        )
        return LinkState(Word.WAITING, f"{words}. {after}", for_s, fail_in, given_up_in)
    words = f"{told}: reads and writes fail with EIO, a volume on it is out"
    return LinkState(Word.FAILING, f"{words}. {after}", for_s, 0, given_up_in)


def _after(trying: list[NvmePath], given_up_in: float | None, limit: int | None) -> str:
    """Return what is done about it, and until when."""
    delays = [each.controller.timeouts.reconnect_delay_s for each in trying]
    often = f"every {min(delay for delay in delays if delay)} s" if any(delays) else "by itself"
    if limit is None:
        return f"The kernel tries again {often} and never gives the drive up"
    when = f"{limit} s after the loss" if given_up_in is None else f"in {given_up_in:.0f} s"
    return f"The kernel tries again {often} and gives the drive up {when}"


def _last(limits: list[int | None], seen: list[float | None]) -> float | None:
    """Return the seconds until the last of several limits is over; None: never, or not known."""
    left = [
        None if limit is None or since is None else max(0, limit - since)
        for limit, since in zip(limits, seen, strict=True)
    ]
    known = [each for each in left if each is not None]
    return max(known) if len(known) == len(left) else None


def _longest(limits: list[int | None]) -> int | None:
    known = [limit for limit in limits if limit is not None]
    return max(known) if len(known) == len(limits) else None


def _may_return(path: NvmePath) -> bool:
    return path.controller.state not in GOING


def _what(path: NvmePath, down_s: Mapping[str, float]) -> str:
    """Return what is wrong with a path."""
    own = path.controller
    name = f"{own.name} to {own.peer}" if own.fabric else own.name
    if own.state == LIVE and path.disk is None:
        return f"{name} is connected, but offers this namespace no more"
    if own.state == LIVE:
        return f"{name} is connected, but its target calls the path {path.ana_state}"
    since = down_s.get(own.name)
    return f"{name} is {own.state}" + (f" for {since:.0f} s" if since is not None else "")
