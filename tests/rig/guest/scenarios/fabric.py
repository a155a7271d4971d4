"""A volume over NVMe-oF is found, connected and used; then its cable is cut during a write."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rig.guest import fabric
from rig.guest.commands import until
from rig.guest.drives import drive
from rig.guest.loss import Loss, Mounting, survive
from rig.guest.product import wayseal
from rig.guest.recordings import Recording, Sender
from rig.guest.scenario import Scenario
from rig.guest.site import kept, site
from storage.drives.counters import counters
from storage.drives.kernel import Kernel

CUT_S: Final = 8
"""Longer than the keep-alive and several reconnects."""
FAST_IO_FAIL_S: Final = 2
SOON: Final = ("--keep-alive", 2, "--reconnect-delay", 1)
NEVER_FAILS: Final = (*SOON, "--fast-io-fail", -1)
FAILS_FAST: Final = (*SOON, "--fast-io-fail", FAST_IO_FAIL_S)


@contextmanager
def connected(*options: object, address: str = fabric.ADDRESS) -> Iterator[Path]:
    """Connect to a target, now and after each loss; yield the block device."""
    with fabric.target():
        where = (address, fabric.NQN)
        said = wayseal("volumes", "connect", *where, *options, "--persist", "--json")
        for line in said.splitlines():
            assert json.loads(line)["own"], line
        try:
            yield drive(fabric.FABRIC_SERIAL)
        finally:
            wayseal("volumes", "disconnect", fabric.NQN, "--forget", "--force")


def link() -> dict[str, Any]:
    """Return what the command reports of the link: its state, and words."""
    told: dict[str, Any] = shown()["link"]
    return told


def shown() -> dict[str, Any]:
    """Return what the command reports of the drive behind the target."""
    seen = json.loads(wayseal("volumes", "--json", "--no-health"))
    found: dict[str, Any] = next(each for each in seen["devices"] if each["nqn"] == fabric.NQN)
    return found


def _used() -> str:
    recording = Recording(seed=1, pieces=32)
    with connected() as device:
        offered = json.loads(wayseal("volumes", "discover", fabric.ADDRESS, "--json"))
        assert {each["nqn"] for each in offered} == {fabric.NQN}, offered
        with kept(device, "xfs"), site() as here:
            before = counters(Kernel(), device.name)
            with Sender(here.store, recording) as sender:
                stored = sender.until_whole()
            here.require_sound(stored)
            recording.require_same(here.store.read(stored.sha256))
            after = counters(Kernel(), device.name)
            head = (Path("/sys/block") / device.name / "stat").read_text().split()
    written = after.written_bytes - before.written_bytes
    assert recording.size <= written < 2 * recording.size, (before, after)
    assert after.read_bytes - before.read_bytes >= recording.size, (before, after)
    return (
        f"{recording.pieces} MiB over NVMe-oF tcp to {device.name}, read back and equal; the paths "
        f"counted {written >> 20} MiB written, the multipath head {int(head[6]) >> 11} MiB"
    )


def _cut_and_mended() -> str:
    recording = Recording(seed=2, pieces=24)
    with (
        connected(*NEVER_FAILS) as device,
        kept(device, "xfs"),
        site() as here,
        Sender(here.store, recording) as sender,
    ):
        sender.until_acknowledged(8)
        fabric.cut()
        until("the link counts as lost", lambda: link()["state"] != "live")
        stood, words = sender.acknowledged, link()["words"]
        time.sleep(CUT_S)
        assert sender.is_alive(), "the upload ended without its volume"
        fabric.mend()
        stored = sender.until_whole()
        assert link()["state"] == "live"
        here.require_sound(stored)
        assert not sender.errors, sender.errors
    return (
        f"cut with {stood >> 20} of {recording.pieces} MiB acknowledged ({words}); the upload "
        "stood still without an error, then went on; both copies verified"
    )


def _cut_for_long() -> str:
    loss = Loss(fabric.cut, fabric.mend, Mounting.NOBODY)
    with connected(*NEVER_FAILS) as device:
        return survive(device, "xfs", Recording(seed=3, pieces=12), loss)


def _cut_fails_fast() -> str:
    loss = Loss(fabric.cut, fabric.mend, Mounting.KEEPER)
    with connected(*FAILS_FAST) as device:
        return survive(device, "xfs", Recording(seed=4, pieces=12), loss)


def _namespace_gone() -> str:
    loss = Loss(lambda: fabric.enable(on=False), lambda: fabric.enable(on=True), Mounting.KEEPER)
    with connected() as device:
        return survive(device, "ext4", Recording(seed=5, pieces=12), loss)


USED: Final = Scenario("nvmeof-used", _used)
CUT_AND_MENDED: Final = Scenario("link-cut-and-mended", _cut_and_mended)
CUT_FOR_LONG: Final = Scenario("link-cut-for-long", _cut_for_long)
CUT_FAILS_FAST: Final = Scenario("link-cut-fails-fast", _cut_fails_fast)
NAMESPACE_GONE: Final = Scenario("namespace-gone", _namespace_gone)
