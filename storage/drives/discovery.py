"""NVMe-oF discovery: which subsystems a target offers to this host."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError, UnavailableError
from storage.drives.nvme import DISCOVERY_NQN
from storage.drives.secrets import hidden
from storage.drives.targets import Target
from storage.drives.tools import Run, Said

FABRICS: Final = Path("/dev/nvme-fabrics")
MODPROBE_TIMEOUT_S: Final = 10.0
DISCOVER_TIMEOUT_S: Final = 15.0


def require_fabrics(run: Run, gate: Path = FABRICS) -> None:
    """Load the kernel module nvme-fabrics unless it is loaded.

    Raises:
        UnavailableError: It cannot be loaded.
    """
    if not gate.exists():
        with suppress(UnavailableError):
            run(("modprobe", "nvme-fabrics"), MODPROBE_TIMEOUT_S)
    if not gate.exists():
        raise UnavailableError(f"{gate} is missing: run modprobe nvme-fabrics as root")


def resolve(transport: str, host: str, port: int) -> str:
    """Return the IP address of a host, as the kernel needs it; an address of fc stays as it is.

    Raises:
        UnavailableError: The name is unknown.
    """
    if transport == "fc":
        return host
    try:
        return str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise UnavailableError(f"host {host}: {error.strerror}") from error


def service(transport: str, address: str, port: str, host_traddr: str, host_iface: str) -> Target:
    """Return the discovery service at an address.

    Raises:
        RejectedError: The transport cannot have such an address.
    """
    return Target(transport, address, port, DISCOVERY_NQN, host_traddr, host_iface)


def discover(at: Target, run: Run) -> tuple[Target, ...]:
    """Return the subsystems that a target offers to this host, each with the same way out of it.

    Args:
        at: Its discovery service.
        run: Runs nvme-cli.

    Raises:
        UnavailableError: It does not answer, or discovery is not possible here.
    """
    said = as_root(
        run, ["nvme", "discover", *place_of(at), "--output-format=json"], DISCOVER_TIMEOUT_S
    )
    return tuple(parse_discovery(said.out, at))


def parse_discovery(said: str, at: Target) -> Iterator[Target]:
    """Yield the subsystems of a discovery log as nvme-cli 1.x and 2.x print it.

    Raises:
        UnavailableError: It is not a discovery log.
    """
    try:
        # For an empty log, 1.x prints words instead of JSON.
        records: list[dict[str, Any]] = json.loads(said)["records"] if "{" in said else []
        for record in records:
            port = str(record.get("trsvcid", "")).strip()
            if str(record["subtype"]) == "nvme subsystem" and record["trtype"] == at.transport:
                yield replace(
                    at,
                    address=str(record["traddr"]).strip(),
                    port="" if port == "none" else port,
                    nqn=str(record["subnqn"]),
                )
    except (ValueError, KeyError, TypeError, RejectedError) as error:
        raise UnavailableError(f"nvme discover said {said[:80]!r}: {error!r}") from error


def place_of(target: Target) -> list[str]:
    """Return nvme-cli's options that name the way to a target."""
    named = (
        ("transport", target.transport),
        ("traddr", target.address),
        ("trsvcid", target.port),
        ("host-traddr", target.host_traddr),
        ("host-iface", target.host_iface),
    )
    return [f"--{name}={value}" for name, value in named if value]


def as_root(run: Run, command: list[str], limit_s: float) -> Said:
    """Run nvme-cli for an action that needs root; its error says so if permission is missing.

    Raises:
        UnavailableError: It failed; a secret that it repeats is left out.
    """
    said = run(command, limit_s)
    if said.status:
        needs = " (needs root)" if "ermission" in said.errors else ""
        complaint = hidden(said.complaint)
        raise UnavailableError(f"{' '.join(command[:2])} failed: {complaint}{needs}")
    return said
