"""A volume over NVMe-oF: found, connected, used; then its cable is cut in the middle of a write."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rig.guest import fabric
from rig.guest.commands import run, until
from rig.guest.drives import drive, format_drive, mounted
from rig.guest.loss import Loss, survive
from rig.guest.recordings import Recording, Sender
from rig.guest.scenario import Scenario
from rig.guest.site import VOLUME, site

CONTROLLERS: Final = Path("/sys/class/nvme")
WHERE: Final = (
    *("--transport=tcp", f"--traddr={fabric.ADDRESS}", f"--trsvcid={fabric.SERVICE}"),
    f"--nqn={fabric.NQN}",
)
PATIENT: Final = ("--reconnect-delay=1", "--keep-alive-tmo=2", "--ctrl-loss-tmo=300")
CUT_S: Final = 8
"""Longer than the keep-alive and several tries to connect again."""
FAST_IO_FAIL_S: Final = 2


@contextmanager
def connected(*options: str) -> Iterator[Path]:
    """Connect to a target; yield the block device."""
    with fabric.target():
        run("nvme", "connect", *WHERE, *options)
        try:
            yield drive(fabric.FABRIC_SERIAL)
        finally:
            run("nvme", "disconnect", f"--nqn={fabric.NQN}")


def _controller() -> Path | None:
    for controller in CONTROLLERS.iterdir():
        if (controller / "subsysnqn").read_text().strip() == fabric.NQN:
            return controller
    return None


def _state() -> str:
    """Return the state of the controller, without asking it."""
    controller = _controller()
    return (controller / "state").read_text().strip() if controller else "gone"


def _used() -> str:
    recording = Recording(seed=1, pieces=32)
    with connected() as device:
        found = run("nvme", "discover", *WHERE[:3])
        assert fabric.NQN in found, found
        uuid = format_drive(device, "xfs")
        with mounted(uuid, VOLUME), site() as here, Sender(here.store, recording) as sender:
            stored = sender.until_whole()
            here.require_sound(stored)
            recording.require_same(here.store.read(stored.sha256))
    assert _state() == "gone"
    return f"{recording.pieces} MiB over NVMe-oF tcp to {device.name}, read back and equal"


def _cut_and_mended() -> str:
    recording = Recording(seed=2, pieces=32)
    with connected(*PATIENT) as device:
        uuid = format_drive(device, "xfs")
        with mounted(uuid, VOLUME), site() as here, Sender(here.store, recording) as sender:
            sender.until_acknowledged(8)
            fabric.cut()
            cut_s = until("a controller that tries again", lambda: _state() == "connecting")
            stood = sender.acknowledged
            time.sleep(CUT_S)
            assert sender.is_alive(), "the upload ended without its volume"
            fabric.mend()
            stored = sender.until_whole()
            assert _state() == "live"
            here.require_sound(stored)
            assert not sender.errors, sender.errors
    return (
        f"cut for {cut_s + CUT_S:.0f} s with {stood >> 20} of {recording.pieces} MiB acknowledged: "
        "the upload stood still without an error, then went on; both copies verified"
    )


def _cut_for_long() -> str:
    loss = Loss(fabric.cut, fabric.mend, remounts=False)
    with connected(*PATIENT) as device:
        return survive(device, "xfs", Recording(seed=3, pieces=20), loss)


def _cut_fails_fast() -> str:
    loss = Loss(fabric.cut, _mend_and_wait)
    with connected(*PATIENT) as device:
        controller = _controller()
        assert controller is not None
        # nvme-cli 2.3 has no option for it.
        (controller / "fast_io_fail_tmo").write_text(str(FAST_IO_FAIL_S))
        return survive(device, "xfs", Recording(seed=4, pieces=20), loss)


def _mend_and_wait() -> None:
    fabric.mend()
    until("a live controller", lambda: _state() == "live")


def _namespace_gone() -> str:
    loss = Loss(lambda: fabric.enable(on=False), _enable_and_wait)
    with connected(*PATIENT) as device:
        return survive(device, "ext4", Recording(seed=5, pieces=20), loss)


def _enable_and_wait() -> None:
    fabric.enable(on=True)
    drive(fabric.FABRIC_SERIAL)


USED: Final = Scenario("nvmeof-used", 100, _used)
CUT_AND_MENDED: Final = Scenario("link-cut-and-mended", 120, _cut_and_mended)
CUT_FOR_LONG: Final = Scenario("link-cut-for-long", 180, _cut_for_long)
CUT_FAILS_FAST: Final = Scenario("link-cut-fails-fast", 150, _cut_fails_fast)
NAMESPACE_GONE: Final = Scenario("namespace-gone", 150, _namespace_gone)
