"""The state of a drive's link, and its meaning for reads and writes, in plain words.

It is read from sysfs alone: asking the drive, or nvme-cli, can block for a minute when a link is
down.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from storage.drives.devices import Device
from storage.drives.nvme import CHANGE, GOING, LIVE, OPTIMIZED, PERSISTENT_LOSS, NvmePath

SEEN_S: Final = 5.0
"""If two looks are further apart, the time of a change between them is not known."""


class Word(StrEnum):
    """The state of reads and writes."""

    LIVE = "live"
    DEGRADED = "degraded"
    """They use the remaining paths."""
    CHANGING = "changing"
    """They wait while the target moves the drive between its controllers, normally for seconds."""
    WAITING = "waiting"
    LOST = "lost"
    """They wait or fail: it is not known since when the link is down."""
    FAILING = "failing"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class LinkState:
    """The state of all paths to a drive.

    Attributes:
        word: In one word.
        words: In a sentence or two.
        for_s: Time for which no path has led to the drive; None if unknown.
        fails_in_s: Until reads and writes fail instead of waiting; None if never or unknown.
        given_up_in_s: Until the kernel removes the drive; None if never or unknown.
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
        return LinkState(Word.LIVE, _live(device))
    told = "; ".join(_what(path, down_s) for path in broken)
    if len(broken) < len(device.paths):
        left = ", ".join(each.controller.peer for each in device.paths if each.usable)
        # A target that serves a drive over one of its controllers keeps the others out: that is as
        # it should be, and such a path takes over when the target says so.
        resting = all(path.reached and path.ana_state != PERSISTENT_LOSS for path in broken)
        word = Word.LIVE if resting else Word.DEGRADED
        return LinkState(word, f"{told}: reads and writes go over {left}")
    held = [path for path in broken if path.reached]
    if held:
        return _held(told, held)
    trying = [path for path in broken if path.controller.state not in GOING]
    if not trying:
        return LinkState(
            Word.GONE,
            f"{told}: reads and writes fail, and the drive does not come back by itself: "
            "unmount it, connect again, mount it",
        )
    return _lost(told, trying, down_s)


class LinkWatch:
    """Remembers since when each controller is down; safe to use from many threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._down_since: dict[str, float | None] = {}
        self._looked: float | None = None

    def look(self, devices: Iterable[Device]) -> dict[str, float]:
        """Return the seconds since each controller was seen to be no longer live.

        Controllers are left out if the time is unknown: they went down before the first look, or
        between two looks more than `SEEN_S` apart.
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


def _live(device: Device) -> str:
    """Return that all paths work, and how the target wants them to be used if that differs."""
    states = {path.ana_state for path in device.paths} - {""}
    if states <= {OPTIMIZED}:
        return "live"
    return "live: " + ", ".join(
        f"{path.controller.name} to {path.controller.peer} is {path.ana_state}"
        for path in device.paths
    )


def _held(told: str, held: list[NvmePath]) -> LinkState:
    """Return the state of a drive whose target is connected, but serves it over no path.

    The kernel keeps reads and writes as long as one controller is live: fast_io_fail_tmo counts
    from the loss of a connection only. Source: nvme_available_path of Linux.
    """
    if any(path.ana_state == CHANGE for path in held):
        return LinkState(
            Word.CHANGING,
            f"{told}: reads and writes wait until the target has changed it, normally for seconds. "
            "The kernel connects again if that takes longer than the target promised",
        )
    return LinkState(
        Word.WAITING,
        f"{told}: reads and writes wait, without a limit, until the target serves the drive over "
        "one of its paths. Look at the target",
    )


def _lost(told: str, trying: list[NvmePath], down_s: Mapping[str, float]) -> LinkState:
    """Return the state of a drive whose paths are all down, though one may come back."""
    fails = [each.controller.timeouts.fast_io_fail_s for each in trying]
    gives_up = [each.controller.timeouts.ctrl_loss_s for each in trying]
    seen = [down_s.get(each.controller.name) for each in trying]
    # The kernel waits as long as one path may come back.
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
    """Return what the kernel does about it, and until when."""
    delays = [each.controller.timeouts.reconnect_delay_s for each in trying]
    often = f"every {min(delay for delay in delays if delay)} s" if any(delays) else "by itself"
    if limit is None:
        return f"The kernel tries again {often} and never gives the drive up"
    when = f"{limit} s after the loss" if given_up_in is None else f"in {given_up_in:.0f} s"
    return f"The kernel tries again {often} and gives the drive up {when}"


def _last(limits: list[int | None], seen: list[float | None]) -> float | None:
    """Return the seconds until the last of several limits is over; None if never or unknown."""
    left = [
        None if limit is None or since is None else max(0, limit - since)
        for limit, since in zip(limits, seen, strict=True)
    ]
    known = [each for each in left if each is not None]
    return max(known) if len(known) == len(left) else None


def _longest(limits: list[int | None]) -> int | None:
    known = [limit for limit in limits if limit is not None]
    return max(known) if len(known) == len(limits) else None


def _what(path: NvmePath, down_s: Mapping[str, float]) -> str:
    """Return the fault of a path, in words."""
    own = path.controller
    name = f"{own.name} to {own.peer}" if own.fabric else own.name
    if own.state == LIVE and path.disk is None:
        return f"{name} is connected, but offers this namespace no more"
    if own.state == LIVE:
        return f"{name} is connected, but its target calls the path {path.ana_state}"
    since = down_s.get(own.name)
    return f"{name} is {own.state}" + (f" for {since:.0f} s" if since is not None else "")
