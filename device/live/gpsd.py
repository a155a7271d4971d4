"""A connection to gpsd, which reports where a GNSS receiver is, and what time it is there.

Source: gpsd's JSON protocol, gpsd_json(5): `?WATCH` begins the reports; in a TPV report `mode` is 2
or 3 with a fix.
"""

import json
import socket
from collections.abc import Mapping
from typing import Final

from contracts.errors import RejectedError, UnavailableError

CONNECT_S: Final = 5.0
LINE_BYTES_MAX: Final = 64 * 1024
_WATCH: Final = b'?WATCH={"enable":true,"json":true};\n'
_FIX: Final = 2


class Gpsd:
    """The reports of one gpsd, one after the other; for one thread.

    Args:
        address: HOST:PORT where gpsd listens.

    Attributes:
        name: Names it in messages.

    Raises:
        UnavailableError: Nothing listens there.
    """

    def __init__(self, address: str) -> None:
        self.name = f"gpsd at {address}"
        host, _, port = address.rpartition(":")
        try:
            self._socket = socket.create_connection((host.strip("[]"), int(port)), CONNECT_S)
            self._socket.sendall(_WATCH)
        except OSError as error:
            raise UnavailableError(f"{self.name}: {error}; is gpsd running?") from error
        self._waiting = b""

    def next(self, timeout_s: float) -> Mapping[str, object]:
        """Return the next report, or an empty one if none comes in time.

        Raises:
            UnavailableError: The connection is lost.
            RejectedError: What came is not a report.
        """
        self._socket.settimeout(timeout_s)
        while b"\n" not in self._waiting:
            try:
                more = self._socket.recv(LINE_BYTES_MAX)
            except (TimeoutError, BlockingIOError):
                return {}
            except OSError as error:
                raise UnavailableError(f"{self.name}: {error}") from error
            self._waiting += more
            if not more or len(self._waiting) > LINE_BYTES_MAX:
                raise UnavailableError(f"{self.name}: closed the connection")
        line, _, self._waiting = self._waiting.partition(b"\n")
        try:
            report = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise RejectedError(f"{self.name}: expected JSON, got {line[:80]!r}") from error
        if not isinstance(report, dict):
            raise RejectedError(f"{self.name}: expected a report, got {line[:80]!r}")
        return report

    def close(self) -> None:
        """Close the connection; never raises."""
        self._socket.close()


def has_fix(report: Mapping[str, object]) -> bool:
    """Say whether the receiver of a TPV report knows where it is, and so what time it is."""
    mode = report.get("mode")
    return isinstance(mode, int) and mode >= _FIX
