"""The loads of fleets, and the disk space that they need."""

from dataclasses import dataclass
from typing import Final

MB: Final = 1_000_000
MIB: Final = 1 << 20
SLACK_BYTES: Final = 512 * MB
"""For chain, inbox, index and file system."""
BYTES_PER_READING: Final = 8_000
"""In journals, inbox, chain and index together, with their write-ahead logs."""
COPIES: Final = 2


@dataclass(frozen=True, slots=True)
class Trucks:
    """A fleet.

    Attributes:
        count: How many trucks.
        readings: Of each, one per transaction.
        video_bytes: Of each.
    """

    count: int
    readings: int
    video_bytes: int

    @property
    def on_trucks(self) -> int:
        """Return the bytes of disk that the trucks need."""
        return self.count * (self.video_bytes + self.readings * BYTES_PER_READING) + SLACK_BYTES

    @property
    def on_volume(self) -> int:
        """Return the bytes of disk that gateway and node need."""
        stored = COPIES * self.video_bytes + self.readings * BYTES_PER_READING
        return self.count * stored + SLACK_BYTES


FLEET: Final = Trucks(50, 1_000, 20 * MB)
FLEET_QUICK: Final = Trucks(4, 200, 5 * MB)
LONG_TRIP: Final = Trucks(1, 10_800, 1024 * MIB)
"""Three hours, a reading each second, and 1 GiB of video."""
LONG_TRIP_QUICK: Final = Trucks(1, 600, 64 * MIB)
