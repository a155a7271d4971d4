"""How many uploads may be open, how long they wait, and how much a device may leave unfinished.

Settings name these, and a command that only reads settings imports no more than this.
"""

from dataclasses import dataclass
from typing import Final

OPEN_UPLOADS_MAX: Final = 8
DEVICE_UPLOADS_MAX: Final = 2
"""Uploads of one device that are open at once."""
QUIET_S: Final = 5.0
TURN_S: Final = 60.0
DEVICE_PARTIAL_BYTES_MAX: Final = 128 << 30


@dataclass(frozen=True, slots=True)
class Places:
    """How many uploads may be open.

    Attributes:
        open_max: All together.
        of_device: Of one device.
        quiet_s: Silence, in seconds, after which a request yields to a newer one of its upload.
        turn_s: Time, in seconds, after which a request yields to another device, if all are taken.
    """

    open_max: int = OPEN_UPLOADS_MAX
    of_device: int = DEVICE_UPLOADS_MAX
    quiet_s: float = QUIET_S
    turn_s: float = TURN_S
