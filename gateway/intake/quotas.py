"""What each device may take of the inbox, so that one device cannot fill it for all."""

from dataclasses import dataclass
from typing import Final

DEVICE_BYTES_MAX: Final = 1 << 30
DEVICE_BATCHES_MAX: Final = 50_000
DEVICE_QUARANTINE_BYTES_MAX: Final = 16 << 20
DEVICE_VISITS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """The share of one device.

    Attributes:
        bytes_max: Bytes of batches, in any state.
        batches_max: Batches that are not committed.
        quarantine_bytes_max: Bytes of quarantined batches.
        visits_max: Trips without a final receipt.
    """

    bytes_max: int = DEVICE_BYTES_MAX
    batches_max: int = DEVICE_BATCHES_MAX
    quarantine_bytes_max: int = DEVICE_QUARANTINE_BYTES_MAX
    visits_max: int = DEVICE_VISITS_MAX
