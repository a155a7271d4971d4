"""The presence of the settings: [presence]."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from contracts.keys import Signer
from device.journey.networkmanager import access_points
from device.journey.presence import FilePresence, Presence, WifiPresence, linked
from device.offload.sites import Sites
from device.settings import Settings
from device.settings_live import PresenceSettings
from device.stop import Stop


@dataclass(frozen=True, slots=True)
class BrokerPresence:
    """A site is there while the broker of one of the gateways accepts connections.

    Attributes:
        sites: The gateways of the settings.
        stop: Ends a look early.
    """

    sites: Sites
    stop: Stop

    def look(self) -> bool | None:
        """See `Presence.look`."""
        near = self.sites.are_near(self.stop)
        return None if self.stop.requested else near


def presence_of(
    presence: PresenceSettings, settings: Settings, signer: Signer, stop: Stop
) -> Presence:
    """Return how this device finds out whether it is at a site."""
    if presence.by == "broker":
        return BrokerPresence(Sites.of(settings, signer), stop)
    if presence.by == "file":
        return FilePresence(presence.file or Path())
    points = (
        access_points if presence.by == "network-manager" else partial(linked, presence.interface)
    )
    return WifiPresence(points, presence.ssids, presence.bssids)
