"""A trip's readings as CSV and as SenML, in the ledger's order, from a stream.

Each reading shows also when nothing was measured or noticed: it has its number, and says that no
tamper sign was seen.

Source: RFC 8428; the units of the IANA registry "SenML Units".
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from contracts.ids import DEVICE_URN
from contracts.proto.payload_pb2 import RecordReading
from contracts.records.clock import rfc3339
from contracts.records.reading import ClockOrigin
from contracts.rendered import signs
from gateway.exports.cells import Cell, csv_pieces
from gateway.records.pages import EVERYTHING, Span
from gateway.records.trips import ReadingRecord, Trips
from gateway.records.watch import UNWATCHED, Unit, Watch

TRIP_URN: Final = "urn:wayseal:trip:"
SENML_TYPE: Final = "application/senml+json"
ASKED_AT_ONCE: Final = 1000
"""Readings that one question to the index returns."""
CSV_COLUMNS: Final = (
    "time",
    "device_id",
    "sequence",
    "temperature_cel",
    "humidity_pct",
    "pressure_hpa",
    "latitude",
    "longitude",
    "accuracy_m",
    "tamper",
    "derived",
    "clock_origin",
    "transaction_id",
    "block_num",
)

SenmlRecord = dict[str, str | float | bool]


def every_reading(
    trips: Trips, trip_id: str, span: Span, watch: Watch = UNWATCHED
) -> Iterator[ReadingRecord]:
    """Return a trip's readings in a span; the index is asked for a page at a time.

    The first page is asked for at once: an answer that cannot be given is an error then, and no
    file that ends after its heading.

    Raises:
        NotOnLedgerError: There is no such trip.
        UnavailableError: The index or a cold file did not answer.
        StoppedError: The watch says so.
    """
    watch.begin(f"trip {trip_id}", 0, 1)
    is_told = watch is not UNWATCHED and span == EVERYTHING
    total = trips.get(trip_id).readings if is_told else 0
    found = trips.readings(trip_id, 0, ASKED_AT_ONCE, span)

    def following() -> Iterator[ReadingRecord]:
        page, done = found, 0
        while page:
            yield from (reading for _, reading in page)
            done += len(page)
            watch.tell("writes readings", done, total, Unit.READINGS)
            page = trips.readings(trip_id, page[-1][0], ASKED_AT_ONCE, span)

    return following()


def as_csv(readings: Iterable[ReadingRecord]) -> Iterable[bytes]:
    """Yield readings as CSV; a cell is empty where nothing was measured."""
    return csv_pieces(CSV_COLUMNS, map(_row, readings))


def as_senml(readings: Iterable[ReadingRecord], trip_id: str) -> Iterator[bytes]:
    """Yield a trip's readings as one SenML pack in JSON; a pack without readings says so."""
    before, device_id = "[", ""
    for reading in readings:
        records = _senml(reading)
        if reading.device_id != device_id:
            device_id = reading.device_id
            records[0] = {"bn": f"{DEVICE_URN}{device_id}:", **records[0]}
        text = ",".join(json.dumps(each, separators=(",", ":")) for each in records)
        yield f"{before}{text}".encode()
        before = ",\n"
    if not device_id:  # a pack is never empty
        yield json.dumps([{"n": f"{TRIP_URN}{trip_id}:readings", "u": "count", "v": 0}]).encode()
    else:
        yield b"]\n"


def _row(reading: ReadingRecord) -> tuple[Cell, ...]:
    record = reading.record
    has, place = record.HasField, record.position
    placed = has("position")
    return (
        rfc3339(record.clock.utc_ms),
        reading.device_id,
        reading.sequence,
        record.temperature_mcel / 1000 if has("temperature_mcel") else None,
        record.humidity_mpct / 1000 if has("humidity_mpct") else None,
        record.pressure_pa / 100 if has("pressure_pa") else None,
        place.latitude_e7 / 1e7 if placed else None,
        place.longitude_e7 / 1e7 if placed else None,
        place.accuracy_cm / 100 if placed and place.accuracy_cm else None,
        " ".join(signs(record.tamper_flags)),
        record.derived,
        ClockOrigin(record.clock.origin).name.lower(),
        reading.transaction_id,
        reading.block_num,
    )


def _senml(reading: ReadingRecord) -> list[SenmlRecord]:
    """Return a reading's records; the first carries the time of all."""
    record = reading.record
    found: list[SenmlRecord] = [
        {
            "bt": record.clock.utc_ms / 1000,
            "n": "sequence",
            "u": "count",
            "v": reading.sequence,
        },
        *_measured(record),
        {"n": "tamper", "vb": record.tamper_flags != 0},
    ]
    found += [{"n": f"tamper/{sign}", "vb": True} for sign in signs(record.tamper_flags)]
    if record.derived:
        found.append({"n": "derived", "vb": True})
    return found


def _measured(record: RecordReading) -> Iterator[SenmlRecord]:
    if record.HasField("temperature_mcel"):
        yield {"n": "temperature", "u": "Cel", "v": record.temperature_mcel / 1000}
    if record.HasField("humidity_mpct"):
        yield {"n": "humidity", "u": "%RH", "v": record.humidity_mpct / 1000}
    if record.HasField("pressure_pa"):
        yield {"n": "pressure", "u": "Pa", "v": record.pressure_pa}
    if record.HasField("position"):
        yield {"n": "latitude", "u": "lat", "v": record.position.latitude_e7 / 1e7}
        yield {"n": "longitude", "u": "lon", "v": record.position.longitude_e7 / 1e7}
