"""A receipt that is not final: the truck keeps everything, says so, and offers it again."""

import json
import signal
import sqlite3
from pathlib import Path

import pytest

from contracts.proto.wire_pb2 import ReceiptBody
from contracts.runtime.commands import FAILED, PROVISIONAL
from device.commands.simulate import TripFiles
from device.offload.receipts import NOT_PINNED
from support.gateways.truck_gateway import COPIES, GENESIS, SIGNER, FakeGateway
from support.machine.waiting import wait_until
from support.network.world import key
from support.trucks.truck import Truck, replaying, sealed_truck, write_log

pytestmark = pytest.mark.integration

VOLUME = COPIES[:1]
TRIES = 10


@pytest.fixture
def truck(gateway: FakeGateway, files: TripFiles, tmp_path: Path) -> Truck:
    return sealed_truck(tmp_path / "truck", gateway.section, files)


def kept(truck: Truck) -> tuple[int, list[str]]:
    """Return how many batches, and which videos, are still on the truck."""
    videos = (truck.data / "videos").rglob("*.*")
    return len(truck.batches()), sorted(path.name for path in videos)


def offload(truck: Truck) -> tuple[str, str]:
    """Offload with little patience until it ends provisionally; return stdout and stderr.

    A machine that is busy may need more than one try: each says by its status that it was cut
    short.
    """
    for _ in range(TRIES):
        code, out, err = truck.run("offload", "--wait-s", "1", "--json")
        if code != FAILED:
            break
        assert "nothing moved" in err
    assert code == PROVISIONAL, err
    return out, err


def lacking(truck: Truck) -> list[str]:
    (trip,) = truck.must("status")["trips"]
    assert trip["state"] == "sealed"
    assert trip["receipt"]["final"] is False
    return list(trip["lacking"])


def test_all_is_kept_and_said_until_the_next_site_gives_a_final_receipt(
    truck: Truck, gateway: FakeGateway
) -> None:
    before = kept(truck)
    gateway.copies = list(VOLUME)
    out, err = offload(truck)
    assert "no final receipt yet" in err
    assert kept(truck) == before
    (lacks,) = lacking(truck)
    (trip,) = truck.must("status")["trips"]
    assert json.loads(out) == {
        "receipted": [],
        "provisional": [{"trip": trip["trip"], "lacking": [lacks]}],
        "left": {"batches": before[0], "recordings": 1},
    }
    assert lacks.endswith("has no copy blobs")
    _, text, _ = truck.run("status")
    assert "provisional receipt from site-buyer in block 7" in text
    assert f"    {lacks}" in text
    gateway.copies = list(COPIES)
    (trip,) = truck.must("offload")["receipted"]
    assert kept(truck) == (0, [])
    (found,) = truck.must("status")["trips"]
    assert (found["trip"], found["state"], found["lacking"]) == (trip, "receipted", [])
    assert found["receipt"]["final"] is True


def test_people_are_told_what_lacks(truck: Truck, gateway: FakeGateway) -> None:
    gateway.copies = []
    offload(truck)
    code, out, _ = truck.run("offload", "--wait-s", "1")
    assert code == PROVISIONAL
    assert "provisional receipt; committed, and kept here because of" in out
    assert "has no copy volume" in out
    assert "has no copy blobs" in out
    assert out.endswith("offload again, here or at the next site\n")


def test_a_final_receipt_that_follows_while_the_truck_waits_ends_it(
    truck: Truck, gateway: FakeGateway
) -> None:
    gateway.copies = list(VOLUME)
    with truck.start("offload", "--wait-s", "60") as process:
        wait_until(lambda: has_provisional(truck))
        assert process.poll() is None
        gateway.copies = list(COPIES)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert kept(truck) == (0, [])


def has_provisional(truck: Truck) -> bool:
    connection = sqlite3.connect(truck.data / "journal.sqlite")
    try:
        return bool(connection.execute("SELECT 1 FROM lacking").fetchall())
    except sqlite3.OperationalError:  # the journal is about to be made
        return False
    finally:
        connection.close()


def test_what_the_gateway_lacks_counts_too(truck: Truck, gateway: FakeGateway) -> None:
    def stricter(body: ReceiptBody) -> None:
        body.lacking.append("recording of another site has no copy tape")

    before = kept(truck)
    gateway.alter = stricter
    offload(truck)
    assert lacking(truck) == ["recording of another site has no copy tape"]
    assert kept(truck) == before


def test_the_trucks_own_policy_decides(truck: Truck, gateway: FakeGateway) -> None:
    before = kept(truck)
    truck.environment["WAYSEAL_GATEWAY__RECEIPT_REQUIRES"] = "volume,blobs:QUORUM"
    offload(truck)
    assert [what.split(" has ")[1] for what in lacking(truck)] == ["no copy blobs:QUORUM"]
    assert kept(truck) == before
    gateway.copies = [COPIES[0], "blobs:cassandra:EACH_QUORUM"]
    truck.must("offload")
    assert kept(truck) == (0, [])


def test_a_wrong_receipt_is_no_provisional_one(truck: Truck, gateway: FakeGateway) -> None:
    def other(body: ReceiptBody) -> None:
        body.recordings[0].tree_root = bytes(32)

    gateway.copies = list(VOLUME)
    gateway.alter = other
    before = kept(truck)
    code, _, err = truck.run("offload", "--wait-s", "1")
    assert code == FAILED
    assert "1 trip has no final receipt" in err
    assert kept(truck) == before
    (trip,) = truck.must("status")["trips"]
    assert trip["receipt"] is None


def test_the_reason_that_is_shown_is_that_of_the_last_receipt(truck: Truck) -> None:
    before, settings = kept(truck), truck.config.read_text()
    pinned = f'genesis_block_id = "{GENESIS}"\n'
    truck.config.write_text(settings.replace(pinned, ""))
    offload(truck)
    assert lacking(truck) == [NOT_PINNED]
    own, other = SIGNER.public_key, key("gateway-seller").public_key
    truck.config.write_text(settings.replace(own, other))
    code, out, _ = truck.run("offload", "--wait-s", "1")
    assert code == PROVISIONAL
    untrusted = f"receipt by a gateway whose key is not trusted: '{own}'"
    assert f"kept here because of\n  the last receipt does not count: {untrusted}\n" in out
    assert lacking(truck) == [f"the last receipt does not count: {untrusted}"]
    assert kept(truck) == before
    truck.config.write_text(settings)
    truck.must("offload")
    assert kept(truck) == (0, [])


def test_a_trip_without_recordings_needs_no_copies(gateway: FakeGateway, tmp_path: Path) -> None:
    truck = Truck(tmp_path / "truck", gateway.section)
    truck.must("record", "--readings", write_log(tmp_path / "log.csv", 5))
    gateway.copies = []
    assert len(truck.must("offload")["receipted"]) == 1


def test_a_kill_leaves_a_provisional_receipt_or_none(truck: Truck, gateway: FakeGateway) -> None:
    before = kept(truck)
    gateway.copies = list(VOLUME)
    with truck.start("offload", "--wait-s", "60") as process:
        wait_until(lambda: has_provisional(truck))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    assert kept(truck) == before
    assert len(lacking(truck)) == 1


def test_the_agent_goes_on_until_the_receipt_is_final(
    gateway: FakeGateway, files: TripFiles, tmp_path: Path
) -> None:
    agent = Truck(tmp_path / "agent", gateway.section + replaying(files))
    gateway.copies = list(VOLUME)
    with agent.start("run") as process:
        wait_until(lambda: (agent.data / "journal.sqlite").exists() and has_provisional(agent))
        gateway.copies = list(COPIES)
        wait_until(lambda: kept(agent) == (0, []))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    (trip,) = agent.must("status")["trips"]
    counts = f"{trip['readings']} readings, 1 recording"
    assert err.count(f"trip {trip['trip']}: receipted, and deleted here: {counts}\n") == 1
