"""The gateway's volumes as its settings name them."""

from gateway.settings import Settings
from storage.volumes.volume import VolumePlace


def places_of(settings: Settings) -> dict[str, VolumePlace]:
    """Return the volumes by name, those that take new recordings first in front."""
    return {
        name: VolumePlace(each.path, mount=each.mount, quota_bytes=each.quota_bytes)
        for name, each in settings.all_volumes.items()
    }
