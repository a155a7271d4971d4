"""Writes a simulated drive as the files that the replay drivers read.

readings.csv, track.gpx and video.avi describe the same drive; the first two
are the same bytes for the same seed everywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from contracts.records.clock import moment, parse_rfc3339
from contracts.records.reading import Tamper
from device.camera.simulated import SimulatedCamera
from device.files import create
from device.sensors.port import Sample, SensorSource
from device.sensors.simulated import SimulatedDrive

STARTED_AT_MS: Final = parse_rfc3339("2026-03-02T06:00:00Z")
CSV_HEADER: Final = "Date/Time,Latitude,Longitude,Temperature,Humidity,Pressure,Motion,Tamper\n"
_TRACK_EVERY: Final = 2
_GPX_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gpx version="1.1" creator="wayseal-device" xmlns="http://www.topografix.com/GPX/1/1">\n'
    " <trk>\n  <name>simulated drive</name>\n  <trkseg>\n"
)
_GPX_TAIL: Final = "  </trkseg>\n </trk>\n</gpx>\n"


@dataclass(frozen=True, slots=True)
class DriveFiles:
    """Where a simulated drive was written."""

    readings: Path
    track: Path
    video: Path


def write_drive(drive: SimulatedDrive, out: Path) -> DriveFiles:
    """Write the three files of `drive` into the folder `out`, which is made.

    Raises:
        RejectedError: One of the files exists.
        UnavailableError: The folder or a file cannot be written.
    """
    files = DriveFiles(out / "readings.csv", out / "track.gpx", out / "video.avi")
    create(files.readings, (line.encode() for line in csv_lines(drive)))
    create(files.track, (line.encode() for line in gpx_lines(drive)))
    SimulatedCamera(drive.seed).film(files.video)
    return files


def csv_lines(drive: SensorSource) -> Iterator[str]:
    """Yield readings.csv, line by line."""
    yield CSV_HEADER
    for sample in drive.samples():
        yield ",".join(_cells(sample)) + "\n"


def gpx_lines(drive: SimulatedDrive) -> Iterator[str]:
    """Yield track.gpx in pieces."""
    yield _GPX_HEAD
    for step, sample in enumerate(drive.samples()):
        if sample.position and (step % _TRACK_EVERY == 0 or step == drive.count - 1):
            latitude, longitude = sample.position.latitude_e7, sample.position.longitude_e7
            yield (
                f'   <trkpt lat="{_decimal(latitude, 7)}" lon="{_decimal(longitude, 7)}">'
                f"<time>{_moment(sample):%Y-%m-%dT%H:%M:%SZ}</time></trkpt>\n"
            )
    yield _GPX_TAIL


def _cells(sample: Sample) -> list[str]:
    position = sample.position
    return [
        f"{_moment(sample):%Y-%m-%d %H:%M:%S}",
        _decimal(position.latitude_e7 if position else None, 7),
        _decimal(position.longitude_e7 if position else None, 7),
        _decimal(sample.temperature_mcel, 3),
        _decimal(sample.humidity_mpct, 3),
        _decimal(sample.pressure_pa, 2),
        str(int(Tamper.MOTION in sample.tamper)),
        "|".join(flag.name or "" for flag in sample.tamper if flag is not Tamper.MOTION),
    ]


def _moment(sample: Sample) -> datetime:
    return moment(STARTED_AT_MS + sample.offset_ms)


def _decimal(scaled: int | None, places: int) -> str:
    """Return `scaled` / 10^`places` exactly, without trailing zeros; empty for None."""
    if scaled is None:
        return ""
    whole, part = divmod(abs(scaled), 10**places)
    fraction = f"{part:0{places}d}".rstrip("0") or "0"
    return f"{'-' if scaled < 0 else ''}{whole}.{fraction}"
