"""`wayseal-device record`: records one trip, from files or simulated, offline."""

import sys
from argparse import Namespace
from collections.abc import Iterable

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.progress import ProgressLine
from contracts.text import counted
from device.commands.output import say
from device.earlier import AGAIN, is_of_log, recorded
from device.journal.logbook import Logbook
from device.journal.trip import Trip, TripState
from device.sensors.mapping import LogOptions
from device.settings import Settings, SettingsError, SourceSettings, TripSettings
from device.station import load_signer, plan_of, recording
from device.stop import stop_on_signals
from device.tripsource import TripSource, replayed_trip, simulated_trip


def run(arguments: Namespace, settings: Settings) -> int:
    """Record and seal one trip, then print it."""
    plan, signer = plan_of(settings, arguments.join), load_signer(settings)
    source = _source(arguments, settings)
    if isinstance(plan, TripSettings):  # the device that started a joined trip answers for it
        source.check_gives(plan.must_measure)
    tell(source)
    with recording(settings, signer) as recorder, stop_on_signals() as stop:
        if not arguments.again:
            check_new(source, recorder.logbook.trips())
        trip = recorder.begin(source, settings.device_id, plan)
        with ProgressLine("recording: {done} readings") as progress:
            trip = recorder.record(
                source, trip, speed=arguments.speed, stop=stop, moved=progress.at
            )
        if trip.state is TripState.OPEN:
            raise UnavailableError(
                f"stopped after {trip.readings} readings of trip {trip.trip_id}; the same command "
                f"continues it, `wayseal-device close` seals it"
            )
        report(arguments, recorder.logbook, trip, source)
    return 0


def report(
    arguments: Namespace, logbook: Logbook, trip: Trip, source: TripSource | None = None
) -> None:
    """Print a sealed trip, and for programs what its files gave; then mark it as reported."""
    recordings = logbook.recordings(trip.trip_id)
    size = sum(recording.digest.size for recording in recordings)
    say(
        arguments,
        {
            "trip": trip.trip_id,
            "readings": trip.readings,
            "recordings": len(recordings),
            "bytes": size,
        }
        | (source.document() if source else {}),
        f"trip {trip.trip_id} sealed: {counted(trip.readings, 'reading')}, "
        f"{counted(len(recordings), 'recording')} of {size} bytes",
    )
    logbook.mark_reported(trip.trip_id)


def check_new(source: TripSource, trips: Iterable[Trip]) -> None:
    """Check that no earlier trip of this device was recorded from the same log.

    The log alone decides: each of its rows is one measurement, which another track or video does
    not make a new one. A track may be one of many trips on the same road, and the verdict names
    a video that two trips claim.

    A trip that the same command reports does not count as earlier. While a trip is open, that
    one comes first: `Recorder.begin` continues it, or says what to do with it.

    Raises:
        RejectedError: Such a trip exists.
    """
    if source.log is None:
        return
    earlier = list(trips)
    if any(
        each.state is TripState.OPEN or (each.input_id == source.input_id and not each.reported)
        for each in earlier
    ):
        return
    of_log = [each for each in earlier if is_of_log(each, source.log.sha256)]
    if of_log:
        fullest = max(of_log, key=lambda each: each.readings)
        words = recorded(fullest, source.log.rows, "the same log")
        raise RejectedError(f"{source.log.path}: {words}; {AGAIN}")


def tell(source: TripSource) -> None:
    """Say on standard error, before anything is signed, what the files give, and what not."""
    for line in source.lines():
        sys.stderr.write(f"{line}\n")


def _source(arguments: Namespace, settings: Settings) -> TripSource:
    if arguments.simulate:
        if arguments.track or arguments.video or any(_log_words(arguments)):
            raise SettingsError(
                "--simulate makes its own track and video: expected no --track, no --video and no "
                "option of a log"
            )
        return simulated_trip(arguments.minutes, arguments.seed, arguments.start)
    given = settings.source or SourceSettings("replay")
    options = LogOptions.parse(
        tuple(arguments.map) or given.map,
        tuple(arguments.without) or given.without,
        arguments.delimiter or given.delimiter,
        arguments.timezone or given.timezone,
        aligned=(arguments.align or given.align) == "time",
        track_name=arguments.track_name or given.track_name,
    )
    return replayed_trip(
        arguments.readings, arguments.track, arguments.video, arguments.start, options
    )


def _log_words(arguments: Namespace) -> tuple[object, ...]:
    return (
        arguments.map,
        arguments.without,
        arguments.delimiter,
        arguments.timezone,
        arguments.align,
        arguments.track_name,
    )
