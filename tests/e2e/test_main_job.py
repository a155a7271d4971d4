"""The main job with everything asserted: what a truck recorded is what an auditor reads."""

import csv
import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from contracts.proto.payload_pb2 import HandOver
from demo.appliance import DELIVERY_ID, Appliance
from demo.auditor import Auditor, judge
from demo.truck import Truck
from support.ledgers.brought import existing_ledger, is_brought
from support.ledgers.cometbft import need_cometbft
from support.ledgers.walk import committed
from support.machine.mosquitto import SERVER, MosquittoAppliance

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
SAMPLES = Path(os.environ.get("WAYSEAL_SAMPLES", ROOT.parent / "shared" / "data"))
SAMPLE_NAMES = ("sensehat.csv", "road.gpx", "dock_camera.avi")
HOLDS, DOES_NOT_HOLD = 0, 1
PATIENCE_S = "500"  # a Sawtooth network commits some five batches a second


@dataclass(frozen=True, slots=True)
class Job:
    """One trip from files to evidence."""

    appliance: Appliance
    truck: Truck
    auditor: Auditor
    files: tuple[Path, Path, Path]
    trip: dict[str, Any]
    before: str
    during: str

    @property
    def trip_id(self) -> str:
        return str(self.trip["trip"])

    def readings(self) -> list[dict[str, Any]]:
        return list(self.auditor.pages(f"/v1/trips/{self.trip_id}/readings"))


def run(appliance: Appliance, directory: Path, files: tuple[Path, Path, Path]) -> Job:
    """Let one truck record the files, offload, and hand over."""
    truck = Truck(directory / "truck", "truck-7")
    truck.join(appliance)
    auditor = Auditor(appliance.rest, appliance.token("auditor", "auditor"))
    before = _status(appliance, auditor)
    options = zip(("readings", "track", "video"), files, strict=True)
    trip = truck.ask("record", *(f"--{name}={file}" for name, file in options), "--speed", "max")
    offloaded = truck.ask("offload", "--wait-s", PATIENCE_S)
    assert offloaded["receipted"] == [trip["trip"]]
    during = _status(appliance, auditor)
    terms = HandOver(
        trip_id=trip["trip"],
        delivery_id=DELIVERY_ID,
        site_id="site-b",
        from_party_id="haulier",
        to_party_id="shop",
        at_ms=1_800_000_000_000,
    )
    for party in ("haulier", "shop"):
        appliance.sign(party, terms)
    return Job(appliance, truck, auditor, files, trip, before, during)


def _status(appliance: Appliance, auditor: Auditor) -> str:
    auditor.wait_for(appliance.newest_block_num())
    return str(auditor.ask(f"/v1/deliveries/{DELIVERY_ID}")["status"])


PLACES = [pytest.param("embedded", marks=pytest.mark.long), "mosquitto"]
if not is_brought():
    PLACES.append("validators")


@pytest.fixture(scope="module", params=PLACES)
def job(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, trip_files: Path
) -> Iterator[Job]:
    directory = tmp_path_factory.mktemp(request.param)
    if request.param == "mosquitto":
        assert SERVER.exists(), "scripts/packages mosquitto"
    if request.param == "validators":
        need_cometbft()
    kind = MosquittoAppliance if request.param == "mosquitto" else Appliance
    validators = 4 if request.param == "validators" else 0
    files = (trip_files / "readings.csv", trip_files / "track.gpx", trip_files / "video.avi")
    with (
        existing_ledger(directory) as existing,
        ended(
            kind(directory / "site-b", existing=existing, validators=validators), directory, files
        ) as made,
    ):
        yield made


class ended:  # noqa: N801 - a context manager that reads as a word
    """The job in an appliance of its own."""

    def __init__(
        self, appliance: Appliance, directory: Path, files: tuple[Path, Path, Path]
    ) -> None:
        self.appliance, self.directory, self.files = appliance, directory, files
        self.job: Job | None = None

    def __enter__(self) -> Job:
        try:
            self.appliance.start()
            self.appliance.register_network()
            self.job = run(self.appliance, self.directory, self.files)
        except BaseException:
            self.appliance.stop()
            raise
        return self.job

    def __exit__(self, *_: object) -> None:
        if self.job is not None:
            self.job.auditor.close()
        self.appliance.stop()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def check_values(job: Job) -> None:
    """Every row is exactly one reading, with the row's own values and interval."""
    rows, readings = rows_of(job.files[0]), job.readings()
    assert len(readings) == len(rows) == job.trip["readings"]
    assert [reading["sequence"] for reading in readings] == list(range(len(rows)))
    for name, column in (
        ("temperature_cel", "Temperature"),
        ("humidity_pct", "Humidity"),
        ("pressure_hpa", "Pressure"),
    ):
        came = [Decimal(str(reading[name])) for reading in readings]
        assert came == [Decimal(row[column]) for row in rows], name
    start = datetime.fromisoformat(readings[0]["time"])
    first = datetime.fromisoformat(rows[0]["Date/Time"])
    assert [datetime.fromisoformat(reading["time"]) - start for reading in readings] == [
        datetime.fromisoformat(row["Date/Time"]) - first for row in rows
    ]
    assert {reading["derived"] for reading in readings} == {True}


def check_labels(job: Job) -> None:
    """Whatever was taken from a file says so, with the hash of that very file."""
    trip = job.auditor.ask(f"/v1/trips/{job.trip_id}")
    found = {source["sha256"] for source in trip["derived_from"]}
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in job.files]
    assert set(hashes[:2]) <= found
    (recording,) = job.auditor.pages(f"/v1/trips/{job.trip_id}/recordings")
    assert recording["derived"]
    assert recording["recording_id"] == recording["source_sha256"] == hashes[2]
    assert recording["size"] == job.files[2].stat().st_size == job.trip["bytes"]
    assert recording["stored"]
    (seal,) = trip["seals"]
    assert seal["recordings"] == [hashes[2]]
    assert seal["reading_count"] == job.trip["readings"]


def check_evidence(job: Job, directory: Path) -> None:
    """The evidence holds under the right keys, and under none without."""
    evidence = directory / "evidence"
    job.auditor.export(job.trip_id, evidence)
    trust = job.appliance.trust_file()
    status, words = judge(evidence, trust, directory / "desk")
    assert status == HOLDS, words
    status, words = judge(evidence, None, directory / "desk")
    assert status == DOES_NOT_HOLD
    assert "not anchored in a key you trust" in words
    damaged = bytearray(evidence.read_bytes())
    damaged[len(damaged) // 3] ^= 1
    evidence.write_bytes(damaged)
    assert judge(evidence, trust, directory / "desk")[0] == DOES_NOT_HOLD


def test_every_row_is_one_reading(job: Job) -> None:
    check_values(job)


def test_everything_is_on_the_ledger_once(job: Job) -> None:
    readings, videos = committed(job.appliance.ledger)
    assert set(readings) == {(job.trip_id, at) for at in range(job.trip["readings"])}
    assert set(readings.values()) == set(videos.values()) == {1}


def test_the_excursion_is_a_breach_with_time_and_place(job: Job) -> None:
    (breach,) = job.auditor.pages(f"/v1/trips/{job.trip_id}/breaches")
    rows, readings = rows_of(job.files[0]), job.readings()
    warm = [at for at, row in enumerate(rows) if Decimal(row["Temperature"]) > 8]
    longest = max(_runs(warm), key=len)
    first, last = readings[longest[0]], readings[longest[-1]]
    assert (breach["quantity"], breach["unit"], breach["delivery_id"]) == (
        "temperature",
        "CEL",
        DELIVERY_ID,
    )
    assert breach["first_sequence"] == first["sequence"]
    assert breach["since"] == first["time"]
    assert breach["extreme"] == max(reading["temperature_cel"] for reading in readings)
    assert breach["ended"]
    assert last["time"] <= breach["until"]
    assert breach["position"] in [reading["position"] for reading in readings]


def _runs(numbers: list[int]) -> list[list[int]]:
    runs: list[list[int]] = [[numbers[0]]]
    for before, number in itertools.pairwise(numbers):
        if number != before + 1:
            runs.append([])
        runs[-1].append(number)
    return runs


def test_the_open_door_is_a_tamper_event_with_time_and_place(job: Job) -> None:
    (event,) = job.auditor.pages(f"/v1/trips/{job.trip_id}/tampers")
    rows, readings = rows_of(job.files[0]), job.readings()
    opened = next(at for at, row in enumerate(rows) if row["Tamper"])
    assert event["sequence"] == opened
    assert event["signs"] == ["door-open"]
    assert event["time"] == readings[opened]["time"]
    assert event["position"] == readings[opened]["position"]


def test_the_delivery_went_from_open_to_delivered(job: Job) -> None:
    assert job.before == "open"
    assert job.during == "in-transit"
    assert _status(job.appliance, job.auditor) == "delivered"
    delivery = job.auditor.ask(f"/v1/deliveries/{DELIVERY_ID}")
    assert delivery["trip_ids"] == [job.trip_id]
    assert (delivery["breaches"], delivery["tampers"]) == (1, 1)
    (found,) = job.auditor.ask("/v1/lots/00012345678905/L42")["deliveries"]
    assert found["delivery_id"] == DELIVERY_ID


def test_the_truck_has_its_receipt_and_nothing_else(job: Job) -> None:
    status = job.truck.ask("status")
    (trip,) = status["trips"]
    assert trip["state"] == "receipted"
    assert trip["receipt"]["block_num"] > 0
    assert status["journal_bytes"]["used"] == status["video_bytes"]["used"] == 0
    assert not list((job.truck.directory / "data").rglob("*.avi"))


def test_files_are_named_as_sources(job: Job) -> None:
    check_labels(job)


def test_the_evidence_holds_for_who_has_the_keys(job: Job, tmp_path: Path) -> None:
    check_evidence(job, tmp_path)


@pytest.mark.long
@pytest.mark.cold
@pytest.mark.samples
def test_the_real_files_arrive_exactly(tmp_path: Path) -> None:
    files = tuple(SAMPLES / name for name in SAMPLE_NAMES)
    if missing := [file.name for file in files if not file.exists()]:
        pytest.skip(f"no {', '.join(missing)} in {SAMPLES}; WAYSEAL_SAMPLES names their folder")
    readings, track, video = files
    with (
        existing_ledger(tmp_path) as existing,
        ended(
            Appliance(tmp_path / "site-b", existing=existing), tmp_path, (readings, track, video)
        ) as job,
    ):
        check_values(job)
        check_labels(job)
        check_places(job, track)
        check_evidence(job, tmp_path)
        assert json.dumps(job.before) == '"open"'


def check_places(job: Job, track: Path) -> None:
    """Positions come from the track alone: its ends at the ends, none outside of its bounds."""
    import gpxpy  # noqa: PLC0415 - a dependency of the truck, needed by this check alone

    points = [
        point
        for line in gpxpy.parse(track.read_text("utf-8")).tracks
        for segment in line.segments
        for point in segment.points
    ]
    places = [reading["position"] for reading in job.readings()]
    for name in ("latitude", "longitude"):
        bounds = [round(getattr(point, name), 7) for point in points]
        came = [place[name] for place in places]
        assert came[0] == bounds[0]
        assert came[-1] == bounds[-1]
        assert min(bounds) <= min(came)
        assert max(came) <= max(bounds)
    assert timedelta(0) < timedelta(seconds=len(places))
