"""TCP ports for servers that cannot choose their own."""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from errno import EADDRINUSE
from socket import create_server
from typing import Final

from contracts.errors import UnavailableError

PORTS: Final = range(10_000, 32_768)
"""Below those that Linux gives to outgoing connections (ip(7), `ip_local_port_range`): no
connection takes a port before its server listens, or while that server is stopped."""
TRIES: Final = 100
LOOPBACK: Final = "127.0.0.1"
_given: set[int] = set()


def free_port(*addresses: str, among: Sequence[int] = PORTS) -> int:
    """Return a TCP port that is free now, and that this process was not given lately.

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
            _given.add(port)
            return port
    raise UnavailableError(
        f"expected a port that is free at {' and '.join(listening_at)}, "
        f"got none in {len(tried)} tries"
    )
