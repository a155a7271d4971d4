"""The offload against real brokers, with a small gateway that speaks the wire."""

import contextlib
import random
import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.keys import NOT_OF_A_DEVICE
from contracts.records.recording import RecordingDigest
from device.camera.simulated import SimulatedCamera
from device.commands.simulate import TripFiles
from support.gateways.truck_gateway import (
    FakeGateway,
)
from support.ledgers.hosts import DirectHost, apply_all, rules_found
from support.machine.waiting import wait_until
from support.network.world import key, registrations
from support.trucks.offloads import left_over, record
from support.trucks.truck import RUNS, Truck, replaying, walk, write_log

pytestmark = pytest.mark.integration


def test_everything_goes_and_is_deleted_on_the_receipt(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    trip_id = record(truck, files)
    assert truck.must("offload")["receipted"] == [trip_id]
    _, readings, _ = walk(gateway.trip(trip_id))
    assert len(readings) == 240
    assert list(gateway.uploads.values()) == [files.video.read_bytes()]
    assert truck.batches() == []
    assert left_over(truck) == []
    status = truck.must("status")
    assert status["trips"][0]["state"] == "receipted"
    assert status["journal_bytes"]["used"] == status["video_bytes"]["used"] == 0
    assert truck.must("offload")["receipted"] == []


@pytest.fixture
def films(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"film-{number}.avi" for number in range(3)]
    for seed, film in enumerate(made, 1):
        SimulatedCamera(seed).film(film)
    return made


@pytest.fixture
def slow(gateway: FakeGateway, tmp_path: Path, files: TripFiles, films: Sequence[Path]) -> Truck:
    """A truck with three films, of which it sends one after the other."""
    truck = Truck(tmp_path / "slow", f"{gateway.section}[offload]\nuploads = 1\n")
    videos = [argument for film in films for argument in ("--video", film)]
    truck.must("record", "--readings", files.readings, *videos)
    return truck


def test_a_recording_with_a_tamper_sign_goes_first(
    slow: Truck, gateway: FakeGateway, films: Sequence[Path]
) -> None:
    with contextlib.closing(sqlite3.connect(slow.data / "journal.sqlite")) as journal, journal:
        journal.execute("UPDATE recordings SET marked = 1 WHERE name LIKE '0002%'")
    slow.must("offload")
    assert list(gateway.uploads.values()) == [films[at].read_bytes() for at in (2, 0, 1)]


def test_a_recording_that_the_site_wants_first_goes_before_those_that_wait(
    slow: Truck, gateway: FakeGateway, films: Sequence[Path]
) -> None:
    gateway.first = {RecordingDigest.of_file(films[2]).sha256}
    slow.must("offload")
    assert list(gateway.uploads.values()) == [films[at].read_bytes() for at in (2, 0, 1)]


def test_over_a_metered_link_the_recording_that_the_site_wants_first_goes_alone(
    slow: Truck, gateway: FakeGateway, films: Sequence[Path]
) -> None:
    gateway.first = {RecordingDigest.of_file(films[2]).sha256}
    slow.environment["WAYSEAL_OFFLOAD__LINK"] = "metered"
    slow.run("offload", "--wait-s", "0")
    assert list(gateway.uploads.values()) == [films[2].read_bytes()]


def test_runs_go_the_same_way(gateway: FakeGateway, tmp_path: Path, files: TripFiles) -> None:
    truck = Truck(tmp_path / "truck", RUNS + gateway.section)
    trip_id = record(truck, files)
    assert truck.must("offload")["receipted"] == [trip_id]
    _, readings, seal = walk(gateway.trip(trip_id))
    assert len(readings) == seal.reading_count == 240
    assert truck.must("status")["trips"][0]["readings"] == 240


def test_the_rule_book_takes_all_of_it_without_a_finding(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    trip_id = record(truck, files)
    truck.must("offload")
    host = DirectHost()
    apply_all(host, registrations())
    assert rules_found(apply_all(host, gateway.trip(trip_id))) == []


def test_a_cut_upload_resumes_at_the_same_byte(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    record(truck, files)
    gateway.cut_after = [1_500_000, 700_001]
    gateway.http_failures = [403, 429, 503]
    truck.must("offload")
    assert list(gateway.uploads.values()) == [files.video.read_bytes()]
    assert gateway.requests.count("POST") == 1


def test_unanswered_offers_are_repeated(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    trip_id = record(truck, files)
    gateway.deaf = 2
    assert truck.must("offload")["receipted"] == [trip_id]
    assert gateway.offers > 2


def test_a_refused_batch_is_kept_and_named(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    trip_id = record(truck, files)
    third = truck.batches()[2].header_signature
    gateway.refuse = lambda name: "key of nobody" if name == third else ""
    code, _, err = truck.run("offload")
    assert code == 1
    assert "key of nobody" in err
    assert truck.must("status")["trips"][0]["refusals"] == {third: "key of nobody"}
    gateway.refuse = lambda _: ""
    assert truck.must("offload")["receipted"] == [trip_id]


def test_a_truck_that_is_not_registered_says_what_to_do(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    record(truck, files)
    gateway.refuse = lambda _: f"key {key('truck-1').public_key} {NOT_OF_A_DEVICE}"
    code, _, err = truck.run("offload")
    assert code == 1
    assert "register this device (`wayseal-party register-device`), let the gateway's" in err
    assert "POST /v1/quarantine/BATCH/release" in err
    assert "then offload again" in err


def test_a_gateway_that_is_away_is_an_error_and_loses_nothing(
    truck: Truck, files: TripFiles
) -> None:
    record(truck, files)
    before = truck.batches()
    truck.environment["WAYSEAL_GATEWAY__MQTT"] = "127.0.0.1:1"
    code, _, err = truck.run("offload", "--wait-s", "0")
    assert code == 1
    assert "127.0.0.1:1" in err
    assert truck.batches() == before


def test_an_open_trip_is_no_success(truck: Truck, gateway: FakeGateway, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", 100)
    with truck.start("record", "--readings", log, "--speed", "5") as process:
        wait_until(lambda: readings_of(truck) > 1)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "continues it" in err
    code, _, err = truck.run("offload")
    assert code == 1
    assert "still open" in err
    trip_id = truck.must("close")["trip"]
    assert truck.must("offload")["receipted"] == [trip_id]
    walk(gateway.trip(trip_id))


def readings_of(truck: Truck) -> int:
    trips = truck.must("status")["trips"]
    return int(trips[0]["readings"]) if trips else 0


def test_offload_survives_kill_9_at_any_moment(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    trip_id = record(truck, files)
    gateway.cut_after = [400_000] * 6
    dice = random.Random(5)
    for _ in range(6):
        with truck.start("offload") as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3 + dice.random())
            process.kill()
            process.communicate()
    truck.must("offload")
    assert truck.must("status")["trips"][0]["state"] == "receipted"
    assert truck.batches() == []
    assert left_over(truck) == []
    _, readings, _ = walk(gateway.trip(trip_id))
    assert len(readings) == 240
    assert list(gateway.uploads.values()) == [files.video.read_bytes()]


def test_the_agent_records_offloads_and_stops_on_sigterm(
    gateway: FakeGateway, files: TripFiles, tmp_path: Path
) -> None:
    agent = Truck(tmp_path / "agent", gateway.section + replaying(files))
    lock = agent.data / "recording.lock"
    for _ in range(2):  # the second start finds its files recorded and records it no more
        lock.unlink(missing_ok=True)
        with agent.start("run") as process:
            wait_until(lambda: lock.exists() and states(agent) == ["receipted"])
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert states(agent) == ["receipted"]


def states(truck: Truck) -> list[str]:
    return [trip["state"] for trip in truck.must("status")["trips"]]
