"""Free ports for servers that cannot choose their own."""

import os
import random
import socket
from typing import Final

_FIRST, _LAST = 10_000, 32_767
"""Below those that Linux gives to whoever asks for any."""
_WORKERS: Final = 8
"""Processes of a test run that have ports of their own: between choosing a port and its server's
start no test beside this one gets it."""
_OWN: Final = (_LAST + 1 - _FIRST) // _WORKERS
_given: set[int] = set()


def free_port() -> int:
    """Return a free port of the loopback address, which this process was not given lately."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    first = _FIRST + worker * _OWN
    if len(_given) > _OWN // 2:
        _given.clear()
    while True:
        port = random.SystemRandom().randrange(first, first + _OWN)
        if port in _given:
            continue
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        _given.add(port)
        return port
