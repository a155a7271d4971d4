"""The sizes of the measurements, and the disk space that they need."""

from dataclasses import dataclass
from typing import Final

from storage.bench.offload.sizes import (
    FLEET,
    FLEET_QUICK,
    LONG_TRIP,
    LONG_TRIP_QUICK,
    MB,
    Trucks,
)

CARD_BYTES: Final = 512 * MB
"""Of the card's image."""
PI_SHARE: Final = 0.1
"""CPU that a Raspberry Pi 3 has beside a core of a server: a guess, see docs/performance.md."""
HOUR_S: Final = 3_600


@dataclass(frozen=True, slots=True)
class DeviceSizes:
    """How much is measured.

    Attributes:
        journal: Readings that are journalled as fast as possible.
        hour_s: Seconds of virtual time in which readings are journalled at 1 Hz.
        speed: Times faster than real time that they come.
        live_s: Seconds of real time for which live sensors are measured at 1 Hz, three times.
        long_trip: The load of one truck.
        fleet: The load of many trucks.
    """

    journal: int
    hour_s: int
    speed: int
    live_s: int
    long_trip: Trucks
    fleet: Trucks

    @property
    def room(self) -> int:
        """Return the bytes of disk needed at once."""
        trucks = (self.long_trip, self.fleet)
        return CARD_BYTES + max(each.on_trucks + each.on_volume for each in trucks)


WHOLE: Final = DeviceSizes(20_000, HOUR_S, 20, 120, LONG_TRIP, FLEET)
QUICK: Final = DeviceSizes(5_000, 600, 20, 20, LONG_TRIP_QUICK, FLEET_QUICK)
SMALLEST: Final = DeviceSizes(1_000, 60, 20, 3, Trucks(1, 60, MB), Trucks(2, 20, MB))
"""These three: the published figures, a look of two minutes, and a test that it works."""
