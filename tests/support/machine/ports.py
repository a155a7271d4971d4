"""Free ports for servers that cannot choose their own."""

import random
import socket

_FIRST, _LAST = 10_000, 32_767
"""Below those that Linux gives to whoever asks for any: between choosing a port and its server's
start nobody else gets it, but for a test beside this one that draws the same of 22,768."""


def free_port() -> int:
    """Return a free port of the loopback address."""
    while True:
        port = random.SystemRandom().randint(_FIRST, _LAST)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
