"""Kill -9 at every step of a deletion and of a mend: the record stands, the work is ended after."""

import shutil
import signal
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from contracts.copies import Copy
from gateway.retention.deletions import DeletionState
from storage.recordings.store import RecordingStore
from storage.scrub.report import FindingOutcome, ScrubReport
from support.gateways.retention import BLOBS, VOLUME, real_desk, trip
from support.storage.stores import blob_file, flip, open_store, put, volume_file
from support.storage.victim import NEVER, SETTINGS, TESTS_ON_THE_PATH, VICTIM

pytestmark = pytest.mark.integration

DATA: Final = bytes(range(256)) * 4096 * 2 + b"end"
STEPS_MAX: Final = 60
"""More file operations than either has; the last run is not killed."""


def survived(*work: object) -> bool:
    """Do work that is killed at a step; say whether it lived to its end."""
    done = subprocess.run(  # noqa: S603 - our own script
        [*VICTIM, *map(str, work)],
        env=TESTS_ON_THE_PATH,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0


@pytest.mark.parametrize(
    ("days", "left"), [pytest.param(11, (BLOBS,), marks=pytest.mark.long), (101, None)]
)
def test_a_deletion_that_is_killed_anywhere_ends_as_it_was_recorded(
    tmp_path: Path, days: int, left: tuple[Copy, ...] | None
) -> None:
    template = tmp_path / "template"
    with real_desk(template, SETTINGS) as desk:
        assert isinstance(desk.kept, RecordingStore)
        one = put(desk.kept, DATA)
        desk.offer(one, trip(1))
        desk.commit(one, trip(1))
        desk.receipt(trip(1), one)
        assert not desk.step()
    for step in range(1, STEPS_MAX):
        root = tmp_path / str(step)
        shutil.copytree(template, root)
        lived = survived("delete", root, days, step)
        with real_desk(root, SETTINGS) as desk:
            begun = desk.deletions.of(one)
            manifest = desk.kept.manifest(one)
            if manifest is None or manifest.copies != (VOLUME, BLOBS):
                assert begun, "deleted without a record"
            desk.days(days)
            desk.steps()
            (ended,) = desk.deletions.of(one)
            assert ended.state is DeletionState.DONE
            manifest = desk.kept.manifest(one)
            assert (manifest.copies if manifest else None) == left
            assert not volume_file(root, one).exists()
            assert blob_file(root, one, 0).exists() is (left is not None)
        if lived:
            assert step > 3
            return
    pytest.fail("it was killed each time")


def test_a_mend_that_is_killed_anywhere_is_ended_and_told(tmp_path: Path) -> None:
    template = tmp_path / "template"
    with open_store(template) as store:
        one = put(store, DATA)
    flip(volume_file(template, one), 5)
    flip(blob_file(template, one, 1), 77)
    for step in range(1, STEPS_MAX):
        root = tmp_path / str(step)
        shutil.copytree(template, root)
        lived = survived("scrub", root, step)
        assert survived("scrub", root, NEVER)
        with open_store(root) as store, closing(ScrubReport(root / "scrub.db")) as report:
            assert store.verify(one).holds
            rounds = report.rounds(9)
            assert [each.ended_ms is None for each in rounds] == [False] * len(rounds)
            assert (sum(each.found for each in rounds), rounds[-1].mended) == (2, 2)
            outcomes = report.query("SELECT outcome FROM findings")
            assert outcomes == [(FindingOutcome.MENDED,)] * 2
        if lived:
            assert step > 3
            return
    pytest.fail("it was killed each time")
