"""NVMe-oF connections as values: where a target is, and how to connect to it.

A value that the kernel or nvme-cli would refuse, or silently ignore, cannot be made.
"""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from contracts.errors import RejectedError
from storage.drives.nvme import Controller

TRANSPORTS: Final = ("tcp", "rdma", "fc")
DEFAULT_PORT: Final = 4420
"""Of NVMe over TCP and RDMA, for subsystems and discovery. Source: IANA. Not every target serves
8009, the registered port of discovery over TCP."""
NQN_BYTES_MAX: Final = 223
"""Source: NVMe base specification 2.0, 4.5."""
INTERFACE_BYTES_MAX: Final = 15
"""Of a network card's name. Source: IFNAMSIZ of Linux."""
IO_QUEUES_MAX: Final = 65_535
"""Source: NVMe base specification 2.0, 3.1.1.2."""
IO_POLICIES: Final = ("numa", "round-robin", "queue-depth")
"""Of the kernel's multipath; queue-depth needs Linux 6.11."""
_NEVER: Final = -1
_WORLD_WIDE: Final = re.compile(r"nn-0x[0-9a-f]{16}:pn-0x[0-9a-f]{16}", re.IGNORECASE)
"""Address of a port of Fibre Channel. Source: FC-NVMe-2, as nvme-cli writes it."""


@dataclass(frozen=True, slots=True)
class Reconnect:
    """The kernel's time limits for a lost link, seconds; -1 is never.

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
    """A subsystem, the address of its target, and the way out of this host.

    Attributes:
        transport: `tcp`, `rdma` or `fc`.
        address: Of the target, an IP address for tcp and rdma.
        port: Empty for fc.
        nqn: Of the subsystem.
        host_traddr: Address of this host to connect from; required for fc, else empty for the
            kernel's choice.
        host_iface: Network card to connect from, tcp only; empty for the kernel's choice.
    """

    transport: str
    address: str
    port: str
    nqn: str
    host_traddr: str = ""
    host_iface: str = ""

    def __post_init__(self) -> None:
        if self.transport not in TRANSPORTS:
            raise RejectedError(f"transport {self.transport!r}: expected {', '.join(TRANSPORTS)}")
        if "," in self.nqn + self.address + self.port:  # it parts the kernel's options
            raise RejectedError(f"expected no comma in an address, got {self.address[:80]!r}")
        sound = self.nqn.startswith("nqn.") and (self.nqn + self.address + self.port).isprintable()
        if not sound or len(self.nqn.encode()) > NQN_BYTES_MAX:
            raise RejectedError(f"expected the NQN of a subsystem, nqn.…, got {self.nqn[:80]!r}")
        if self.transport == "fc":
            _require_world_wide("address", self.address)
            _require_world_wide("host-traddr", self.host_traddr)
        elif self.host_traddr and not _is_ip(self.host_traddr):
            raise RejectedError(f"host-traddr: expected an IP address, got {self.host_traddr!r}")
        if self.host_iface and self.transport != "tcp":
            raise RejectedError(f"host-iface: only tcp has it, {self.transport} chooses the port")
        if self.host_iface and not _is_card(self.host_iface):
            raise RejectedError(f"host-iface: expected a network card, got {self.host_iface!r}")

    def is_of(self, controller: Controller) -> bool:
        """Return whether a controller is a connection to this target; any program may have made it.

        Another program may have left the way out of this host to the kernel, or may have chosen
        one where we did not: that is still the same path.
        """
        theirs = controller.address
        same = (controller.nqn, controller.transport) == (self.nqn, self.transport) and (
            (_plain(theirs.get("traddr", "")), theirs.get("trsvcid", "none").replace("none", ""))
            == (_plain(self.address), self.port)
        )
        source = theirs.get("host_traddr") or theirs.get("src_addr", "")
        here = not self.host_traddr or _plain(source) == _plain(self.host_traddr)
        return same and here and self.host_iface in ("", theirs.get("host_iface", self.host_iface))


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """How a connection is made, beyond its timeouts.

    Attributes:
        io_queues: Number of I/O queues; 0 for the kernel's choice, one for each CPU.
        hdr_digest: Whether each header carries a CRC-32C; tcp only.
        data_digest: Whether data carries a CRC-32C; tcp only.
        iopolicy: How the kernel chooses among several paths; empty leaves it as it is.
        dhchap_secret_file: File with this host's DH-CHAP secret; empty for none.
        dhchap_ctrl_secret_file: File with the target's secret, which the target must prove.
        tls: Whether the connection is encrypted; tcp only.
        tls_keyring: Keyring to look for the key; empty for the kernel's `.nvme`.
        tls_key_file: File with the pre-shared key; empty if a keyring has it.
    """

    io_queues: int = 0
    hdr_digest: bool = False
    data_digest: bool = False
    iopolicy: str = ""
    dhchap_secret_file: str = ""
    dhchap_ctrl_secret_file: str = ""
    tls: bool = False
    tls_keyring: str = ""
    tls_key_file: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.io_queues <= IO_QUEUES_MAX:
            raise RejectedError(f"I/O queues: expected 0 to {IO_QUEUES_MAX}, got {self.io_queues}")
        if self.iopolicy not in ("", *IO_POLICIES):
            raise RejectedError(f"iopolicy {self.iopolicy!r}: expected {', '.join(IO_POLICIES)}")
        if self.dhchap_ctrl_secret_file and not self.dhchap_secret_file:
            raise RejectedError("the target's DH-CHAP secret needs the host's secret beside it")
        if (self.tls_keyring or self.tls_key_file) and not self.tls:
            raise RejectedError("a keyring or key for TLS: expected tls to be on")
        for file in self.secret_files:
            if not PurePosixPath(file).is_absolute():
                raise RejectedError(f"file with a secret: expected an absolute path, got {file!r}")

    @property
    def secret_files(self) -> tuple[str, ...]:
        """Return the files with secrets that a connection needs."""
        files = (self.dhchap_secret_file, self.dhchap_ctrl_secret_file, self.tls_key_file)
        return tuple(each for each in files if each)


@dataclass(frozen=True, slots=True)
class WantedConnection:
    """A connection that somebody wants: where to, and how."""

    target: Target
    settings: Reconnect = field(default_factory=Reconnect)
    options: ConnectOptions = field(default_factory=ConnectOptions)

    def __post_init__(self) -> None:
        given = self.options
        if self.target.transport != "tcp" and (given.hdr_digest or given.data_digest or given.tls):
            raise RejectedError(
                f"digests and TLS: only tcp has them, {self.target.transport} protects its own "
                "frames"
            )


def _require_world_wide(name: str, address: str) -> None:
    if not _WORLD_WIDE.fullmatch(address):
        raise RejectedError(
            f"{name}: fc needs a port's names, nn-0x…:pn-0x… with 16 hexadecimal digits each, got "
            f"{address!r}; /sys/class/fc_host has those of this host"
        )


def _is_card(name: str) -> bool:
    sound = name.isprintable() and not set(name) & set("/, ")
    return sound and len(name.encode()) <= INTERFACE_BYTES_MAX


def _is_ip(address: str) -> bool:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


def _plain(address: str) -> str:
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address.lower()
