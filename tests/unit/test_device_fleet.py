"""What a fleet says of a gateway: percentiles, rates, and the trucks that failed."""

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.ledger.engine.submissions import QUEUED_BATCHES_MAX
from contracts.ledger.fromjson import BatchStatus
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.recording import RecordingDigest
from contracts.sawtooth.batches import Status
from device.camera.seeded import SeededCamera
from device.fleet import network
from device.fleet.report import ERRORS_SHOWN_MAX, Report
from device.fleet.sending import TRUCKS_MAX
from device.fleet.truck import INTERVAL_MS, Leg, Load, Offloaded
from device.sensors.simulated import SimulatedTrip
from device.stop import Stop

LOAD = Load(readings=10, per_transaction=1, video_bytes=1_000_000, seed=1)


def test_figures_are_those_of_trucks_with_a_receipt() -> None:
    times = [Offloaded(100.0, 100.0 + each, 10) for each in range(1, 21)]
    random.Random(1).shuffle(times)
    found = Report(21, LOAD, times, {"fleet-20": "lost"}, 3.0).document()
    assert (found["offload_p50_s"], found["offload_p95_s"], found["offload_max_s"]) == (10, 19, 20)
    assert (found["elapsed_s"], found["readings_per_s"], found["bytes_per_s"]) == (20, 10, 1e6)
    assert (found["trucks"], found["receipted"], found["failed"]) == (21, 20, 1)


def test_a_fleet_that_got_nothing_has_no_rates() -> None:
    errors = {f"fleet-{number}": "lost" for number in range(ERRORS_SHOWN_MAX + 2)}
    report = Report(len(errors), LOAD, [], errors, 3.0)
    found = report.document()
    assert (found["offload_p50_s"], found["readings_per_s"], found["elapsed_s"]) == (None,) * 3
    assert not report.complete
    assert report.text().splitlines()[-1] == "and 2 more"


@pytest.mark.parametrize("size", [1, 1 << 20, (1 << 20) + 7])
def test_a_film_by_chance_is_the_same_for_the_same_seed(size: int, tmp_path: Path) -> None:
    footage = SeededCamera(5, size).film(tmp_path / "a.bin")
    SeededCamera(5, size).film(tmp_path / "b.bin")
    content = (tmp_path / "a.bin").read_bytes()
    assert len(content) == size
    assert content == (tmp_path / "b.bin").read_bytes()
    assert footage.source_sha256 == RecordingDigest.of_file(tmp_path / "a.bin").sha256
    SeededCamera(6, size).film(tmp_path / "c.bin")
    assert content != (tmp_path / "c.bin").read_bytes()


def test_a_leg_has_a_reading_each_second() -> None:
    samples = list(Leg(SimulatedTrip(20, 1), 100).samples())
    assert [sample.offset_ms for sample in samples] == [at * INTERVAL_MS for at in range(100)]


class Ledger:
    """Commits whatever it gets, as long as it would queue it."""

    lists: list[Sequence[Batch]]

    def __init__(self, _: object) -> None:
        pass

    def submit(self, batches: Sequence[Batch]) -> None:
        assert len(batches) <= QUEUED_BATCHES_MAX
        self.lists.append(batches)

    def statuses(self, names: Sequence[str], *, wait_s: int) -> dict[str, BatchStatus]:
        assert wait_s > 0
        return dict.fromkeys(names, BatchStatus(Status.COMMITTED, ""))

    def close(self) -> None:
        pass


def test_the_largest_fleet_is_registered_in_lists_that_a_ledger_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Ledger.lists = []
    monkeypatch.setattr(network, "LedgerClient", Ledger)
    keys = {f"truck-{number}": Signer.generate().public_key for number in range(TRUCKS_MAX)}
    deliveries = {name: f"delivery-{name}" for name in keys}
    with closing(Stop()) as stop:
        network.register("http://ledger.invalid", Signer.generate(), keys, deliveries, stop)
    batches = [batch for some in Ledger.lists for batch in some]
    assert len({batch.header_signature for batch in batches}) == len(batches)
    assert len(batches) > QUEUED_BATCHES_MAX
