"""NVMe as sysfs shows it: controllers, subsystems, and the paths of a multipath head.

With native multipath `/sys/block/nvme1n1` is the head, whose `device` is the subsystem; each
controller's path to it is a hidden disk, `nvme1c2n1`: subsystem, controller, namespace. Without
multipath, `device` is the controller. Only the controller knows its transport: other tools say
`nvme` for local and remote drives alike.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storage.drives.kernel import Kernel, names, number, text

LIVE: Final = "live"
GOING: Final = ("deleting", "deleting (no IO)", "dead")
"""States from which a controller does not come back."""
DISCOVERY_NQN: Final = "nqn.2014-08.org.nvmexpress.discovery"
LOCAL: Final = ("pcie", "apple-nvme")
OPTIMIZED: Final = "optimized"
CHANGE: Final = "change"
"""The target is moving the namespace between its controllers. Source: NVMe base specification 2.0,
8.1.3.5: a host waits and tries again, at most ANATT seconds."""
PERSISTENT_LOSS: Final = "persistent-loss"
_NO_KEY: Final = ("", "none", "0", "00000000")
_HEAD: Final = re.compile(r"nvme(\d+)n(\d+)")
_CONTROLLER: Final = re.compile(r"nvme\d+")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The kernel's time limits for a controller that does not answer; None is never.

    Attributes:
        reconnect_delay_s: Pause between two attempts to connect again.
        ctrl_loss_s: Time without a connection until the controller is given up.
        fast_io_fail_s: Time until reads and writes fail instead of waiting.
        keep_alive_s: Silence after which the connection counts as lost.
    """

    reconnect_delay_s: int | None = None
    ctrl_loss_s: int | None = None
    fast_io_fail_s: int | None = None
    keep_alive_s: int | None = None


@dataclass(frozen=True, slots=True)
class Controller:
    """One connection to a subsystem, or one local drive's controller.

    Attributes:
        name: `nvme1`.
        nqn: Of its subsystem.
        transport: `pcie`, `tcp`, `rdma`, `fc`, `loop`.
        state: The kernel's word: `live`, `connecting`, `resetting`, `deleting`, `dead`, …
        address: By the kernel's names: traddr, trsvcid, src_addr, host_traddr, host_iface; a local
            drive's PCI address is its traddr.
        io_queues: How many it has; None if unknown.
        dhchap: Whether it has a DH-CHAP secret; None if this process may not see that.
        tls: Whether it is encrypted.
    """

    name: str
    nqn: str
    transport: str
    state: str
    address: dict[str, str]
    timeouts: Timeouts
    model: str
    serial: str
    firmware: str
    io_queues: int | None = None
    dhchap: bool | None = False
    tls: bool = False

    @property
    def fabric(self) -> bool:
        """Return whether the drive is reached over a network."""
        return self.transport not in LOCAL

    @property
    def peer(self) -> str:
        """Return its address in one word: `192.168.7.2:4420`, `0000:01:00.0`."""
        host, port = self.address.get("traddr", ""), self.address.get("trsvcid", "")
        if not port or port == "none":
            return host
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True, slots=True)
class NvmePath:
    """One path from a block device to its namespace.

    Attributes:
        controller: The connection.
        disk: The hidden disk that counts this path's I/O, or None.
        ana_state: How the target wants it to be used: `optimized`, `inaccessible`, …
    """

    controller: Controller
    disk: str | None
    ana_state: str

    @property
    def reached(self) -> bool:
        """Return whether the target is connected and offers the namespace over this path."""
        return self.controller.state == LIVE and self.disk is not None

    @property
    def usable(self) -> bool:
        """Return whether reads and writes can use this path now."""
        return self.reached and self.ana_state in ("", OPTIMIZED, "non-optimized")

    @property
    def changing(self) -> bool:
        """Return whether the target will say soon whether this path can be used."""
        return self.reached and self.ana_state == CHANGE


def controllers(kernel: Kernel) -> tuple[Controller, ...]:
    """Return every controller, local and remote, except discovery controllers."""
    top = kernel.sys / "class" / "nvme"
    found = (controller(top / name) for name in names(top) if _CONTROLLER.fullmatch(name))
    return tuple(each for each in found if each.nqn != DISCOVERY_NQN)


def controller(place: Path) -> Controller:
    """Return the controller of a directory in sysfs."""
    return Controller(
        name=place.name,
        nqn=text(place / "subsysnqn"),
        transport=text(place / "transport"),
        state=text(place / "state"),
        address=_address(text(place / "address")),
        timeouts=Timeouts(
            reconnect_delay_s=_seconds(place / "reconnect_delay"),
            ctrl_loss_s=_seconds(place / "ctrl_loss_tmo"),
            fast_io_fail_s=_seconds(place / "fast_io_fail_tmo"),
            keep_alive_s=_seconds(place / "kato") or None,
        ),
        model=text(place / "model"),
        serial=text(place / "serial"),
        firmware=text(place / "firmware_rev"),
        io_queues=_io_queues(place),
        dhchap=_has_secret(place / "dhchap_secret"),
        tls=text(place / "tls_key") not in _NO_KEY,
    )


def paths(kernel: Kernel, disk: str) -> tuple[NvmePath, ...]:
    """Return the paths of an NVMe disk, with or without multipath.

    They include controllers of the subsystem without a path to this namespace: a link may have been
    lost before the namespace was seen through it.
    """
    device = kernel.block(disk) / "device"
    head = _HEAD.fullmatch(disk)
    if head is None or not text(device / "subsysnqn"):
        return ()
    if text(device / "transport"):  # no multipath: the disk is the controller's own
        own = controller(Path(device).resolve())
        return (NvmePath(own, disk, text(kernel.block(disk) / "ana_state")),)
    same = (each for each in controllers(kernel) if each.nqn == text(device / "subsysnqn"))
    return tuple(_path(kernel, each, head[1], head[2]) for each in same)


def _path(kernel: Kernel, through: Controller, subsystem: str, namespace: str) -> NvmePath:
    disk = f"nvme{subsystem}c{through.name.removeprefix('nvme')}n{namespace}"
    place = kernel.sys / "class" / "nvme" / through.name / disk
    if not place.exists():
        return NvmePath(through, None, "")
    return NvmePath(through, disk, text(place / "ana_state"))


def _address(said: str) -> dict[str, str]:
    if "=" not in said:  # of a local drive
        return {"traddr": said} if said else {}
    return dict(part.split("=", 1) for part in said.split(",") if "=" in part)


def _io_queues(place: Path) -> int | None:
    """Return the number of I/O queues; the kernel counts the admin queue too."""
    count = number(place / "queue_count")
    return count - 1 if count else None


def _has_secret(attribute: Path) -> bool | None:
    """Return whether there is a secret; a kernel without authentication has no such attribute."""
    if not attribute.exists():
        return False
    return text(attribute) not in _NO_KEY if os.access(attribute, os.R_OK) else None


def _seconds(path: Path) -> int | None:
    """Return seconds, or None for never, which the kernel calls `off` and older kernels -1."""
    value = number(path)
    return value if value is not None and value >= 0 else None
