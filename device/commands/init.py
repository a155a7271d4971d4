"""`wayseal-device init`: key, folders and journal."""

from argparse import Namespace

from device.commands.output import say
from device.settings import Settings
from device.station import make


def run(arguments: Namespace, settings: Settings) -> int:
    """Make what is missing and print who this device is."""
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
