"""Adapter: positions from gpsd.

Source: gpsd_json(5): in a TPV report `lat` and `lon` are degrees, `eph` is the horizontal error in
metres.
"""

import math
import time
from collections.abc import Mapping
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.records.reading import Position
from device.live.gpsd import Gpsd, has_fix
from device.live.port import Measured

ANSWER_S: Final = 5.0
_E7: Final = 10_000_000
_CM: Final = 100


class GpsSensor:
    """A connection to gpsd.

    Args:
        address: HOST:PORT where gpsd listens.

    Raises:
        UnavailableError: Nothing listens there.
    """

    def __init__(self, address: str) -> None:
        self._gpsd = Gpsd(address)

    def measure(self) -> Measured:
        """Return the position of the newest report; no position while there is no fix."""
        until_s = time.monotonic() + ANSWER_S
        newest: Mapping[str, object] = {}
        while (left_s := until_s - time.monotonic()) > 0:
            report = self._gpsd.next(0 if newest else left_s)
            if report.get("class") == "TPV":
                newest = report
            elif newest and not report:
                return Measured(position=_position(newest))
        raise UnavailableError(
            f"{self._gpsd.name}: reports no position for {ANSWER_S:.0f} s; is a receiver plugged "
            "in?"
        )

    def close(self) -> None:
        """See `Sensor.close`."""
        self._gpsd.close()


def _position(report: Mapping[str, object]) -> Position | None:
    """Return the position of a TPV report; None without a fix.

    Raises:
        RejectedError: It names no place on Earth.
    """
    if not has_fix(report):
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
