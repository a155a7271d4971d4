"""A simulated trip as text: the log and the track that the replay adapters read.

The same seed gives the same bytes on every machine.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from contracts.records.clock import moment, parse_rfc3339
from contracts.records.reading import Tamper
from device.sensors.port import Sample, SensorSource
from device.sensors.simulated import SimulatedTrip

STARTED_AT_MS: Final = parse_rfc3339("2026-03-02T06:00:00Z")
CSV_HEADER: Final = "Date/Time,Latitude,Longitude,Temperature,Humidity,Pressure,Motion,Tamper\n"
_TRACK_EVERY: Final = 2
_GPX_HEAD: Final = (  # to the byte as ever: trips name the SHA-256 of such files
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gpx version="1.1" creator="wayseal-device" xmlns="http://www.topografix.com/GPX/1/1">\n'
    " <trk>\n  <name>simulated drive</name>\n  <trkseg>\n"
)
_GPX_TAIL: Final = "  </trkseg>\n </trk>\n</gpx>\n"


def csv_lines(trip: SensorSource) -> Iterator[str]:
    """Yield readings.csv, line by line."""
    yield CSV_HEADER
    for sample in trip.samples():
        yield ",".join(_cells(sample)) + "\n"


def gpx_lines(trip: SimulatedTrip) -> Iterator[str]:
    """Yield track.gpx in pieces."""
    yield _GPX_HEAD
    for step, sample in enumerate(trip.samples()):
        if sample.position and (step % _TRACK_EVERY == 0 or step == trip.count - 1):
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
