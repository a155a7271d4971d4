"""What a service tells systemd: that it is ready, what it does, and that it lives.

Without systemd nothing is told.

Source: sd_notify(3) and sd_watchdog_enabled(3) of systemd 252.
"""

import os
import socket
from collections.abc import Mapping
from contextlib import suppress


def notify(*assignments: str, environment: Mapping[str, str] = os.environ) -> None:
    """Send assignments such as `READY=1` to systemd; a lost one is not a failure of the service.

    Args:
        assignments: In one message.
        environment: Has `NOTIFY_SOCKET` if systemd wants to hear them.
    """
    address = environment.get("NOTIFY_SOCKET", "")
    if address:
        # A leading @ stands for the zero byte of Linux's abstract names.
        place = f"\0{address[1:]}" if address.startswith("@") else address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as pipe:
            pipe.sendto("\n".join(assignments).encode(), place)


def watchdog_s(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return how long systemd waits for `WATCHDOG=1` before it kills us, seconds; None: forever."""
    found = environment.get("WATCHDOG_USEC", "")
    of_us = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return (
        int(found) / 1e6 if found.isascii() and found.isdigit() and of_us and int(found) else None
    )
