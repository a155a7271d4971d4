"""`wayseal-device close`: seals a trip that cannot continue."""

from argparse import Namespace

from contracts.errors import RejectedError
from device.commands.record import report
from device.settings import Settings
from device.station import load_signer, recording


def run(arguments: Namespace, settings: Settings) -> int:
    """Seal the open trip as it is, and print it."""
    with recording(settings, load_signer(settings)) as recorder:
        trip = recorder.logbook.open_trip()
        if trip is None:
            raise RejectedError("expected an open trip to close, got none")
        report(arguments, recorder.logbook, recorder.close(trip))
    return 0
