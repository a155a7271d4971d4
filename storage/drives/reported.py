"""The health of all drives: asked from them, or read from what the keeper was told.

Drives report their health only to root. The keeper runs as root and leaves what it was told in a
file that everybody may read; the gateway, which is not root, uses it.
"""

import json
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.runtime.files import write_file
from storage.disk import read_file
from storage.drives.devices import Device
from storage.drives.health import Condition, Health, health
from storage.drives.kernel import Kernel
from storage.drives.tools import Run

ASKED_AT_ONCE: Final = 8
"""Drives that are asked for their health at once."""
HEALTH_EVERY_S: Final = 600.0
"""Pause between two rounds in which all drives are asked."""
OLD_S: Final = 3 * HEALTH_EVERY_S
"""A report that is older counts no more: its keeper has ended."""
MADE_OF_OTHERS: Final = ("dm", "md", "loop", "zram", "ram")
_REPORT: Final = Path("wayseal/health.json")
"""Below /run, which is empty after a start of the machine."""
_READABLE: Final = 0o644


def drives_of(devices: Iterable[Device]) -> list[Device]:
    """Return the drives among block devices: neither partitions nor devices made of others."""
    return [each for each in devices if not each.disk and each.interface not in MADE_OF_OTHERS]


def ask(devices: Iterable[Device], run: Run) -> dict[str, Health]:
    """Ask all drives for their health; return it by name."""
    drives = drives_of(devices)
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        told = pool.map(lambda each: health(each, run), drives)
        return dict(zip((each.name for each in drives), told, strict=True))


def known(devices: Iterable[Device], kernel: Kernel, run: Run) -> dict[str, Health]:
    """Return the health of all drives by name: from them, else from what the keeper was told."""
    there = tuple(devices)
    asked = ask(there, run)
    untold = {name for name, own in asked.items() if own.verdict is Condition.UNKNOWN}
    left = _left(kernel) if untold else {}
    serials = {each.name: each.serial for each in there}
    return asked | {
        name: left[name, serials[name]] for name in untold if (name, serials[name]) in left
    }


def leave(devices: Iterable[Device], asked: Mapping[str, Health], kernel: Kernel) -> None:
    """Leave the health of drives for programs that are not root.

    Raises:
        UnavailableError: It cannot be written.
    """
    drives = [
        {"name": each.name, "serial": each.serial, "health": asdict(asked[each.name])}
        for each in devices
        if each.name in asked
    ]
    path = kernel.run / _REPORT
    data = json.dumps({"at_s": _now_s(), "drives": drives}).encode()
    write_file(path, data, temporary=path.with_name(f"{path.name}.new"), mode=_READABLE)


def _left(kernel: Kernel) -> dict[tuple[str, str], Health]:
    """Return what the keeper was told, by name and serial number; empty if it is old."""
    try:
        document = json.loads(read_file(kernel.run / _REPORT) or b"{}")
        if not 0 <= _now_s() - document.get("at_s", -OLD_S) <= OLD_S:
            return {}
        return {
            (each["name"], each["serial"]): _health(each["health"]) for each in document["drives"]
        }
    except (UnavailableError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # of another version, or damaged: then nothing is known


def _health(told: dict[str, Any]) -> Health:
    lists = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
    own = {**told, **lists, "verdict": Condition(told["verdict"])}
    return Health(**own)


def _now_s() -> float:
    """Return the seconds since the machine started: no wall clock that is set changes them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
