"""Whether a gateway is near: a truck finds out by trying to connect."""

import socket


def is_present(host: str, port: int, timeout_s: float) -> bool:
    """Say whether something accepts connections at `host`:`port` within `timeout_s` seconds."""
    try:
        with socket.create_connection((host, port), timeout_s):
            return True
    except OSError:
        return False
