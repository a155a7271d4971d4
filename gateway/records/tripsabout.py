"""Which trips are asked for: by order, site, lot, breach, or the place where a truck was."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError
from gateway.index.store import IndexStore
from gateway.records.tracing import LotId

_E7: Final = 10_000_000
_METRES_OF_DEGREE: Final = 111_320.0
"""Of latitude, and of longitude at the equator."""


@dataclass(frozen=True, slots=True)
class Near:
    """Within a distance of a place.

    Attributes:
        latitude: Degrees, -90..90.
        longitude: Degrees, -180..180.
        metres: The distance. It is measured on a square, so corners are up to 1.4 times as far.
    """

    latitude: float
    longitude: float
    metres: float


@dataclass(frozen=True, slots=True)
class TripsAbout:
    """What trips must be about; None: whatever it is.

    Attributes:
        order_id: Of a delivery on the trip.
        site_ids: One of these is where the trip begins, ends or passes.
        lot: In a delivery on the trip.
        near: One of its readings was there.
        breached: Whether a limit was exceeded on it.
    """

    order_id: str | None = None
    site_ids: tuple[str, ...] | None = None
    lot: LotId | None = None
    near: Near | None = None
    breached: bool = False


ANY_TRIP: Final = TripsAbout()
_BY_ORDER: Final = (
    "SELECT trip_id FROM trip_deliveries WHERE delivery_id IN"
    " (SELECT delivery_id FROM orders WHERE order_id = ?)"
)
_BY_LOT: Final = (
    "SELECT trip_id FROM trip_deliveries WHERE delivery_id IN"
    " (SELECT id FROM lots WHERE gtin = ? AND lot = ? AND role = 'delivery')"
)
_BY_AREA: Final = (
    "SELECT trip_id FROM trip_areas"
    " WHERE south_e7 <= ? AND north_e7 >= ? AND west_e7 <= ? AND east_e7 >= ?"
)
_THERE: Final = (
    "SELECT 1 FROM readings WHERE trip_id = ? AND latitude_e7 BETWEEN ? AND ?"
    " AND longitude_e7 BETWEEN ? AND ? LIMIT 1"
)
COLD_LOOKS_MAX: Final = 500
"""Trips in cold files whose readings one question about a place looks through: some seconds."""
COLD_READINGS_MAX: Final = 5_000_000
"""Readings in cold files that one question about a place looks through."""


def conditions(about: TripsAbout) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield a question for the ids of trips, with its values, for each thing that is asked for.

    That for a place finds trips that may have been there; `Nearby` knows.
    """
    if about.order_id is not None:
        yield _BY_ORDER, (about.order_id,)
    if about.site_ids is not None:
        marks = ",".join("?" * len(about.site_ids))
        yield f"SELECT trip_id FROM trip_sites WHERE site_id IN ({marks})", about.site_ids  # noqa: S608
    if about.lot is not None:
        yield _BY_LOT, tuple(about.lot)
    if about.breached:
        yield "SELECT trip_id FROM breaches", ()
    if about.near is not None:
        south, north, west, east = _square(about.near)
        yield _BY_AREA, (north, south, east, west)


class Nearby:
    """Says whether one of a trip's readings was at a place, for one question.

    Args:
        index: The index to ask.
        near: The place.
    """

    def __init__(self, index: IndexStore, near: Near) -> None:
        self._index = index
        self._square = _square(near)
        self._looks = 0
        self._readings = 0

    def has(self, trip_id: str) -> bool:
        """Say whether a trip was there.

        Raises:
            RejectedError: Too many trips or readings in cold files had to be looked at.
            UnavailableError: The trip's cold file does not answer.
        """
        sql = "SELECT ifnull(sum(readings), 0) FROM cold_read WHERE trip_id = ?"
        ((readings,),) = self._index.query(sql, trip_id)
        if readings:
            self._looks += 1
            self._readings += readings
            if self._looks > COLD_LOOKS_MAX or self._readings > COLD_READINGS_MAX:
                raise RejectedError(
                    f"query.near: expected at most {COLD_LOOKS_MAX} old trips with at most "
                    f"{COLD_READINGS_MAX} readings that have to be looked through in cold files, "
                    f"got {self._looks} with {self._readings} and perhaps more: ask for a shorter "
                    "time, for more about the trips, or for fewer at once"
                )
        south, north, west, east = self._square
        return bool(self._index.of_trip(trip_id, _THERE, trip_id, south, north, west, east))


def _square(near: Near) -> tuple[int, int, int, int]:
    """Return south, north, west and east of a square around a place, in 1e-7 degree."""
    high = near.metres / _METRES_OF_DEGREE
    # At the poles every longitude is near.
    shrunk = max(math.cos(math.radians(min(89.9, abs(near.latitude) + high))), 1e-3)
    wide = min(360.0, high / shrunk)
    return (
        round((near.latitude - high) * _E7),
        round((near.latitude + high) * _E7),
        round((near.longitude - wide) * _E7),
        round((near.longitude + wide) * _E7),
    )
