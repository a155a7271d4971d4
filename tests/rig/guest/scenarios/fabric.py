"""A volume over NVMe-oF: found, connected, used; then its cable is cut in the middle of a write."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rig.guest import fabric
from rig.guest.commands import run, until
from rig.guest.drives import drive, format_drive, mounted
from rig.guest.recordings import Recording, Sender
from rig.guest.scenario import Scenario
from rig.guest.site import VOLUME, forget_caches, site

CONTROLLERS: Final = Path("/sys/class/nvme")
CUT_S: Final = 8
"""Longer than the target's keep-alive and several tries to connect again."""


@contextmanager
def connected(*options: str) -> Iterator[Path]:
    """Connect to the target; return the block device."""
    where = ("--transport=tcp", f"--traddr={fabric.ADDRESS}", f"--trsvcid={fabric.SERVICE}")
    run("nvme", "connect", *where, f"--nqn={fabric.NQN}", *options)
    try:
        yield drive(fabric.FABRIC_SERIAL)
    finally:
        run("nvme", "disconnect", f"--nqn={fabric.NQN}")


def controller_state() -> str:
    """Return the state of the controller, without asking it."""
    for controller in CONTROLLERS.iterdir():
        if (controller / "subsysnqn").read_text().strip() == fabric.NQN:
            return (controller / "state").read_text().strip()
    return "gone"


def _used() -> str:
    where = ("--transport=tcp", f"--traddr={fabric.ADDRESS}", f"--trsvcid={fabric.SERVICE}")
    recording = Recording(seed=1, pieces=24)
    with fabric.target():
        found = run("nvme", "discover", *where)
        assert fabric.NQN in found, found
        with connected() as device:
            uuid = format_drive(device, "xfs")
            with mounted(uuid, VOLUME), site() as store, Sender(store, recording) as sender:
                stored = sender.until_whole()
                forget_caches()
                recording.require_same(store.read(stored.sha256))
    assert controller_state() == "gone"
    return f"{recording.pieces} MiB over NVMe-oF tcp to {device.name}, read back and equal"


def _cut_and_mended() -> str:
    recording = Recording(seed=2, pieces=48)
    with fabric.target(), connected("--reconnect-delay=1", "--keep-alive-tmo=2") as device:
        uuid = format_drive(device, "xfs")
        with mounted(uuid, VOLUME), site() as store, Sender(store, recording) as sender:
            sender.until_acknowledged(8)
            fabric.cut()
            began_s = time.monotonic()
            until("a controller that tries again", lambda: controller_state() == "connecting")
            stood = sender.acknowledged
            time.sleep(CUT_S)
            assert sender.is_alive(), "the upload ended without its volume"
            fabric.mend()
            cut_s = time.monotonic() - began_s
            stored = sender.until_whole()
            assert controller_state() == "live"
            forget_caches()
            recording.require_same(store.read(stored.sha256))
            assert not sender.errors, sender.errors
    return (
        f"cut for {cut_s:.0f} s after {stood >> 20} of {recording.pieces} MiB were acknowledged: "
        "the upload stood still, without an error, then went on; read back and equal"
    )


USED: Final = Scenario("nvmeof", 100, _used)
CUT_AND_MENDED: Final = Scenario("link-cut-and-mended", 120, _cut_and_mended)
