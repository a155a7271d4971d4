"""`wayseal-device close`: seals a trip that cannot continue."""

from argparse import Namespace
from dataclasses import replace

from contracts.errors import RejectedError, WaysealError
from contracts.runtime.commands import complain
from device.commands.record import report
from device.earlier import AGAIN, begun_from, is_of_log, recorded
from device.journal.trip import Trip
from device.sensors.replay_csv import CsvReplay
from device.settings import Settings
from device.station import load_signer, recording


def run(arguments: Namespace, settings: Settings) -> int:
    """Seal the open trip as it is, print it, and say what is not recorded."""
    with recording(settings, load_signer(settings)) as recorder:
        trip = recorder.logbook.open_trip()
        if trip is None:
            raise RejectedError("expected an open trip to close, got none")
        trip = recorder.close(trip)
        report(arguments, recorder.logbook, trip)
    warning = _left_out(trip, _rows(trip, settings))
    if warning:
        complain("wayseal-device", warning)
    return 0


def _left_out(trip: Trip, rows: int | None) -> str:
    """Say that readings are missing, or may be; empty if none are."""
    if rows is None:
        return (
            f"trip {trip.trip_id} was closed after {trip.readings} readings{begun_from(trip)}: "
            f"what its source has after them, if anything, is not recorded"
        )
    return f"{recorded(trip, rows, 'its log')}; {AGAIN}" if trip.readings < rows else ""


def _rows(trip: Trip, settings: Settings) -> int | None:
    """Return how many rows the trip's log has, if it is the one that the settings name."""
    source = settings.source
    if source is None or source.readings is None:
        return None
    try:
        log = CsvReplay.check(
            source.readings, replace(source.log_options, tracked=source.track is not None)
        )
    except WaysealError:  # the trip is sealed anyway
        return None
    return log.rows if is_of_log(trip, log.sha256) else None
