"""`wayseal-device init`: creates key, folders and journal."""

from argparse import Namespace

from device.commands.output import say
from device.settings import Settings
from device.station import make


def run(arguments: Namespace, settings: Settings) -> int:
    """Create what is missing; print the device's id and public key."""
    signer = make(settings)
    say(
        arguments,
        {
            "device_id": settings.device_id,
            "public_key": signer.public_key,
            "data": str(settings.data),
        },
        f"device {settings.device_id}\npublic key {signer.public_key}",
    )
    return 0
