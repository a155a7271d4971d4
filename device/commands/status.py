"""`wayseal-device status`: shows what waits here for an offload, and how truck and sensors are."""

from argparse import Namespace
from dataclasses import replace

from device.commands.output import say
from device.journal.offloading import offloading
from device.journal.status import status_of
from device.journey.file import state_of
from device.journey.metered import is_metered
from device.journey.states import AT_SITE
from device.live.healthfile import DISPLAYS, known
from device.offload.metered import WHY
from device.settings import Settings
from device.station import OFFLOAD_LOCK, load_signer, open_journal


def run(arguments: Namespace, settings: Settings) -> int:
    """Print the status."""
    signer = load_signer(settings)
    with open_journal(settings, signer) as database:
        status = status_of(database, settings.device_id, signer.public_key, settings.buffer)
    state = state_of(settings)
    if state is not None:
        status = replace(status, journey=state, is_away=state not in AT_SITE)
    if settings.sensors:
        status = replace(status, sensors=known(settings.data))
    if settings.display:
        status = replace(status, displays=known(settings.data, DISPLAYS))
    if status.must_stay and any(trip.recordings for trip in status.trips):
        status = replace(status, besides=WHY if is_metered(settings.offload) else "")
    running = offloading(settings.data, settings.data / OFFLOAD_LOCK)
    status = replace(status, offloading=running)
    say(arguments, status.document(), status.text())
    return 0
