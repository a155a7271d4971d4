"""Free ports for servers that cannot choose their own."""

import os
from typing import Final

from contracts.runtime import ports

_WORKERS: Final = 8
"""Processes of a test run that have ports of their own: between choosing a port and its server's
start no test beside this one gets it."""


def free_port() -> int:
    """Return a free port of the loopback address, which this process was not given before."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    return ports.free_port(among=ports.PORTS[worker::_WORKERS])
