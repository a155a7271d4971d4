"""Recording on a real file system: interrupted, killed, full, continued."""

import os
import random
import resource
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.payload_pb2 import Clock, RecordReading, RecordVideo, SealTrip
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.records.reading import DeviceChain, Tamper, reading_of
from contracts.records.recording import RecordingDigest
from device.commands.simulate import TripFiles, write_trip
from device.journal.database import JOURNAL, Database
from device.sensors.replay_csv import CsvReplay
from device.sensors.simulated import SimulatedTrip
from support.ledgers.hosts import DirectHost, apply_all, breaches, rules_found, tampers
from support.machine.waiting import wait_until
from support.network.world import key, link_of, registrations
from support.trucks.truck import RUNS, Truck, records_in, walk, write_log

pytestmark = pytest.mark.integration
SAMPLES = Path(
    os.environ.get("WAYSEAL_SAMPLES", Path(__file__).parents[2].parent / "shared" / "data")
)
MIB = 1 << 20
one_or_runs = pytest.mark.parametrize("batch", ["", RUNS], ids=["one", "runs"])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TripFiles:
    return write_trip(SimulatedTrip(), tmp_path_factory.mktemp("trip"))


def options(files: TripFiles) -> list[str | Path]:
    return ["--readings", files.readings, "--track", files.track, "--video", files.video]


def rows_of(truck: Truck, log: Path) -> None:
    """Check that the sealed trip has each row of `log` exactly once, in order."""
    _, records, _ = walk(truck.batches())
    samples = CsvReplay.check(log).samples()
    found = [
        (record.clock.monotonic_ms, record.temperature_mcel, record.humidity_mpct)
        for record in records
    ]
    assert found == [
        (sample.offset_ms, sample.temperature_mcel, sample.humidity_mpct) for sample in samples
    ]


def test_one_source_becomes_one_sealed_trip(tmp_path: Path, files: TripFiles) -> None:
    truck = Truck(tmp_path)
    made = truck.must("record", *options(files), "--start", "2026-05-01T00:00:00Z")
    size = files.video.stat().st_size
    counts = {key: made[key] for key in ("readings", "recordings", "bytes")}
    assert counts == {"readings": 1080, "recordings": 1, "bytes": size}
    start, records, seal = walk(truck.batches())
    assert start is not None
    rows_of(truck, files.readings)
    roles = [source.role for source in start.derived_from]
    assert roles == ["readings", "options", "track", "video"]
    assert start.derived_from[1].name == "--start 2026-05-01T00:00:00.000Z"
    assert start.derived_from[0].sha256 == CsvReplay.check(files.readings).sha256
    assert start.started_at_ms == 1_777_593_600_000
    assert all(record.derived for record in records)
    assert {record.clock.origin for record in records} == {Clock.NONE}
    assert {record.clock.boot_id for record in records} == {start.nonce}
    assert all(reading_of(record).position for record in records)
    video = decode(truck.batches()[-1].transactions[0].payload)
    assert isinstance(video, RecordVideo)
    digest = RecordingDigest.of_file(files.video)
    assert (video.sha256, video.size, video.tree_root) == (digest.sha256, size, digest.tree_root)
    assert video.source_sha256 == digest.sha256
    assert video.derived
    assert video.media_type == "video/x-msvideo"
    assert [item.sha256 for item in seal.recordings] == [digest.sha256]
    (copy,) = (truck.data / "videos").rglob("*.avi")
    assert copy.read_bytes() == files.video.read_bytes()


def test_the_rule_book_finds_the_excursion_and_the_open_door(
    tmp_path: Path, files: TripFiles
) -> None:
    truck = Truck(tmp_path)
    truck.must("record", *options(files))
    host = DirectHost()
    apply_all(host, registrations())
    events = apply_all(host, truck.batches())
    assert rules_found(events) == []
    assert [breach.ended for breach in breaches(events)] == [False, True]
    assert [event.flags for event in tampers(events)] == [Tamper.DOOR_OPEN]


def test_batches_keep_their_limits(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", 300)
    by_time = Truck(tmp_path / "a")
    by_time.must("record", "--readings", log)
    sizes = [len(batch.transactions) for batch in by_time.batches()]
    assert sizes == [13, *[12] * 23, 13]
    by_count = Truck(tmp_path / "b", "[batch]\nmax_readings = 7\nmax_seconds = 86400\n")
    by_count.must("record", "--readings", log)
    assert {len(batch.transactions) for batch in by_count.batches()[1:-1]} == {7}
    by_runs = Truck(tmp_path / "d", RUNS)
    by_runs.must("record", "--readings", log)
    assert [[len(run) for run in runs_of(batch)] for batch in by_runs.batches()] == [
        [60, 60],
        [60, 60],
        [60],
    ]
    by_bytes = Truck(tmp_path / "c", "[batch]\nmax_readings = 1000\nmax_seconds = 86400\n")
    by_bytes.must("record", "--readings", log)
    wires = [batch.ByteSize() for batch in by_bytes.batches()]
    assert len(wires) > 1
    assert max(wires) < 200_000


def runs_of(batch: Batch) -> list[list[RecordReading]]:
    """Return the readings of each transaction of a batch that has any."""
    groups = [records_in(decode(item.payload)) for item in batch.transactions]
    return [group for group in groups if group]


@pytest.mark.parametrize("size", [2, 60, 300])
def test_runs_are_the_same_chain(tmp_path: Path, files: TripFiles, size: int) -> None:
    single = Truck(tmp_path / "single")
    single.must("record", *options(files))
    _, alone, _ = walk(single.batches())
    truck = Truck(
        tmp_path / "runs",
        f"[batch]\nmax_readings = 300\nmax_seconds = 3600\nreadings_per_transaction = {size}\n",
    )
    assert truck.must("record", *options(files))["readings"] == 1080
    rows_of(truck, files.readings)
    _, records, _ = walk(truck.batches())
    assert [reading_of(one).position for one in records] == [
        reading_of(one).position for one in alone
    ]
    runs = [len(run) for batch in truck.batches() for run in runs_of(batch)]
    assert runs == [size] * (1080 // size) + ([1080 % size] if 1080 % size else [])
    assert truck.must("status")["trips"][0]["batches"]["unsigned"] == 0


def test_a_second_source_is_a_second_trip_and_other_input_must_wait(
    tmp_path: Path, files: TripFiles
) -> None:
    truck = Truck(tmp_path)
    log = write_log(tmp_path / "log.csv", 40)
    first = truck.must("record", "--readings", log)["trip"]
    code, _, err = truck.run("record", "--readings", log)
    assert code == 1
    assert f"trip {first}, which started at 20" in err
    assert "`wayseal-device record --again` records all of it as one more trip" in err
    code, _, err = truck.run("record", "--readings", log, "--track", files.track)
    assert (code, "was recorded from the same log to its end" in err) == (1, True)
    second = truck.must("record", "--readings", log, "--again")["trip"]
    assert first != second
    with truck.start("record", "--readings", log, "--speed", "1", "--again") as process:
        wait_until(lambda: truck.must("status")["trips"][-1]["state"] == "open")
        code, _, err = truck.run("record", "--readings", log)
        assert code == 1
        assert "another wayseal-device is recording" in err
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 1
    other = write_log(tmp_path / "other.csv", 41)
    code, _, err = truck.run("record", "--readings", other)
    assert code == 1
    assert "still open" in err
    third = truck.must("record", "--readings", log)
    assert third["readings"] == 40
    assert third["trip"] not in (first, second)


@pytest.mark.parametrize(
    "batch",
    [pytest.param("", id="one", marks=pytest.mark.long), pytest.param(RUNS, id="runs")],
)
def test_kill_9_while_recording_loses_and_doubles_nothing(
    tmp_path: Path, files: TripFiles, batch: str
) -> None:
    log = write_log(tmp_path / "log.csv", 6_000)
    truck = Truck(tmp_path / "truck", batch)
    dice = random.Random(11)
    reached = []
    for _ in range(10):
        with truck.start("record", "--readings", log, "--video", files.video) as process:
            try:
                process.wait(0.4 + dice.random() * 0.5)
                break
            except subprocess.TimeoutExpired:
                process.kill()
            said, _ = process.communicate()
        if said:
            break  # it told the trip's end, so the same command would start another one
        trips = truck.must("status")["trips"]
        reached.append(trips[0]["readings"] if trips else 0)
    else:
        truck.must("record", "--readings", log, "--video", files.video)
    assert reached
    assert reached == sorted(reached)
    (trip,) = truck.must("status")["trips"]
    assert (trip["state"], trip["readings"], len(trip["recordings"])) == ("sealed", 6_000, 1)
    rows_of(truck, log)
    assert len(list((truck.data / "videos").rglob("*.avi"))) == 1
    assert not list((truck.data / "videos").rglob(".part-*"))


@one_or_runs
def test_a_power_cut_at_any_byte_of_the_write_ahead_log(tmp_path: Path, batch: str) -> None:
    log = write_log(tmp_path / "log.csv", 400)
    truck = Truck(tmp_path / "truck", batch)
    with truck.start("record", "--readings", log, "--speed", "300") as process:
        wait_until(lambda: any(trip["readings"] > 60 for trip in truck.must("status")["trips"]))
        process.kill()
        process.communicate()
    journal, ahead = truck.data / "journal.sqlite", truck.data / "journal.sqlite-wal"
    main, written = journal.read_bytes(), ahead.read_bytes()
    assert written
    dice = random.Random(2)
    reached = []
    for cut in sorted(dice.randrange(len(written)) for _ in range(25)):
        journal.write_bytes(main)
        ahead.write_bytes(written[:cut])
        (truck.data / "journal.sqlite-shm").unlink(missing_ok=True)
        reached.append(check_whole(journal))
    assert reached == sorted(reached)
    assert truck.must("record", "--readings", log)["readings"] == 400
    rows_of(truck, log)


def check_whole(path: Path) -> int:
    """Check that an open trip's journal agrees with itself; return its number of readings."""
    with Database(path, "truck-1", key("truck-1").public_key) as database:
        trips = database.query("SELECT trip_id, readings, head_sha256 FROM trips")
        if not trips:
            return 0
        ((trip_id, readings, head),) = trips
        wires = [
            transaction
            for (wire,) in database.query("SELECT wire FROM batches ORDER BY number")
            for transaction in parse(Batch, wire).transactions
        ]
        wires += [
            Transaction.FromString(wire)
            for (wire,) in database.query("SELECT wire FROM pending ORDER BY number")
        ]
        waiting = database.query("SELECT record FROM waiting ORDER BY number")
    records = [
        record for transaction in wires for record in records_in(decode(transaction.payload))
    ]
    records += [RecordReading.FromString(record) for (record,) in waiting]
    place = DeviceChain(trip_id, "truck-1").first
    for record in records:
        assert link_of(record) == place
        place = place.after(record)
    assert (place.sequence, place.previous_sha256) == (readings, head)
    return int(readings)


@one_or_runs
def test_close_seals_what_a_kill_left(tmp_path: Path, batch: str) -> None:
    log = write_log(tmp_path / "log.csv", 400)
    truck = Truck(tmp_path / "truck", batch)
    with truck.start("record", "--readings", log, "--speed", "100") as process:
        wait_until(lambda: any(trip["readings"] > 20 for trip in truck.must("status")["trips"]))
        process.kill()
        process.communicate()
    made = truck.must("close")
    _, records, _ = walk(truck.batches())
    assert len(records) == made["readings"] > 20
    assert truck.run("close")[0] == 1


def test_a_broken_log_starts_no_trip(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", 400)
    log.write_text(log.read_text() + "2022-01-31 01:00:00,47.0,15.4,warm,50,1013,0\n")
    truck = Truck(tmp_path / "truck")
    code, out, err = truck.run("record", "--readings", log)
    assert (code, out) == (1, "")
    assert err.count("wayseal-device: ") == 1
    assert "line 402, column 'Temperature': expected a decimal number, got 'warm'" in err
    assert truck.must("status")["trips"] == []


@one_or_runs
def test_a_full_journal_refuses_and_can_still_be_closed(tmp_path: Path, batch: str) -> None:
    log = write_log(tmp_path / "log.csv", 17_000 if batch else 2_000)
    truck = Truck(tmp_path / "truck", f"{batch}[buffer]\njournal_bytes_max = {MIB}\n")
    for _ in range(2):
        code, _, err = truck.run("record", "--readings", log)
        assert code == 1
        assert "buffer.journal_bytes_max = 1048576" in err
    status = truck.must("status")
    assert 0 < status["trips"][0]["readings"] < (17_000 if batch else 2_000)
    assert status["journal_bytes"]["used"] <= MIB
    made = truck.must("close")
    _, records, _ = walk(truck.batches())
    assert len(records) == made["readings"] == status["trips"][0]["readings"]


def test_a_full_video_buffer_starts_no_trip(tmp_path: Path, files: TripFiles) -> None:
    truck = Truck(tmp_path, f"[buffer]\nvideo_bytes_max = {MIB}\n")
    code, _, err = truck.run("record", *options(files))
    assert code == 1
    assert "buffer.video_bytes_max = 1048576" in err
    assert truck.must("status")["trips"] == []


@pytest.mark.parametrize("limit", [300_000, 2 * MIB])
def test_a_full_disk_refuses_loses_nothing_and_goes_on_later(
    tmp_path: Path, files: TripFiles, limit: int
) -> None:
    truck = Truck(tmp_path)
    code, _, err = truck.run(
        "record",
        *options(files),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert code == 1, err
    assert err.count("wayseal-device: ") == 1
    assert truck.must("record", *options(files))["readings"] == 1080
    rows_of(truck, files.readings)


def test_a_journal_that_is_none_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"something else" * 1000)
    with pytest.raises(RejectedError, match="not a database"):
        Database(path, "truck-1", key("truck-1").public_key)
    path.unlink()
    with Database(path, "truck-1", key("truck-1").public_key):
        pass
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {JOURNAL.version + 1}")
    connection.close()
    with pytest.raises(RejectedError, match=f"expected version 1 to {JOURNAL.version}"):
        Database(path, "truck-1", key("truck-1").public_key)
    with pytest.raises(UnavailableError):
        Database(tmp_path / "missing" / "j", "truck-1", key("truck-1").public_key)


def test_a_truck_without_camera_needs_no_camera_library(tmp_path: Path) -> None:
    truck = Truck(tmp_path)
    (tmp_path / "cv2.py").write_text("raise ImportError('no camera here')\n")
    truck.environment["PYTHONPATH"] = str(tmp_path)
    assert truck.must("status")["trips"] == []
    log = write_log(tmp_path / "log.csv", 20)
    assert truck.must("record", "--readings", log)["readings"] == 20
    for command in (
        ("record", "--readings", log, "--video", log),
        ("record", "--simulate"),
        ("simulate", "--out", tmp_path / "simulated"),
    ):
        code, _, err = truck.run(*command)
        assert code == 1
        assert "scripts/install device-camera" in err
    assert [trip["state"] for trip in truck.must("status")["trips"]] == ["sealed"]
    assert not (tmp_path / "simulated").exists()


@pytest.mark.long
@pytest.mark.samples
@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"no samples at {SAMPLES}")
def test_real_files_every_row_is_one_reading(tmp_path: Path) -> None:
    truck = Truck(tmp_path)
    log, video = SAMPLES / "sensehat.csv", SAMPLES / "dock_camera.avi"
    made = truck.must(
        "record", "--readings", log, "--track", SAMPLES / "road.gpx", "--video", video
    )
    rows = len(log.read_text().splitlines()) - 1
    assert (made["readings"], made["recordings"]) == (rows, 1)
    assert made["bytes"] == video.stat().st_size
    rows_of(truck, log)
    seal = decode(truck.batches()[-2].transactions[-1].payload)
    assert isinstance(seal, SealTrip)
    assert seal.reading_count == rows
