"""Whether the present link costs money by the byte."""

from collections.abc import Callable

from contracts.errors import UnavailableError
from device.journey.networkmanager import metered
from device.settings import OffloadSettings


def is_metered(offload: OffloadSettings, ask: Callable[[], bool] = metered) -> bool:
    """Say whether this device's link is metered, as the settings or NetworkManager say.

    Where NetworkManager does not answer, or does not know, it is not.
    """
    if offload.metered == "everything":
        return False  # nobody needs to know
    if offload.link != "auto":
        return offload.link == "metered"
    try:
        return ask()
    except UnavailableError:
        return False
