"""Two devices of one truck, offloaded in the wrong order, singly and in runs, to a verdict."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demo.appliance import Appliance
from demo.auditor import Auditor, judge
from demo.truck import Truck
from support.ledgers.walk import committed
from support.trucks.rogue import until

pytestmark = pytest.mark.e2e

HOLDS = 0
READINGS = 1080


@dataclass(frozen=True)
class Pair:
    """The device that started the trip, and the one that joined it."""

    front: Truck
    rear: Truck
    trip_id: str


def recorded(appliance: Appliance, trip_files: Path, directory: Path, per_transaction: int) -> Pair:
    """Let two devices of one truck record the same trip, with the very same video."""
    front = Truck(directory / "front", "front-1", per_transaction, ("rear-1",))
    rear = Truck(directory / "rear", "rear-1", per_transaction)
    front.join(appliance)
    rear.join(appliance)
    files = [f"--readings={trip_files / 'readings.csv'}", f"--video={trip_files / 'video.avi'}"]
    trip = front.ask("record", *files)
    start = directory / "trip.start"
    front.ask("share", "--out", str(start))
    joined = rear.ask("record", *files, "--join", str(start))
    assert trip == joined
    assert trip["readings"] == READINGS
    return Pair(front, rear, str(trip["trip"]))


@pytest.mark.parametrize(
    "per_transaction",
    [pytest.param(1, id="one", marks=pytest.mark.long), pytest.param(60, id="runs")],
)
def test_two_devices_in_the_wrong_order_end_in_evidence_that_holds(
    appliance: Appliance, operator: Auditor, trip_files: Path, tmp_path: Path, per_transaction: int
) -> None:
    pair = recorded(appliance, trip_files, tmp_path, per_transaction)
    rear = pair.rear.begin("offload")
    until("the rear waits for the start", lambda: bool(visit_of(operator, "rear-1")["blocked_by"]))
    assert rear.poll() is None
    assert committed(appliance.ledger)[0] == {}
    assert pair.front.ask("offload")["receipted"] == [pair.trip_id]
    said, _ = rear.communicate(timeout=120)
    assert rear.returncode == 0, said
    for truck, device_id in ((pair.front, "front-1"), (pair.rear, "rear-1")):
        readings, videos = committed(appliance.ledger, device_id)
        assert readings == {(pair.trip_id, at): 1 for at in range(READINGS)}
        assert list(videos.values()) == [1]
        (trip,) = truck.ask("status")["trips"]
        assert trip["state"] == "receipted"
        visit = visit_of(operator, device_id)
        assert visit["readings"] == {"committed": READINGS}
        assert visit["receipted"]
    check_audit(appliance, pair, tmp_path)


def visit_of(operator: Auditor, device_id: str) -> dict[str, Any]:
    for visit in operator.pages("/v1/offloads"):
        if visit["device_id"] == device_id:
            return visit
    return {"blocked_by": {}}


def check_audit(appliance: Appliance, pair: Pair, directory: Path) -> None:
    auditor = Auditor(appliance.rest, appliance.token("auditor", "auditor"))
    try:
        assert auditor.audit(pair.trip_id).readings == 2 * READINGS
        seals = auditor.ask(f"/v1/trips/{pair.trip_id}")["seals"]
        assert {(seal["device_id"], seal["reading_count"]) for seal in seals} == {
            ("front-1", READINGS),
            ("rear-1", READINGS),
        }
        assert auditor.ask(f"/v1/trips/{pair.trip_id}/findings")["items"] == []
        evidence = directory / "evidence"
        auditor.export(pair.trip_id, evidence)
    finally:
        auditor.close()
    status, words = judge(evidence, appliance.trust_file(), directory / "desk")
    assert status == HOLDS, words
    assert f"{2 * READINGS} readings" in words
