"""`wayseal-device record`: records one trip, from files or simulated, offline."""

from argparse import Namespace

from contracts.errors import UnavailableError
from device.commands.output import say
from device.journal.logbook import Logbook
from device.journal.trip import Trip, TripState
from device.settings import Settings, SettingsError
from device.station import load_signer, plan_of, recording
from device.stop import stop_on_signals
from device.tripsource import TripSource, replayed_trip, simulated_trip


def run(arguments: Namespace, settings: Settings) -> int:
    """Record and seal one trip, then print it."""
    plan, signer = plan_of(settings, arguments.join), load_signer(settings)
    source = _source(arguments)
    with recording(settings, signer) as recorder, stop_on_signals() as stop:
        trip = recorder.begin(source, settings.device_id, plan)
        trip = recorder.record(source, trip, speed=arguments.speed, stop=stop)
        if trip.state is TripState.OPEN:
            raise UnavailableError(
                f"stopped after {trip.readings} readings of trip {trip.trip_id}; the same command "
                f"continues it, `wayseal-device close` seals it"
            )
        report(arguments, recorder.logbook, trip)
    return 0


def report(arguments: Namespace, logbook: Logbook, trip: Trip) -> None:
    """Print a sealed trip, then mark it as reported."""
    recordings = logbook.recordings(trip.trip_id)
    size = sum(recording.digest.size for recording in recordings)
    say(
        arguments,
        {
            "trip": trip.trip_id,
            "readings": trip.readings,
            "recordings": len(recordings),
            "bytes": size,
        },
        f"trip {trip.trip_id} sealed: {trip.readings} readings, "
        f"{len(recordings)} recordings of {size} bytes",
    )
    logbook.mark_reported(trip.trip_id)


def _source(arguments: Namespace) -> TripSource:
    if arguments.simulate:
        if arguments.track or arguments.video:
            raise SettingsError(
                "--simulate makes its own track and video: expected no --track and no --video"
            )
        return simulated_trip(arguments.minutes, arguments.seed, arguments.start)
    return replayed_trip(arguments.readings, arguments.track, arguments.video, arguments.start)
