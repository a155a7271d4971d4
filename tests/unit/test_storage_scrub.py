"""The scrub: everything is looked at, at the set rate, and what was found is never forgotten."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import UnavailableError
from storage.blobs.port import Returned
from storage.recordings.blobcopies import MANIFEST, NO_BLOB
from storage.recordings.orphans import Orphan
from storage.scrub.pace import Pace
from storage.scrub.report import ROUNDS_KEPT, FindingOutcome, ScrubReport
from storage.scrub.scrub import CHECKPOINT_S, DAY_MS
from storage.scrub.silence import SILENT_AFTER
from support.storage.scrubs import (
    BLOBS,
    BYTES_PER_S,
    COPIES,
    VOLUME,
    FakeStore,
    KilledError,
    Rig,
    name,
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path / "scrub.db", FakeStore({name(1): 3, name(2): 0, name(3): 50}))
    yield made
    made.report.close()


def test_a_round_looks_at_every_blob_once(rig: Rig) -> None:
    assert rig.scrub.step()
    assert rig.store.examined == [(name(1), at) for at in range(3)] + [
        (name(3), at) for at in range(50)
    ]
    (ended,) = rig.report.rounds(9)
    assert (ended.recordings, ended.blobs) == (3, 53)
    assert ended.bytes_read == 53 * BLOB_BYTES * len(COPIES)
    assert (ended.found, ended.mended, ended.not_mended) == (0, 0, 0)
    assert ended.ended_ms == rig.now_ms


def test_the_rate_is_kept(rig: Rig) -> None:
    rig.scrub.step()
    (ended,) = rig.report.rounds(1)
    assert sum(rig.pauses) == pytest.approx(ended.bytes_read / BYTES_PER_S)


def test_reading_that_took_long_is_not_paused_for_and_not_made_up_for() -> None:
    clock = [0.0]
    pauses: list[float] = []
    pace = Pace(100, pauses.append, lambda: clock[0])
    clock[0] = 10.0
    pace.spend(500)
    assert pauses == []
    pace.spend(500)
    assert pauses == [5.0]


def test_a_round_comes_when_it_is_due(rig: Rig) -> None:
    assert rig.scrub.step()
    assert not rig.scrub.step()
    rig.now_ms += 7 * DAY_MS - 1
    assert not rig.scrub.step()
    rig.now_ms += 1
    assert rig.scrub.step()


def test_a_clock_that_jumps_costs_one_round_at_most(rig: Rig) -> None:
    rig.scrub.step()
    for jump in (20 * 365 * DAY_MS, -30 * 365 * DAY_MS):
        rig.now_ms += jump
        assert rig.scrub.step()
        assert not rig.scrub.step()


def test_none_comes_by_itself_when_there_shall_be_none(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "scrub.db", FakeStore({name(1): 1}), every_days=0)
    assert not rig.scrub.step()
    begun = rig.scrub.begin()
    assert rig.scrub.begin().number == begun.number
    assert rig.scrub.step()
    rig.report.close()


def test_what_rotted_is_named_mended_and_told(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.store.damage = {(name(3), 7, VOLUME): True, (name(3), 7, BLOBS): False}
    with caplog.at_level(logging.WARNING):
        rig.scrub.step()
    assert rig.outcomes() == {
        (name(3), 7, VOLUME, "rotten"): FindingOutcome.MENDED,
        (name(3), 7, BLOBS, "rotten"): FindingOutcome.NOT_MENDED,
    }
    (ended,) = rig.report.rounds(1)
    assert (ended.found, ended.mended, ended.not_mended) == (2, 1, 1)
    (error,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert f"{name(3).hex()} blob 7: {BLOBS} cannot be mended" in error.getMessage()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_in_the_middle_of_a_mend_loses_no_finding(rig: Rig, when: str) -> None:
    rig.store.damage = {(name(3), 7, VOLUME): True}
    rig.store.die_at = (name(3), 7, when)
    with pytest.raises(KilledError):
        rig.scrub.step()
    assert rig.outcomes() == {(name(3), 7, VOLUME, "rotten"): FindingOutcome.OPEN}
    rig.store.die_at = None
    rig.store.examined.clear()
    rig.restart()
    assert rig.scrub.step()
    assert rig.store.examined[0] == (name(3), 7)
    assert rig.outcomes() == {(name(3), 7, VOLUME, "rotten"): FindingOutcome.MENDED}
    (ended,) = rig.report.rounds(9)
    assert (ended.recordings, ended.blobs, ended.found, ended.mended) == (3, 53, 1, 1)


def test_it_stops_when_told_and_goes_on_at_the_same_blob(rig: Rig) -> None:
    rig.stop_after = 20
    assert not rig.scrub.step()
    assert len(rig.store.examined) == 20
    rig.restart()
    rig.stop_after = None
    assert rig.scrub.step()
    assert len(rig.store.examined) == 53
    assert len(set(rig.store.examined)) == 53
    (ended,) = rig.report.rounds(9)
    assert (ended.recordings, ended.blobs) == (3, 53)


def test_a_kill_repeats_no_more_than_a_checkpoint(rig: Rig) -> None:
    rig.die_after = 45
    with pytest.raises(KilledError):
        rig.scrub.step()
    rig.store.examined.clear()
    rig.restart()
    rig.scrub.step()
    repeated = len(rig.store.examined) - (53 - rig.die_after)
    assert 0 < repeated <= CHECKPOINT_S * BYTES_PER_S / BLOB_BYTES / len(COPIES) + 1
    (ended,) = rig.report.rounds(9)
    assert (ended.recordings, ended.blobs) == (3, 53)


def test_a_medium_that_fails_as_a_whole_stops_the_round_and_ends_nothing(rig: Rig) -> None:
    rig.store.down = True
    with pytest.raises(UnavailableError):
        rig.scrub.step()
    rig.store.down = False
    assert rig.scrub.step()
    assert rig.outcomes() == {}


@pytest.mark.parametrize("can_be_restored", [True, False])
def test_a_damaged_manifest_is_named_and_restored(rig: Rig, can_be_restored: bool) -> None:  # noqa: FBT001
    rig.store.bad_manifests = {name(1): can_be_restored}
    assert rig.scrub.step()
    outcome = FindingOutcome.MENDED if can_be_restored else FindingOutcome.NOT_MENDED
    assert rig.outcomes() == {(name(1), NO_BLOB, MANIFEST, "rotten"): outcome}
    assert ((name(1), 0) in rig.store.examined) is can_be_restored


def test_told_to_stop_while_it_restores_it_goes_on_there(rig: Rig) -> None:
    def stop() -> None:
        rig.stop_after = 0

    rig.store.bad_manifests, rig.store.at_restore = {name(1): True}, stop
    assert not rig.scrub.step()
    assert rig.outcomes() == {(name(1), NO_BLOB, MANIFEST, "rotten"): FindingOutcome.OPEN}
    rig.restart()
    rig.stop_after, rig.store.at_restore = None, lambda: None
    assert rig.scrub.step()
    assert rig.outcomes() == {(name(1), NO_BLOB, MANIFEST, "rotten"): FindingOutcome.MENDED}
    assert (name(1), 0) in rig.store.examined


def test_what_nobody_knows_is_named_and_what_is_out_is_said(rig: Rig) -> None:
    rig.store.alien = [Orphan(name(9), "files", "4 blobs")]
    rig.store.passed_over = {VOLUME: "volume main is out"}
    assert rig.scrub.step()
    assert rig.outcomes() == {
        (name(9), NO_BLOB, "files", "orphan"): FindingOutcome.NAMED,
        (b"", NO_BLOB, VOLUME, "not-looked-at"): FindingOutcome.NAMED,
    }


def test_what_another_site_called_whole_and_is_not_is_told_each_round(rig: Rig) -> None:
    rig.store.false = [Orphan(name(9), BLOBS, "did not hold")]
    for _ in range(2):
        rig.scrub.begin()
        assert rig.scrub.step()
        assert rig.outcomes() == {(name(9), NO_BLOB, BLOBS, "rotten"): FindingOutcome.NOT_MENDED}
        assert rig.report.rounds(1)[0].not_mended == 1


def test_a_recording_that_is_deleted_meanwhile_is_no_finding(rig: Rig) -> None:
    rig.store.damage = {(name(3), 7, VOLUME): False}
    rig.store.at_mend = rig.store.blobs.clear
    assert rig.scrub.step()
    assert rig.outcomes() == {}
    (ended,) = rig.report.rounds(1)
    assert (ended.found, ended.not_mended, ended.recordings) == (0, 0, 2)


def test_a_copy_that_is_given_up_meanwhile_is_no_finding(rig: Rig) -> None:
    rig.store.damage = {(name(3), 7, VOLUME): False}

    def drop() -> None:
        rig.store.dropped.add(name(3))
        rig.store.damage.clear()

    rig.store.at_mend = drop
    assert rig.scrub.step()
    assert rig.outcomes() == {}


def test_a_whole_file_that_is_gone_is_left_to_the_backlog(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.store.lost = {(name(3), 0)}
    with caplog.at_level(logging.WARNING):
        assert rig.scrub.step()
    assert rig.outcomes() == {(name(3), 0, VOLUME, "missing"): FindingOutcome.TO_BE_FILLED}
    assert [each.levelno for each in caplog.records] == [logging.WARNING]


def test_a_copy_that_does_not_answer_is_passed_over_after_a_while(rig: Rig) -> None:
    rig.store.silent = {BLOBS}
    assert rig.scrub.step()
    assert rig.store.mends == SILENT_AFTER
    (ended,) = rig.report.rounds(1)
    assert (ended.not_read, ended.bytes_read) == (53, 53 * BLOB_BYTES)
    rows = rig.report.query("SELECT copy, kind, outcome FROM findings ORDER BY finding")
    assert rows == [(BLOBS, "unread", FindingOutcome.NOT_MENDED)] * SILENT_AFTER + [
        (BLOBS, "not-looked-at", FindingOutcome.NAMED)
    ]


def test_a_volume_that_is_out_is_said_to_be_and_has_no_findings(rig: Rig) -> None:
    rig.store.silent = {VOLUME}
    rig.store.passed_over = {VOLUME: "volume main is out"}
    rig.store.damage = {(name(3), 7, BLOBS): False}
    assert rig.scrub.step()
    assert rig.outcomes() == {
        (b"", NO_BLOB, VOLUME, "not-looked-at"): FindingOutcome.NAMED,
        (name(3), 7, BLOBS, "rotten"): FindingOutcome.NOT_MENDED,
    }


def test_old_rounds_are_forgotten(rig: Rig) -> None:
    rig.store.blobs = {name(1): 1}
    rig.store.damage = {(name(1), 0, BLOBS): False}
    for _ in range(ROUNDS_KEPT + 2):
        rig.scrub.begin()
        rig.scrub.step()
    assert len(rig.report.rounds(2 * ROUNDS_KEPT)) == ROUNDS_KEPT
    assert len(rig.report.query("SELECT 1 FROM findings")) == ROUNDS_KEPT


def test_a_report_of_another_version_is_refused(tmp_path: Path) -> None:
    report = ScrubReport(tmp_path / "scrub.db")
    report.query("PRAGMA user_version = 99")
    report.close()
    with pytest.raises(UnavailableError, match="expected version 1 to 3, got 99"):
        ScrubReport(tmp_path / "scrub.db")


def test_a_report_of_version_1_keeps_all_it_has(rig: Rig) -> None:
    rig.store.damage = {(name(3), 7, BLOBS): False}
    assert rig.scrub.step()
    for column in ("not_read", "deletions_ms"):
        rig.report.query(f"ALTER TABLE rounds DROP COLUMN {column}")
    rig.report.query("PRAGMA user_version = 1")
    found = rig.outcomes()
    rig.restart()
    assert rig.outcomes() == found
    (ended,) = rig.report.rounds(9)
    assert (ended.recordings, ended.blobs, ended.found, ended.not_read) == (3, 53, 1, 0)


def test_what_a_replica_has_of_a_deleted_recording_is_reported(rig: Rig) -> None:
    rig.store.undeleted = [
        Returned(name(8), "cassandra 10.0.0.1", "deleted, but has its manifest", repaired=True),
        Returned(name(9), "cassandra 10.0.0.2", "deleted, but has its manifest; 2 alive"),
    ]
    assert rig.scrub.step()
    assert {key[2:]: outcome for key, outcome in rig.outcomes().items()} == {
        ("blobs:cassandra 10.0.0.1", "undeleted"): "mended",
        ("blobs:cassandra 10.0.0.2", "undeleted"): "not-mended",
    }
    assert rig.report.deletions_checked_ms() == rig.now_ms
    rig.store.undeleted = [Returned(b"", "cassandra 10.0.0.2", "no answer")]
    rig.now_ms += 7 * DAY_MS
    assert rig.scrub.step()
    assert rig.report.deletions_checked_ms() == rig.now_ms - 7 * DAY_MS
