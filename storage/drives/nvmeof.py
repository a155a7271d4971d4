"""NVMe over Fabrics: finding subsystems, connecting with our reconnect settings, disconnecting.

nvme-cli does it; what came of it is read from sysfs, where it can be told which connection is ours.
Why the settings are what they are: docs/adr/0019-nvmeof-reconnect.md.
"""

import ipaddress
import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError, UnavailableError
from storage.drives.devices import Device, devices
from storage.drives.kernel import Kernel
from storage.drives.nvme import LIVE, Controller, controllers
from storage.drives.tools import Run, Said

TRANSPORTS: Final = ("tcp", "rdma", "fc")
DEFAULT_PORT: Final = 4420
"""Of NVMe over TCP and RDMA, subsystems and discovery alike. Source: IANA; 8009 is the registered
one of discovery over TCP, which not every target serves."""
FABRICS: Final = Path("/dev/nvme-fabrics")
MODPROBE_TIMEOUT_S: Final = 10.0
DISCOVER_TIMEOUT_S: Final = 15.0
CONNECT_TIMEOUT_S: Final = 30.0
DISCONNECT_TIMEOUT_S: Final = 20.0
NAMESPACE_TIMEOUT_S: Final = 10.0
"""From the connection to its first block device."""
NQN_BYTES_MAX: Final = 223
"""Source: NVMe base specification 2.0, 4.5."""
_POLL_S: Final = 0.1
_NEVER: Final = -1


@dataclass(frozen=True, slots=True)
class Reconnect:
    """What the kernel shall do about a lost link, seconds; -1 is never.

    Attributes:
        keep_alive_s: Silence after which the link counts as lost.
        reconnect_delay_s: Pause between tries.
        fast_io_fail_s: From the loss until reads and writes fail instead of waiting.
        ctrl_loss_s: From the loss until the drive is removed.
    """

    keep_alive_s: int = 5
    reconnect_delay_s: int = 2
    fast_io_fail_s: int = 60
    ctrl_loss_s: int = _NEVER

    def __post_init__(self) -> None:
        if self.keep_alive_s < 1 or self.reconnect_delay_s < 1:
            raise RejectedError("keep alive and reconnect delay: expected 1 s or more")
        if self.fast_io_fail_s < _NEVER or self.ctrl_loss_s < _NEVER:
            raise RejectedError("fast I/O fail and controller loss: expected seconds, -1 for never")
        if 0 <= self.ctrl_loss_s < self.fast_io_fail_s:
            raise RejectedError(
                f"expected reads and writes to fail before the drive is given up, got "
                f"{self.fast_io_fail_s} s and {self.ctrl_loss_s} s"
            )


@dataclass(frozen=True, slots=True)
class Target:
    """Where a subsystem is offered.

    Attributes:
        transport: `tcp`, `rdma` or `fc`.
        address: Of the target, an IP address for tcp and rdma.
        port: Empty for fc.
        nqn: Of the subsystem.
    """

    transport: str
    address: str
    port: str
    nqn: str

    def __post_init__(self) -> None:
        if self.transport not in TRANSPORTS:
            raise RejectedError(f"transport {self.transport!r}: expected {', '.join(TRANSPORTS)}")
        sound = self.nqn.startswith("nqn.") and (self.nqn + self.address + self.port).isprintable()
        if not sound or len(self.nqn.encode()) > NQN_BYTES_MAX:
            raise RejectedError(f"expected the NQN of a subsystem, nqn.…, got {self.nqn[:80]!r}")

    def is_of(self, controller: Controller) -> bool:
        """Return whether a controller is a connection to here."""
        theirs = controller.address
        return (controller.nqn, controller.transport) == (self.nqn, self.transport) and (
            (_plain(theirs.get("traddr", "")), theirs.get("trsvcid", "none").replace("none", ""))
            == (_plain(self.address), self.port)
        )


def require_fabrics(run: Run, gate: Path = FABRICS) -> None:
    """Check that this kernel can connect; load what it needs if that was not done.

    Raises:
        UnavailableError: It cannot.
    """
    if not gate.exists():
        with suppress(UnavailableError):
            run(("modprobe", "nvme-fabrics"), MODPROBE_TIMEOUT_S)
    if not gate.exists():
        raise UnavailableError(f"{gate} is not there: modprobe nvme-fabrics, as root")


def resolve(transport: str, host: str, port: int) -> str:
    """Return the address of a host by name, as the kernel wants it; others as they are.

    Raises:
        UnavailableError: Nobody knows the name.
    """
    if transport == "fc":
        return host
    try:
        return str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise UnavailableError(f"host {host}: {error.strerror}") from error


def discover(transport: str, address: str, port: str, run: Run) -> tuple[Target, ...]:
    """Return what a target offers to this host.

    Raises:
        UnavailableError: It does not answer, or discovering is not possible here.
    """
    command = ["nvme", "discover", f"--transport={transport}", f"--traddr={address}"]
    command += [f"--trsvcid={port}"] if port else []
    said = _as_root(run, [*command, "--output-format=json"], DISCOVER_TIMEOUT_S)
    return tuple(parse_discovery(said.out, transport))


def parse_discovery(said: str, transport: str) -> Iterator[Target]:
    """Yield the subsystems of a discovery log as nvme-cli 1.x and 2.x print it.

    Raises:
        UnavailableError: It is not one.
    """
    try:
        # 1.x has words ahead of it when a log is empty; that is no JSON and offers nothing.
        records: list[dict[str, Any]] = json.loads(said)["records"] if "{" in said else []
        for record in records:
            port = str(record.get("trsvcid", "")).strip()
            if str(record["subtype"]) == "nvme subsystem" and record["trtype"] == transport:
                yield Target(
                    transport,
                    str(record["traddr"]).strip(),
                    "" if port == "none" else port,
                    str(record["subnqn"]),
                )
    except (ValueError, KeyError, TypeError, RejectedError) as error:
        raise UnavailableError(f"nvme discover said {said[:80]!r}: {error!r}") from error


def connect(
    target: Target,
    settings: Reconnect,
    kernel: Kernel,
    run: Run,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Controller, tuple[Device, ...]]:
    """Connect to a subsystem unless that is done, and give the connection our settings.

    Returns:
        The connection and the block devices that came with it; none if the subsystem has no
        namespace for this host.

    Raises:
        UnavailableError: It does not answer, refuses, or connecting is not possible here.
    """
    ours = connection(target, kernel)
    if ours is None:
        _nvme_connect(target, settings, run)
        limit = clock() + CONNECT_TIMEOUT_S
        while (ours := connection(target, kernel)) is None or ours.state != LIVE:
            if clock() > limit:
                state = f"is {ours.state}" if ours else "is not there"
                raise UnavailableError(f"connected to {target.nqn}, but the controller {state}")
            time.sleep(_POLL_S)
    apply(ours, settings, kernel)
    limit = clock() + NAMESPACE_TIMEOUT_S
    while not (found := _disks(target.nqn, kernel)) and clock() < limit and ours.state == LIVE:
        time.sleep(_POLL_S)
    return ours, found


def connection(target: Target, kernel: Kernel) -> Controller | None:
    """Return the connection to a target, whatever its state."""
    return next((each for each in controllers(kernel) if target.is_of(each)), None)


def apply(controller: Controller, settings: Reconnect, kernel: Kernel) -> None:
    """Give a connection our settings, as far as its kernel lets them be changed.

    nvme-cli 2.3 cannot set fast_io_fail_tmo when it connects, so all are written afterwards; the
    reconnect delay first, for the kernel counts ctrl_loss_tmo in such delays.

    Raises:
        UnavailableError: The kernel does not take them.
    """
    place = kernel.sys / "class" / "nvme" / controller.name
    for name, seconds in (
        ("reconnect_delay", settings.reconnect_delay_s),
        ("ctrl_loss_tmo", settings.ctrl_loss_s),
        ("fast_io_fail_tmo", settings.fast_io_fail_s),
    ):
        try:
            (place / name).write_text(f"{seconds}\n", "ascii")
        except OSError as error:
            raise UnavailableError(
                f"cannot set {name} of {controller.name} to {seconds}: {error.strerror}"
                + _needs_root(error)
            ) from error


def disconnect(nqn: str, kernel: Kernel, run: Run) -> int:
    """End all connections to a subsystem; return how many there were.

    Raises:
        UnavailableError: They did not end.
    """
    there = [each for each in controllers(kernel) if each.nqn == nqn and each.fabric]
    if there:
        _as_root(run, ["nvme", "disconnect", f"--nqn={nqn}"], DISCONNECT_TIMEOUT_S)
    return len(there)


def of_subsystem(nqn: str, known: Iterable[Device]) -> tuple[str, ...]:
    """Return the names of the disks of a subsystem."""
    return tuple(each.name for each in known if each.nqn == nqn and not each.disk)


def _disks(nqn: str, kernel: Kernel) -> tuple[Device, ...]:
    return tuple(each for each in devices(kernel, ()) if each.nqn == nqn)


def _nvme_connect(target: Target, settings: Reconnect, run: Run) -> None:
    command = [
        "nvme",
        "connect",
        f"--transport={target.transport}",
        f"--traddr={target.address}",
        f"--nqn={target.nqn}",
        f"--keep-alive-tmo={settings.keep_alive_s}",
        f"--reconnect-delay={settings.reconnect_delay_s}",
        f"--ctrl-loss-tmo={settings.ctrl_loss_s}",
    ]
    command += [f"--trsvcid={target.port}"] if target.port else []
    _as_root(run, command, CONNECT_TIMEOUT_S)


def _as_root(run: Run, command: list[str], limit_s: float) -> Said:
    """Run nvme-cli for something that only root may do, and say so if that was the matter."""
    said = run(command, limit_s)
    if said.status:
        needs = " (needs root)" if "ermission" in said.errors else ""
        raise UnavailableError(f"{' '.join(command[:2])} failed: {said.complaint}{needs}")
    return said


def _needs_root(error: OSError) -> str:
    return " (needs root)" if isinstance(error, PermissionError) else ""


def _plain(address: str) -> str:
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address.lower()
