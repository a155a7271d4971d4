"""The volumes' identity, and the health of the drives below them."""

import errno
import os
from collections.abc import Iterator
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.doctor.machine import Machine
from gateway.settings import Settings
from gateway.volumes.follow import places_of
from storage.drives.health import Condition
from storage.drives.inventory import Inventory, take
from storage.drives.links import LinkWatch
from storage.drives.standing import Standing
from storage.volumes.marker import OWNER, Identity

_REPLACE: Final = "docs/storage.md, Replacing a drive"


def findings(settings: Settings, machine: Machine) -> Iterator[Finding]:
    """Yield what was found of the volumes and their drives."""
    try:
        seen = take(machine.kernel, places_of(settings), machine.run, LinkWatch())
    except UnavailableError as problem:
        yield error("volumes", problem, "run this as root, where /proc and /sys are the machine's")
        return
    for volume in seen.volumes:
        yield from _volume(volume, settings)
    yield from _health(seen)


def _volume(volume: Standing, settings: Settings) -> Iterator[Finding]:
    """Judge a volume; `check` reports a missing mount, directory or marker."""
    wanted, subject = settings.all_volumes[volume.name], f"volume {volume.name}"
    identity = Identity(wanted.path, settings.data / "volume-ids" / volume.name)
    if volume.problem:
        gone = os.strerror(errno.ENOENT) in volume.problem
        if not wanted.mount and identity.known and not gone:
            remedy = f"wayseal-gateway volumes; mount {wanted.path} again, or replace its drive"
            yield error(subject, volume.problem, remedy)
        return
    try:
        identity.look_for_owner()
    except UnavailableError as problem:
        remedy = f"only if that gateway is gone for good: rm {wanted.path / OWNER}"
        yield error(subject, problem, remedy)


def _health(seen: Inventory) -> Iterator[Finding]:
    for device in seen.devices:
        held, told = seen.holds(device.name), seen.health.get(device.name)
        if device.disk or not held or told is None:
            continue
        subject, why = f"drive {device.name}", "; ".join(told.why)
        words = f"{told.verdict}, below volume {', '.join(held)}" + (f": {why}" if why else "")
        match told.verdict:
            case Condition.FAILING:
                yield error(subject, words, f"replace it now: {_REPLACE}")
            case Condition.WORN:
                yield warning(subject, words, f"order a replacement: {_REPLACE}")
            case Condition.UNKNOWN if os.geteuid():
                remedy = "run this as root, or systemctl enable --now wayseal-volumes"
                yield warning(subject, words, remedy)
            case _:
                yield ok(subject, words)
