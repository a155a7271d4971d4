"""A link that costs money by the byte carries readings, and as much video as the settings say."""

from typing import Final

from contracts.errors import UnavailableError
from device.journal.trip import Recording
from device.settings import OffloadSettings

WHY: Final = "video waits for a link that is not metered (offload.metered)"


class MeteredError(UnavailableError):
    """Readings are offloaded; recordings wait for another link."""


def goes(recording: Recording, offload: OffloadSettings, *, is_metered: bool) -> bool:
    """Say whether a recording goes over the link that there is now."""
    if not is_metered or offload.metered == "everything":
        return True
    return offload.metered == "marked" and recording.marked
