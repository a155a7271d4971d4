"""A drive that fails, that is full, or that is pulled out."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from rig.guest import monitor
from rig.guest.commands import run, until
from rig.guest.drives import drive, present
from rig.guest.loss import Loss, Mounting, survive
from rig.guest.recordings import Recording, Sender
from rig.guest.scenario import Scenario
from rig.guest.site import VOLUME, kept, site

SSD: Final = "RIGSSD0"
HDD: Final = "RIGHDD0"
SPARE: Final = "RIGSPARE0"
SPARE_DEVICE: Final = {"id": "spare", "serial": SPARE, "drive": "spare-medium", "bus": "bay"}
MAPPED: Final = "rig"
STEP_BYTES: Final = 8 << 20


OFFSET_SECTORS: Final = 8192
"""Where the layer begins, so that the drive below shows no file system with the same UUID."""
LINEAR: Final = f"linear {{device}} {OFFSET_SECTORS}"
# Up for 0 s, then down for an hour, in which reads work and writes fail.
WRITES_NOTHING: Final = f"flakey {{device}} {OFFSET_SECTORS} 0 3600 1 error_writes"


@contextmanager
def _mapped(device: Path) -> Iterator[Path]:
    """Put a layer over a drive that can be switched to failing."""
    run("dmsetup", "create", MAPPED, "--table", _table(device, LINEAR))
    try:
        yield next(
            Path("/dev") / device.parents[1].name
            for device in Path("/sys/block").glob("dm-*/dm/name")
            if device.read_text().strip() == MAPPED
        )
    finally:
        run("dmsetup", "remove", "--retry", MAPPED)


def _table(device: Path, target: str) -> str:
    sectors = int((Path("/sys/block") / device.name / "size").read_text()) - OFFSET_SECTORS
    return f"0 {sectors} {target.format(device=device)}"


def _turn(device: Path, target: str) -> None:
    """Switch the layer, even while data is being written."""
    run("dmsetup", "load", MAPPED, "--table", _table(device, target))
    run("dmsetup", "suspend", "--nolockfs", "--noflush", MAPPED)
    run("dmsetup", "resume", MAPPED)


def _fails() -> str:
    device = drive(HDD)
    loss = Loss(lambda: _turn(device, "error"), lambda: _turn(device, LINEAR), Mounting.OPERATOR)
    with _mapped(device) as mapped:
        return survive(mapped, "xfs", Recording(seed=11, pieces=12), loss)


def _turns_read_only() -> str:
    device = drive(SSD)
    loss = Loss(
        lambda: _turn(device, WRITES_NOTHING), lambda: _turn(device, LINEAR), Mounting.OPERATOR
    )
    with _mapped(device) as mapped:
        return survive(mapped, "ext4", Recording(seed=12, pieces=12), loss)


def _sata_removed() -> str:
    device = drive(SSD)
    delete = Path("/sys/block") / device.name / "device/delete"
    loss = Loss(lambda: _write(delete, "1"), _rescan, Mounting.KEEPER)
    return survive(device, "ext4", Recording(seed=13, pieces=12), loss)


def _rescan() -> None:
    for host in Path("/sys/class/scsi_host").iterdir():
        _write(host / "scan", "- - -")
    drive(SSD)


def _write(attribute: Path, value: str) -> None:
    attribute.write_text(value)


def _nvme_removed() -> str:
    loss = Loss(_pull, _push, Mounting.KEEPER)
    return survive(drive(SPARE), "xfs", Recording(seed=14, pieces=12), loss)


def _pull() -> None:
    monitor.ask("device_del", id=SPARE_DEVICE["id"])
    until("an empty bay", lambda: not present(SPARE))


def _push() -> None:
    monitor.ask("device_add", driver="nvme", **SPARE_DEVICE)
    drive(SPARE)


def _full() -> str:
    device = drive(HDD)
    early, late = Recording(seed=15, pieces=12), Recording(seed=16, pieces=16)
    with kept(device, "ext4"), site() as here, Sender(here.store, early) as first:
        first.until_acknowledged(4)
        filler = VOLUME / "filler"
        _fill_up(filler)
        with Sender(here.store, late) as second:
            refused = second.until_told()
            here.require_sound(first.until_whole())
            assert second.acknowledged == 0
            assert here.volume.usable, here.volume.reason
            filler.unlink()
            here.require_sound(second.until_whole())
    return (
        f"the upload under way was finished, a new one refused ({refused}), "
        "and taken once there was room"
    )


def _fill_up(filler: Path) -> None:
    """Fill the file system until less than one step is free."""
    with filler.open("wb") as file, suppress(OSError):
        for step in count():
            os.posix_fallocate(file.fileno(), step * STEP_BYTES, STEP_BYTES)


FAILS: Final = Scenario("drive-fails", _fails)
TURNS_READ_ONLY: Final = Scenario("drive-read-only", _turns_read_only)
FULL: Final = Scenario("drive-full", _full)
SATA_REMOVED: Final = Scenario("sata-removed", _sata_removed)
NVME_REMOVED: Final = Scenario("nvme-removed", _nvme_removed)
