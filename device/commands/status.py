"""`wayseal-device status`: shows what waits on this device for an offload."""

from argparse import Namespace

from device.commands.output import say
from device.journal.status import status_of
from device.settings import Settings
from device.station import load_signer, open_journal


def run(arguments: Namespace, settings: Settings) -> int:
    """Print the status."""
    signer = load_signer(settings)
    with open_journal(settings, signer) as database:
        status = status_of(database, settings.device_id, signer.public_key, settings.buffer)
    say(arguments, status.document(), status.text())
    return 0
