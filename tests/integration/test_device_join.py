"""Several devices on one trip: one starts it, the others join with the start it shares."""

import signal
from pathlib import Path

import pytest

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.proto.payload_pb2 import RecordVideo, RegisterDevice, StartTrip
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.records.recording import RecordingDigest
from device.commands.simulate import TripFiles
from support.ledgers.hosts import DirectHost, apply_all, rules_found
from support.machine.waiting import wait_until
from support.network.world import key, one, registrations
from support.trucks.truck import RUNS, Truck, walk, write_log

pytestmark = pytest.mark.integration
NAMES_THE_REAR = 'other_devices = ["rear-1", "rear-2"]\n'


@pytest.fixture
def front(tmp_path: Path) -> Truck:
    return Truck(tmp_path / "front", trip=NAMES_THE_REAR)


@pytest.fixture
def rear(tmp_path: Path) -> Truck:
    return Truck(tmp_path / "rear", device_id="rear-1")


def started(front: Truck, log: Path) -> Path:
    """Let the front record a trip; return the file with its start."""
    front.must("record", "--readings", log)
    file = front.folder / "trip.start"
    front.must("share", "--out", file)
    return file


def registered(device_id: str) -> Batch:
    keys = [key(device_id).public_key]
    device = RegisterDevice(device_id=device_id, party_id="carrier", public_keys=keys)
    return one(key("carrier"), device)


def start_in(file: Path) -> tuple[StartTrip, str]:
    transaction = parse(Transaction, file.read_bytes())
    start = decode(transaction.payload)
    assert isinstance(start, StartTrip)
    return start, transaction.header_signature


def test_the_start_names_devices_and_sites(tmp_path: Path) -> None:
    sites = 'via_sites = ["site-buyer", "site-seller"]\n'
    truck = Truck(tmp_path / "truck", trip=sites + NAMES_THE_REAR)
    truck.must("record", "--readings", write_log(tmp_path / "log.csv", 20))
    start, _, _ = walk(truck.batches())
    assert start is not None
    assert list(start.via_site_ids) == ["site-buyer", "site-seller"]
    assert list(start.other_device_ids) == ["rear-1", "rear-2"]


@pytest.mark.parametrize("batch", ["", RUNS], ids=["one", "runs"])
def test_each_device_has_a_chain_of_its_own_on_one_trip(
    tmp_path: Path, front: Truck, files: TripFiles, batch: str
) -> None:
    file = started(front, write_log(tmp_path / "log.csv", 30))
    start, start_id = start_in(file)
    rear = Truck(tmp_path / "rear", batch, device_id="rear-1")
    options = ("--readings", files.readings, "--video", files.video)
    made = rear.must("record", "--join", file, *options)
    assert made["trip"] == start.trip_id
    nothing, records, seal = walk(rear.batches(), joined=start_id)
    assert nothing is None
    assert len(records) == made["readings"] == 240
    assert {record.device_id for record in records} == {seal.device_id} == {"rear-1"}
    video = decode(rear.batches()[-1].transactions[0].payload)
    assert isinstance(video, RecordVideo)
    assert video.sha256 == RecordingDigest.of_file(files.video).sha256
    assert video.started_at_ms == records[0].clock.utc_ms != start.started_at_ms


def test_the_rule_book_takes_both_without_a_finding(
    tmp_path: Path, front: Truck, rear: Truck, files: TripFiles
) -> None:
    file = started(front, write_log(tmp_path / "log.csv", 30))
    rear.must("record", "--join", file, "--readings", files.readings, "--video", files.video)
    host = DirectHost()
    apply_all(host, [*registrations(), registered("rear-1"), registered("rear-2")])
    assert rules_found(apply_all(host, front.batches())) == []
    assert rules_found(apply_all(host, rear.batches())) == []


def test_an_interrupted_device_goes_on_with_the_same_trip(
    tmp_path: Path, front: Truck, rear: Truck
) -> None:
    file = started(front, write_log(tmp_path / "log.csv", 30))
    start, start_id = start_in(file)
    log = write_log(tmp_path / "rear.csv", 200)
    with rear.start("record", "--join", file, "--readings", log, "--speed", "100") as process:
        wait_until(lambda: any(trip["readings"] > 9 for trip in rear.must("status")["trips"]))
        process.kill()
        process.communicate()
    code, _, err = rear.run("record", "--readings", log)
    assert code == 1
    assert "still open" in err
    assert rear.must("record", "--join", file, "--readings", log)["readings"] == 200
    _, records, _ = walk(rear.batches(), joined=start_id)
    assert {record.trip_id for record in records} == {start.trip_id}
    code, _, err = rear.run("record", "--join", file, "--readings", log)
    assert code == 1
    assert "a device records a trip once" in err
    assert rear.must("record", "--readings", log)["trip"] != start.trip_id


def test_a_device_that_joins_needs_no_trip_of_its_own(
    tmp_path: Path, front: Truck, rear: Truck
) -> None:
    log = write_log(tmp_path / "log.csv", 30)
    file = started(front, log)
    rear.config.write_text('device_id = "rear-1"\ndata = "data"\n')
    assert rear.must("record", "--join", file, "--readings", log)["readings"] == 30
    code, _, err = rear.run("record", "--readings", log)
    assert code == 2
    assert "section [trip]" in err


def test_a_device_joins_only_what_names_it_and_is_signed(
    tmp_path: Path, front: Truck, rear: Truck
) -> None:
    log = write_log(tmp_path / "log.csv", 30)
    file = started(front, log)
    other = Truck(tmp_path / "other", device_id="rear-3")
    code, _, err = other.run("record", "--join", file, "--readings", log)
    assert code == 1
    assert "names rear-1, rear-2" in err
    wire, damaged = file.read_bytes(), tmp_path / "damaged.start"
    for content in (b"", wire[:-1], wire[:300] + b"\0" + wire[301:], wire + bytes(200_000)):
        damaged.write_bytes(content)
        code, _, err = rear.run("record", "--join", damaged, "--readings", log)
        assert code == 1
        assert err.startswith("wayseal-device: start of a trip ")
        assert err.count("\n") == 1
    damaged.write_bytes(front.batches()[0].transactions[1].SerializeToString())
    code, _, err = rear.run("record", "--join", damaged, "--readings", log)
    assert code == 1
    assert "expected a StartTrip, got a RecordReading" in err
    assert rear.must("status")["trips"] == []


def test_only_a_trip_of_ones_own_that_names_others_is_shared(
    tmp_path: Path, front: Truck, rear: Truck
) -> None:
    log, out = write_log(tmp_path / "log.csv", 30), tmp_path / "out.start"
    code, _, err = front.run("share", "--out", out)
    assert code == 1
    assert "nothing to share" in err
    file = started(front, log)
    code, _, err = front.run("share", "--out", file)
    assert code == 1
    assert "not overwritten" in err
    rear.must("record", "--join", file, "--readings", log)
    code, _, err = rear.run("share", "--out", out)
    assert code == 1
    assert "nothing to share" in err
    rear.must("record", "--readings", log)
    code, _, err = rear.run("share", "--out", out)
    assert code == 1
    assert "trip.other_devices" in err
    assert not out.exists()


def test_the_start_is_shared_while_the_trip_is_young(tmp_path: Path, front: Truck) -> None:
    log, out = write_log(tmp_path / "log.csv", 30), tmp_path / "out.start"
    with front.start("record", "--readings", log, "--speed", "1") as process:
        wait_until(lambda: front.must("status")["trips"] != [])
        assert front.must("share", "--out", out)["other_devices"] == ["rear-1", "rear-2"]
        process.kill()
        process.communicate()
    assert start_in(out)[0].device_id == "truck-1"


def test_the_agent_waits_for_the_start(tmp_path: Path, front: Truck) -> None:
    log = write_log(tmp_path / "log.csv", 30)
    gateway = (
        '[gateway]\nmqtt = "127.0.0.1:1"\nrest = "http://127.0.0.1:1"\ntoken = "t"\n'
        f'public_keys = ["{key("gateway-buyer").public_key}"]\n'
    )
    source = f'[source]\ndriver = "replay"\nreadings = "{log}"\nspeed = "max"\n'
    rear = Truck(tmp_path / "rear", gateway + source, device_id="rear-1")
    file = front.folder / "trip.start"
    with rear.start("run", "--join", file) as process:
        started(front, log)
        wait_until(lambda: [trip["state"] for trip in rear.must("status")["trips"]] == ["sealed"])
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert rear.must("status")["trips"][0]["trip"] == start_in(file)[0].trip_id
