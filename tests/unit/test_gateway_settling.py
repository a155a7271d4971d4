"""Deletions that a replica has not confirmed are repeated, and told of once, then once a day."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from gateway.metrics import Metrics
from gateway.upkeep.settling import LATE_MS, Settling
from storage.blobs.files import FileBlobs
from storage.blobs.port import OpenDeletions

NOW_MS = 10 * LATE_MS
NUMBER = b"wayseal_open_deletions "


class Waits(FileBlobs):
    """Files of which a replica is away."""

    left: OpenDeletions | None = OpenDeletions(2, NOW_MS, "2 alive")

    def repeat_deletions(self, stop: Callable[[], bool]) -> OpenDeletions:
        assert not stop()
        if self.left is None:
            raise UnavailableError("the blob store is down")
        return self.left


def test_open_deletions_are_told_of_until_they_are_confirmed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    blobs = Waits(tmp_path)
    settling = Settling(blobs, lambda: NOW_MS)
    assert [settling.step(), settling.step()] == [False, False]
    assert settling.open == OpenDeletions(2, NOW_MS, "2 alive")
    blobs.left = None
    settling.step()
    assert settling.open == OpenDeletions(2, NOW_MS, "the blob store is down")
    blobs.left = OpenDeletions()
    settling.step()
    assert settling.open == OpenDeletions()
    assert [record.getMessage() for record in caplog.records] == [
        "2 deletions are not confirmed by every replica; they are repeated until then: 2 alive",
        "every replica has confirmed all deletions",
    ]


def test_nobody_knows_a_number_before_the_store_could_be_asked(tmp_path: Path) -> None:
    blobs, metrics = Waits(tmp_path), Metrics()
    settling = Settling(blobs, lambda: NOW_MS)
    metrics.watch_deletions(lambda: settling.count)
    for left, count, line in (
        (None, None, None),
        (OpenDeletions(2, NOW_MS, "2 alive"), 2, b"wayseal_open_deletions 2.0"),
        (None, 2, b"wayseal_open_deletions 2.0"),
        (OpenDeletions(), 0, b"wayseal_open_deletions 0.0"),
    ):
        blobs.left = left
        settling.step()
        assert settling.count == count
        shown = [each for each in metrics.text().splitlines() if each.startswith(NUMBER)]
        assert shown == ([line] if line else [])
        assert settling.open.reason == ("the blob store is down" if left is None else left.reason)


def test_a_node_that_is_away_for_a_week_is_to_be_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blobs = Waits(tmp_path)
    blobs.left = OpenDeletions(1, NOW_MS - LATE_MS - 1, "2 alive")
    settling = Settling(blobs, lambda: NOW_MS)
    settling.step()
    settling.step()
    (said,) = [record.getMessage() for record in caplog.records]
    assert "replace the node that is away" in said


def test_files_have_no_open_deletions(tmp_path: Path) -> None:
    settling = Settling(FileBlobs(tmp_path))
    settling.step()
    assert settling.open == OpenDeletions()
