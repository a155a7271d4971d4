"""Readings as CSV and SenML say the same as the readings, to programs of others."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, Final

import cbor2
import pycddl
import pytest

from contracts.proto.payload_pb2 import Clock, Position, RecordReading
from contracts.records.clock import rfc3339
from contracts.records.reading import Tamper
from gateway.exports.cells import csv_pieces, guarded
from gateway.exports.readings import CSV_COLUMNS, as_csv, as_senml
from gateway.records.trips import ReadingRecord
from support.project.pages import ROOT

TRIP: Final = "ab" * 16
START_MS: Final = 1_800_000_000_123
RULES: Final = (ROOT / "tests/golden/senml/senml.cddl").read_text("utf-8")
# pycddl 0.6.4 takes no float for CDDL's `number`, which is `int / float` (RFC 8610, appendix D).
SCHEMA: Final = pycddl.Schema(RULES.replace("= number /", "= int / float /"))
RFC_EXAMPLE: Final = [  # RFC 8428, 5.1.2, shortened
    {"bn": "urn:dev:ow:10e2073a01080063:", "bt": 1.276020076001e9, "bu": "A", "bver": 5}
    | {"n": "voltage", "u": "V", "v": 120.1},
    {"n": "current", "t": -5, "v": 1.2},
    {"n": "current", "t": -4, "v": 1.3},
]


def a_reading(sequence: int, device_id: str = "truck-1", **values: Any) -> ReadingRecord:  # noqa: ANN401 - fields of the record
    clock = Clock(utc_ms=START_MS + sequence * 1000, origin=Clock.GNSS)
    record = RecordReading(clock=clock, **values)
    return ReadingRecord(record, device_id, sequence, "cd" * 64, 7, None)


READINGS: Final = [
    a_reading(
        0,
        temperature_mcel=-4125,
        humidity_mpct=52_100,
        pressure_pa=96_801,
        position=Position(latitude_e7=-470_707_001, longitude_e7=154_395_000, accuracy_cm=250),
    ),
    a_reading(1, temperature_mcel=0, tamper_flags=Tamper.DOOR_OPEN),
    a_reading(0, "truck-2", derived=True),
]


def resolved(pack: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of a pack without base values. Source: RFC 8428, 4.6."""
    found, base = [], {"bn": "", "bt": 0, "bu": None}
    for record in pack:
        base |= {key: value for key, value in record.items() if key in base}
        own = {key: value for key, value in record.items() if not key.startswith("b")}
        own |= {"n": base["bn"] + own.get("n", ""), "t": base["bt"] + own.get("t", 0)}
        found.append({"u": base["bu"], **own} if base["bu"] else own)
    return found


def senml(readings: Sequence[ReadingRecord]) -> list[dict[str, Any]]:
    pack: list[dict[str, Any]] = json.loads(b"".join(as_senml(readings, TRIP)))
    SCHEMA.validate_cbor(cbor2.dumps(pack))
    return pack


def test_the_schema_takes_the_rfc_s_example_and_refuses_a_broken_one() -> None:
    SCHEMA.validate_cbor(cbor2.dumps(RFC_EXAMPLE))
    for broken in ([], [{"n": 5, "v": 1}], [{"bn": 1, "n": "a", "v": 1}]):
        with pytest.raises(pycddl.ValidationError):
            SCHEMA.validate_cbor(cbor2.dumps(broken))
    current = resolved(RFC_EXAMPLE)[1]
    assert current["n"] == "urn:dev:ow:10e2073a01080063:current"
    assert (current["u"], current["v"]) == ("A", 1.2)
    assert current["t"] == pytest.approx(1.276020071e9)


def test_senml_resolves_to_the_readings() -> None:
    found = resolved(senml(READINGS))
    first = {each["n"].rpartition(":")[2]: each for each in found[:7]}
    assert {name: each["v"] for name, each in first.items() if "v" in each} == {
        "sequence": 0,
        "temperature": -4.125,
        "humidity": 52.1,
        "pressure": 96_801,
        "latitude": -47.0707001,
        "longitude": 15.4395,
    }
    assert {each["t"] for each in first.values()} == {START_MS / 1000}
    units = {name: each.get("u") for name, each in first.items()}
    assert units == {
        "sequence": "count",
        "temperature": "Cel",
        "humidity": "%RH",
        "pressure": "Pa",
        "latitude": "lat",
        "longitude": "lon",
        "tamper": None,
    }
    assert first["tamper"]["vb"] is False
    rest = [(each["n"], each.get("v", each.get("vb"))) for each in found[7:]]
    assert rest == [
        ("urn:wayseal:device:truck-1:sequence", 1),
        ("urn:wayseal:device:truck-1:temperature", 0),
        ("urn:wayseal:device:truck-1:tamper", True),
        ("urn:wayseal:device:truck-1:tamper/door-open", True),
        ("urn:wayseal:device:truck-2:sequence", 0),
        ("urn:wayseal:device:truck-2:tamper", False),
        ("urn:wayseal:device:truck-2:derived", True),
    ]


def test_senml_of_a_trip_without_readings_says_that_there_are_none() -> None:
    assert senml([]) == [{"n": f"urn:wayseal:trip:{TRIP}:readings", "u": "count", "v": 0}]


def test_csv_has_what_was_measured_and_nothing_where_nothing_was() -> None:
    text = b"".join(as_csv(READINGS)).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert rows[0] == {
        "time": rfc3339(START_MS),
        "device_id": "truck-1",
        "sequence": "0",
        "temperature_cel": "-4.125",
        "humidity_pct": "52.1",
        "pressure_hpa": "968.01",
        "latitude": "-47.0707001",
        "longitude": "15.4395",
        "accuracy_m": "2.5",
        "tamper": "",
        "derived": "false",
        "clock_origin": "gnss",
        "transaction_id": "cd" * 64,
        "block_num": "7",
    }
    assert (rows[1]["temperature_cel"], rows[1]["tamper"]) == ("0.0", "door-open")
    assert (rows[2]["temperature_cel"], rows[2]["latitude"], rows[2]["derived"]) == ("", "", "true")
    assert b"".join(as_csv([])).decode().split(",") == [*CSV_COLUMNS[:-1], "block_num\r\n"]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =cmd|' /C'!A0"]
)
def test_no_text_becomes_a_formula(text: str) -> None:
    assert guarded(text) == "'" + text
    (_, row) = csv.reader(io.StringIO(b"".join(csv_pieces(["lot"], [[text]])).decode(), newline=""))
    assert row == ["'" + text]


def test_many_lines_leave_in_pieces_and_none_is_lost() -> None:
    pieces = list(csv_pieces(["at"], ([number] for number in range(2000))))
    assert len(pieces) > 1
    assert b"".join(pieces).decode().split() == ["at", *map(str, range(2000))]
