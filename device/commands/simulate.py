"""`wayseal-device simulate`: a simulated trip as the files that `record` replays."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path

from contracts.runtime.files import create
from device.camera.simulated import SimulatedCamera
from device.commands.output import say
from device.sensors.simulated import SimulatedTrip
from device.sensors.written import csv_lines, gpx_lines


@dataclass(frozen=True, slots=True)
class TripFiles:
    """Where a simulated trip was written."""

    readings: Path
    track: Path
    video: Path


def run(arguments: Namespace) -> int:
    """Write the files and print where they are."""
    trip = SimulatedTrip(arguments.minutes, arguments.seed)
    files = write_trip(trip, arguments.out)
    say(
        arguments,
        {
            "readings": str(files.readings),
            "track": str(files.track),
            "video": str(files.video),
            "rows": trip.count,
        },
        f"{trip.count} rows in {files.readings}\n{files.track}\n{files.video}",
    )
    return 0


def write_trip(trip: SimulatedTrip, out: Path) -> TripFiles:
    """Write the log, track and video of `trip` into the folder `out`, which is created if missing.

    Raises:
        RejectedError: One of the files exists.
        UnavailableError: The folder or a file cannot be written, or OpenCV is not installed.
    """
    camera = SimulatedCamera(trip.seed)
    files = TripFiles(out / "readings.csv", out / "track.gpx", out / "video.avi")
    create(files.readings, (line.encode() for line in csv_lines(trip)))
    create(files.track, (line.encode() for line in gpx_lines(trip)))
    camera.film(files.video)
    return files
