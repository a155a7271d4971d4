"""`wayseal-device status`: what waits on this device."""

from argparse import Namespace

from device.commands.output import say
from device.settings import Settings
from device.station import load_signer, open_journal
from device.status import status_of


def run(arguments: Namespace, settings: Settings) -> int:
    """Print the status."""
    signer = load_signer(settings)
    with open_journal(settings, signer) as database:
        status = status_of(database, settings.device_id, signer.public_key, settings.buffer)
    say(arguments, status.document(), status.text())
    return 0
