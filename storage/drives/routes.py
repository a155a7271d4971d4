"""The network card that leads to a peer, and the speed of its link."""

import ipaddress
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from storage.drives.kernel import Kernel, number

_UP: Final = 0x1
_GBIT: Final = 1000
"""In megabits."""
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def nic_towards(kernel: Kernel, address: Mapping[str, str]) -> str:
    """Return the network card towards a controller's address and its speed; empty if unknown.

    Args:
        kernel: Has the routes.
        address: Of a controller: traddr, and host_iface if the connection is bound to a card.
    """
    card = address.get("host_iface") or _route(kernel, address.get("traddr", ""))
    if not card:
        return ""
    mbit = number(kernel.sys / "class" / "net" / card / "speed")
    if not mbit or mbit < 0:  # a card without a link has -1, the loopback has none
        return ""
    return f"{card} {rate(mbit)}"


def rate(mbit: int) -> str:
    """Return megabits per second in words."""
    return f"{mbit / _GBIT:g} Gb/s" if mbit >= _GBIT else f"{mbit} Mb/s"


def _route(kernel: Kernel, host: str) -> str:
    try:
        peer = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # the address of another kind of network
        return ""
    if "%" in host:
        return host.partition("%")[2]
    routes = _routes6 if peer.version == 6 else _routes4  # noqa: PLR2004 - IPv6
    fitting = [(net.prefixlen, card) for net, card in routes(kernel) if peer in net]
    return max(fitting, default=(0, ""))[1]


def _routes4(kernel: Kernel) -> Iterator[tuple[Network, str]]:
    """Yield the routes of /proc/net/route: addresses are in hexadecimal, lowest byte first."""
    yield ipaddress.IPv4Network("127.0.0.0/8"), "lo"
    for fields in _rows(kernel.proc / "net" / "route"):
        card, target, _, flags, _, _, _, mask, *_ = fields
        if int(flags, 16) & _UP:
            base, bits = (_dotted(each) for each in (target, mask))
            yield ipaddress.IPv4Network((base, str(bits)), strict=False), card


def _routes6(kernel: Kernel) -> Iterator[tuple[Network, str]]:
    for fields in _rows(kernel.proc / "net" / "ipv6_route", header=False):
        target, length, *_, flags, card = fields
        if int(flags, 16) & _UP:
            base = ipaddress.IPv6Address(int(target, 16))
            yield ipaddress.IPv6Network((base, int(length, 16)), strict=False), card


def _dotted(little_endian: str) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(bytes.fromhex(little_endian)[::-1])


def _rows(path: Path, *, header: bool = True) -> Iterator[list[str]]:
    try:
        lines = path.read_text("ascii").splitlines()
    except OSError:
        return
    yield from (line.split() for line in lines[header:] if line)
