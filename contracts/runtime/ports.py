"""TCP ports for servers that cannot choose their own, and addresses of this machine alone."""

import ipaddress
import os
import random
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import ExitStack
from errno import EADDRINUSE
from socket import AF_UNIX, create_server, socket
from typing import Final

from contracts.errors import UnavailableError

PORTS: Final = range(10_000, 32_768)
"""Below those that Linux gives to outgoing connections (ip(7), `ip_local_port_range`): no
connection takes a port before its server listens, or while that server is stopped."""
TRIES: Final = 100
LOOPBACK: Final = "127.0.0.1"
KEPT: Final = 64
"""So many of a process's newest ports no other process is given, until it ends. The server of an
older one listens by then."""
_given: set[int] = set()
_kept: OrderedDict[int, int] = OrderedDict()
"""Descriptors by port, the oldest first."""


def free_port(*addresses: str, among: Sequence[int] = PORTS) -> int:
    """Return a TCP port that is free now, and that no process on this machine was given lately.

    Args:
        addresses: Addresses of this machine at all of which the port is free; 127.0.0.1 by default.
        among: Ports to choose from.

    Raises:
        UnavailableError: An address is not this machine's, or no port is free at all of them.
    """
    listening_at = sorted(set(addresses)) or [LOOPBACK]
    left = [port for port in among if port not in _given]
    if len(left) < len(among) / 2:
        _given.difference_update(among)
        left = list(among)
    tried = random.SystemRandom().sample(left, min(TRIES, len(left)))
    for port in tried:
        with ExitStack() as probes:
            try:
                for address in listening_at:
                    probes.enter_context(create_server((address, port)))
            except OSError as error:
                if error.errno == EADDRINUSE:
                    continue
                raise UnavailableError(f"cannot listen at {address}: {error}") from error
            if _keep(port):
                _given.add(port)
                return port
    raise UnavailableError(
        f"expected a port that is free at {' and '.join(listening_at)}, "
        f"got none in {len(tried)} tries"
    )


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches `host`; of names, only localhost surely is such."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _keep(port: int) -> bool:
    """Keep a port from other processes; return False if another one keeps it.

    The mark is a name in Linux's abstract namespace (unix(7)): one process at a time can have it,
    and it goes with that process.
    """
    if port in _kept:
        _kept.move_to_end(port)
        return True
    with socket(AF_UNIX) as mark:
        try:
            mark.bind(f"\0wayseal-port-{port}")
        except OSError as error:
            if error.errno == EADDRINUSE:
                return False
            raise
        _kept[port] = mark.detach()
    if len(_kept) > KEPT:
        _, oldest = _kept.popitem(last=False)
        os.close(oldest)
    return True
