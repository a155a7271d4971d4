"""Adapter: positions from gpsd.

Source: gpsd's JSON protocol, gpsd_json(5): `?WATCH` begins the reports; in a TPV report `mode` is 2
or 3 with a fix, `lat` and `lon` are degrees, `eph` is the horizontal error in metres.
"""

import json
import math
import socket
import time
from collections.abc import Mapping
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.records.reading import Position
from device.live.port import Measured

ANSWER_S: Final = 5.0
_WATCH: Final = b'?WATCH={"enable":true,"json":true};\n'
_FIX: Final = 2
_E7: Final = 10_000_000
_CM: Final = 100
_LINE_BYTES_MAX: Final = 64 * 1024


class GpsSensor:
    """A connection to gpsd.

    Args:
        host: Where gpsd listens.
        port: Its TCP port.

    Raises:
        UnavailableError: Nothing listens there.
    """

    def __init__(self, host: str, port: int) -> None:
        self._address = f"gpsd at {host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), ANSWER_S)
            self._socket.sendall(_WATCH)
        except OSError as error:
            raise UnavailableError(f"{self._address}: {error}; is gpsd running?") from error
        self._waiting = b""

    def measure(self) -> Measured:
        """Return the position of the newest report; no position while there is no fix."""
        until_s = time.monotonic() + ANSWER_S
        newest: Mapping[str, object] = {}
        while (left_s := until_s - time.monotonic()) > 0:
            report = self._next(0 if newest else left_s)
            if report.get("class") == "TPV":
                newest = report
            elif newest and not report:
                return Measured(position=_position(newest))
        raise UnavailableError(
            f"{self._address}: reports no position for {ANSWER_S:.0f} s; is a receiver plugged in?"
        )

    def close(self) -> None:
        """See `Sensor.close`."""
        self._socket.close()

    def _next(self, timeout_s: float) -> Mapping[str, object]:
        """Return the next report, or an empty one if none comes in time."""
        self._socket.settimeout(timeout_s)
        while b"\n" not in self._waiting:
            try:
                more = self._socket.recv(_LINE_BYTES_MAX)
            except (TimeoutError, BlockingIOError):
                return {}
            except OSError as error:
                raise UnavailableError(f"{self._address}: {error}") from error
            self._waiting += more
            if not more or len(self._waiting) > _LINE_BYTES_MAX:
                raise UnavailableError(f"{self._address}: closed the connection")
        line, _, self._waiting = self._waiting.partition(b"\n")
        try:
            report = json.loads(line)
        except ValueError as error:
            raise RejectedError(f"{self._address}: expected JSON, got {line[:80]!r}") from error
        if not isinstance(report, dict):
            raise RejectedError(f"{self._address}: expected a report, got {line[:80]!r}")
        return report


def _position(report: Mapping[str, object]) -> Position | None:
    """Return the position of a TPV report; None without a fix.

    Raises:
        RejectedError: It names no place on Earth.
    """
    mode = report.get("mode")
    if not isinstance(mode, int) or mode < _FIX:
        return None
    latitude, longitude = _degrees(report, "lat"), _degrees(report, "lon")
    error_m = report.get("eph")
    known = isinstance(error_m, int | float) and math.isfinite(error_m) and error_m >= 0
    accuracy_cm = math.ceil(error_m * _CM) if known and isinstance(error_m, int | float) else 0
    return Position(round(latitude * _E7), round(longitude * _E7), accuracy_cm)


def _degrees(report: Mapping[str, object], name: str) -> float:
    value = report.get(name)
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise RejectedError(f"gpsd: expected degrees as {name}, got {value!r:.40}")
    return float(value)
