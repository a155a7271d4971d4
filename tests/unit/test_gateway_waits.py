"""The gateway's threads say once why they wait, and the blob store is looked at."""

from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.client import UnreachableError
from gateway import worker as workers
from gateway.index.rebuilding import RebuildingError
from gateway.upkeep.blobwatch import BlobWatch
from gateway.worker import Worker
from storage.blobs.files import FileBlobs
from support.storage.faulty_blobs import FaultyBlobs
from support.trucks.rogue import until


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "BACK_OFF_S", 0.0)


def told(caplog: pytest.LogCaptureFixture, failures: list[UnavailableError | None]) -> list[str]:
    """Run a worker whose step fails in these ways, and return its lines."""
    caplog.set_level("INFO")
    left = iter([*failures, None])
    rounds: list[int] = []

    def step() -> bool:
        rounds.append(0)
        failure = next(left, None)
        if failure is not None:
            raise failure
        return False

    worker = Worker("saga", step, idle_s=0.0)
    worker.start()
    until("all failures, and a round after them", lambda: len(rounds) > len(failures) + 1)
    worker.close()
    return [each.getMessage() for each in caplog.records]


def test_a_failure_that_goes_on_has_one_line_and_its_end_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    full = UnavailableError("the disk is full")
    assert told(caplog, [full, full, full, None, full]) == [
        "saga waits: the disk is full",
        "saga goes on",
        "saga waits: the disk is full",
        "saga goes on",
    ]


def test_another_reason_has_its_own_line(caplog: pytest.LogCaptureFixture) -> None:
    assert told(caplog, [UnavailableError("one"), UnavailableError("two")]) == [
        "saga waits: one",
        "saga waits: two",
        "saga goes on",
    ]


def test_an_index_that_is_made_again_is_told_once_while_its_blocks_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert told(caplog, [RebuildingError("1 of 3 blocks"), RebuildingError("2 of 3 blocks")]) == [
        "saga waits: 1 of 3 blocks",
        "saga goes on",
    ]


def test_a_ledger_that_is_out_is_told_by_the_follower_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert told(caplog, [UnreachableError("no ledger")]) == []


def test_a_blob_store_that_goes_and_comes_has_a_line_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    blobs = FaultyBlobs(FileBlobs(tmp_path / "blobs"))
    blobs.down = True
    watch = BlobWatch(blobs)
    watch.look()
    watch.look()
    assert watch.store.reason
    blobs.down = False
    watch.look()
    watch.look()
    assert [each.getMessage() for each in caplog.records] == [
        "the blob store (files) is out: the blob store is down",
        "the blob store (files) is back, after 0 s",
    ]
