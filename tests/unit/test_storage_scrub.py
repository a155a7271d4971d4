"""The scrub: everything is looked at, at the set rate, and what was found is never forgotten."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.examining import NO_BLOB, Finding, Flaw, Survey
from storage.recordings.manifest import StoredRecording
from storage.recordings.strays import Stray
from storage.scrub.journal import ROUNDS_KEPT, Journal, Outcome
from storage.scrub.pace import Pace
from storage.scrub.scrub import CHECKPOINT_S, DAY_MS, MANIFEST, Scrub
from storage.scrub.silence import SILENT_AFTER

BYTES_PER_S = 4 * BLOB_BYTES
COPIES = (Copy(Place.VOLUME, "main", FSYNC), Copy(Place.BLOBS, "files", FSYNC))
VOLUME, BLOBS = "volume:main", "blobs:files"


class KilledError(BaseException):
    """Stands for kill -9: nothing after it runs."""


class FakeStore:
    """Recordings of which some blobs are damaged.

    Attributes:
        blobs: By recording, how many blobs it has.
        damage: By recording, blob and copy, whether it can be mended.
        examined: What was looked at, in order.
        die_at: Dies when it is asked to mend that blob, before or after it did.
    """

    def __init__(self, blobs: dict[bytes, int]) -> None:
        self.blobs = blobs
        self.damage: dict[tuple[bytes, int, str], bool] = {}
        self.bad_manifests: dict[bytes, bool] = {}
        self.examined: list[tuple[bytes, int]] = []
        self.passed_over: dict[str, str] = {}
        self.alien: list[Stray] = []
        self.false: list[Stray] = []
        self.die_at: tuple[bytes, int, str] | None = None
        self.down = False
        self.silent: set[str] = set()
        self.lost: set[tuple[bytes, int]] = set()
        self.dropped: set[bytes] = set()
        self.mends = 0
        self.at_mend: Callable[[], None] = lambda: None
        self.at_restore: Callable[[], None] = lambda: None

    def recordings(self) -> Iterator[bytes]:
        return iter(sorted(self.blobs))

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        if recording_id in self.bad_manifests:
            raise RejectedError("checksum differs")
        if recording_id not in self.blobs:
            return None
        leaves = (bytes(32),) * self.blobs[recording_id]
        size = len(leaves) * BLOB_BYTES
        copies = COPIES[1:] if recording_id in self.dropped else COPIES
        return StoredRecording(recording_id, size, root_hash(leaves), leaves, copies)

    def restore_manifest(self, recording_id: bytes, stop: Callable[[], bool]) -> bool:
        self.at_restore()
        if stop():
            return False
        if not self.bad_manifests[recording_id]:
            raise UnavailableError("the blob store is down")
        del self.bad_manifests[recording_id]
        return True

    def survey(self, recording_id: bytes, index: int) -> Survey:
        if self.down:
            raise UnavailableError("the blob store is down")
        if recording_id not in self.blobs:
            raise RejectedError("not whole here")
        self.examined.append((recording_id, index))
        return Survey((VOLUME, BLOBS), self.flaws(recording_id, index))

    def flaws(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        found = [
            Finding(name, at, copy, Flaw.ROTTEN, repaired=False, detail="leaf hash differs")
            for name, at, copy in self.damage
            if (name, at) == (recording_id, index)
        ]
        if (recording_id, index) in self.lost:
            detail = "no file"
            found.append(
                Finding(recording_id, index, VOLUME, Flaw.MISSING, repaired=False, detail=detail)
            )
        found += [
            Finding(recording_id, index, copy, Flaw.UNREAD, repaired=False, detail="no answer")
            for copy in self.silent
        ]
        return tuple(found)

    def mend(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        self.at_mend()
        if recording_id not in self.blobs:
            raise RejectedError("not whole here")
        found = self.flaws(recording_id, index)
        self.mends += 1
        if self.die_at == (recording_id, index, "before"):
            raise KilledError
        mended = []
        for each in found:
            repaired = self.damage.pop((recording_id, index, each.copy), False)
            mended.append(replace(each, repaired=repaired))
            if not repaired and each.kind is Flaw.ROTTEN:
                self.damage[recording_id, index, each.copy] = False
        if (recording_id, index) in self.lost:
            self.dropped.add(recording_id)
        if self.die_at == (recording_id, index, "after"):
            raise KilledError
        return tuple(mended)

    def reseal(self, recording_id: bytes) -> None:
        if recording_id not in self.blobs:
            raise RejectedError("not whole here")

    def not_looked_at(self) -> dict[str, str]:
        return self.passed_over

    def strays(self) -> Iterator[Stray]:
        return iter(self.alien)

    def damaged(self) -> Iterator[Stray]:
        return iter(self.false)


class Rig:
    """A scrub over a store, with a clock that moves only while the scrub pauses."""

    def __init__(self, path: Path, store: FakeStore, every_days: int = 7) -> None:
        self.path, self.store, self.every_days = path, store, every_days
        self.now_ms = 1_000 * DAY_MS
        self.monotonic_s = 0.0
        self.pauses: list[float] = []
        self.stop_after: int | None = None
        self.die_after = 0
        self.journal = Journal(path)
        self.scrub = self._made()

    def _made(self) -> Scrub:
        pace = Pace(BYTES_PER_S, self._pause, lambda: self.monotonic_s)
        return Scrub(
            self.store,
            self.journal,
            pace,
            every_days=self.every_days,
            stopping=lambda: (
                self.stop_after is not None and len(self.store.examined) >= self.stop_after
            ),
            clock_ms=lambda: self.now_ms,
            monotonic_s=lambda: self.monotonic_s,
        )

    def restart(self) -> None:
        self.journal.close()
        self.journal = Journal(self.path)
        self.scrub = self._made()

    def outcomes(self) -> dict[tuple[bytes, int, str, str], str]:
        rows = self.journal.query("SELECT recording, blob, copy, kind, outcome FROM findings")
        return {(name, blob, copy, kind): outcome for name, blob, copy, kind, outcome in rows}

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.monotonic_s += seconds
        if len(self.store.examined) == self.die_after:
            raise KilledError


def name(number: int) -> bytes:
    return bytes([number]) + hashlib.sha256(bytes([number])).digest()[1:]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path / "scrub.db", FakeStore({name(1): 3, name(2): 0, name(3): 50}))
    yield made
    made.journal.close()


def test_a_round_looks_at_every_blob_once(rig: Rig) -> None:
    assert rig.scrub.step()
    assert rig.store.examined == [(name(1), at) for at in range(3)] + [
        (name(3), at) for at in range(50)
    ]
    (ended,) = rig.journal.rounds(9)
    assert (ended.recordings, ended.blobs) == (3, 53)
    assert ended.bytes_read == 53 * BLOB_BYTES * len(COPIES)
    assert (ended.found, ended.mended, ended.not_mended) == (0, 0, 0)
    assert ended.ended_ms == rig.now_ms


def test_the_rate_is_kept(rig: Rig) -> None:
    rig.scrub.step()
    (ended,) = rig.journal.rounds(1)
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
    rig.journal.close()


def test_what_rotted_is_named_mended_and_told(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.store.damage = {(name(3), 7, VOLUME): True, (name(3), 7, BLOBS): False}
    with caplog.at_level(logging.WARNING):
        rig.scrub.step()
    assert rig.outcomes() == {
        (name(3), 7, VOLUME, "rotten"): Outcome.MENDED,
        (name(3), 7, BLOBS, "rotten"): Outcome.NOT_MENDED,
    }
    (ended,) = rig.journal.rounds(1)
    assert (ended.found, ended.mended, ended.not_mended) == (2, 1, 1)
    (error,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert f"{name(3).hex()} blob 7: {BLOBS} cannot be mended" in error.getMessage()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_in_the_middle_of_a_mend_loses_no_finding(rig: Rig, when: str) -> None:
    rig.store.damage = {(name(3), 7, VOLUME): True}
    rig.store.die_at = (name(3), 7, when)
    with pytest.raises(KilledError):
        rig.scrub.step()
    assert rig.outcomes() == {(name(3), 7, VOLUME, "rotten"): Outcome.OPEN}
    rig.store.die_at = None
    rig.store.examined.clear()
    rig.restart()
    assert rig.scrub.step()
    assert rig.store.examined[0] == (name(3), 7)
    assert rig.outcomes() == {(name(3), 7, VOLUME, "rotten"): Outcome.MENDED}
    (ended,) = rig.journal.rounds(9)
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
    (ended,) = rig.journal.rounds(9)
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
    (ended,) = rig.journal.rounds(9)
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
    outcome = Outcome.MENDED if can_be_restored else Outcome.NOT_MENDED
    assert rig.outcomes() == {(name(1), NO_BLOB, MANIFEST, "rotten"): outcome}
    assert ((name(1), 0) in rig.store.examined) is can_be_restored


def test_told_to_stop_while_it_restores_it_goes_on_there(rig: Rig) -> None:
    def stop() -> None:
        rig.stop_after = 0

    rig.store.bad_manifests, rig.store.at_restore = {name(1): True}, stop
    assert not rig.scrub.step()
    assert rig.outcomes() == {(name(1), NO_BLOB, MANIFEST, "rotten"): Outcome.OPEN}
    rig.restart()
    rig.stop_after, rig.store.at_restore = None, lambda: None
    assert rig.scrub.step()
    assert rig.outcomes() == {(name(1), NO_BLOB, MANIFEST, "rotten"): Outcome.MENDED}
    assert (name(1), 0) in rig.store.examined


def test_what_nobody_knows_is_named_and_what_is_out_is_said(rig: Rig) -> None:
    rig.store.alien = [Stray(name(9), "files", "4 blobs")]
    rig.store.passed_over = {VOLUME: "volume main is out"}
    assert rig.scrub.step()
    assert rig.outcomes() == {
        (name(9), NO_BLOB, "files", "orphan"): Outcome.NAMED,
        (b"", NO_BLOB, VOLUME, "not-looked-at"): Outcome.NAMED,
    }


def test_what_another_site_called_whole_and_is_not_is_told_each_round(rig: Rig) -> None:
    rig.store.false = [Stray(name(9), BLOBS, "did not hold")]
    for _ in range(2):
        rig.scrub.begin()
        assert rig.scrub.step()
        assert rig.outcomes() == {(name(9), NO_BLOB, BLOBS, "rotten"): Outcome.NOT_MENDED}
        assert rig.journal.rounds(1)[0].not_mended == 1


def test_a_recording_that_is_deleted_meanwhile_is_no_finding(rig: Rig) -> None:
    rig.store.damage = {(name(3), 7, VOLUME): False}
    rig.store.at_mend = rig.store.blobs.clear
    assert rig.scrub.step()
    assert rig.outcomes() == {}
    (ended,) = rig.journal.rounds(1)
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
    assert rig.outcomes() == {(name(3), 0, VOLUME, "missing"): Outcome.TO_BE_FILLED}
    assert [each.levelno for each in caplog.records] == [logging.WARNING]


def test_a_copy_that_does_not_answer_is_passed_over_after_a_while(rig: Rig) -> None:
    rig.store.silent = {BLOBS}
    assert rig.scrub.step()
    assert rig.store.mends == SILENT_AFTER
    (ended,) = rig.journal.rounds(1)
    assert (ended.not_read, ended.bytes_read) == (53, 53 * BLOB_BYTES)
    rows = rig.journal.query("SELECT copy, kind, outcome FROM findings ORDER BY finding")
    assert rows == [(BLOBS, "unread", Outcome.NOT_MENDED)] * SILENT_AFTER + [
        (BLOBS, "not-looked-at", Outcome.NAMED)
    ]


def test_a_volume_that_is_out_is_said_to_be_and_has_no_findings(rig: Rig) -> None:
    rig.store.silent = {VOLUME}
    rig.store.passed_over = {VOLUME: "volume main is out"}
    rig.store.damage = {(name(3), 7, BLOBS): False}
    assert rig.scrub.step()
    assert rig.outcomes() == {
        (b"", NO_BLOB, VOLUME, "not-looked-at"): Outcome.NAMED,
        (name(3), 7, BLOBS, "rotten"): Outcome.NOT_MENDED,
    }


def test_old_rounds_are_forgotten(rig: Rig) -> None:
    rig.store.blobs = {name(1): 1}
    rig.store.damage = {(name(1), 0, BLOBS): False}
    for _ in range(ROUNDS_KEPT + 2):
        rig.scrub.begin()
        rig.scrub.step()
    assert len(rig.journal.rounds(2 * ROUNDS_KEPT)) == ROUNDS_KEPT
    assert len(rig.journal.query("SELECT 1 FROM findings")) == ROUNDS_KEPT


def test_a_report_of_another_version_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "scrub.db")
    journal.query("PRAGMA user_version = 99")
    journal.close()
    with pytest.raises(UnavailableError, match="has schema 99, this version reads 2"):
        Journal(tmp_path / "scrub.db")


def test_a_report_of_version_1_keeps_all_it_has(rig: Rig) -> None:
    rig.store.damage = {(name(3), 7, BLOBS): False}
    assert rig.scrub.step()
    rig.journal.query("ALTER TABLE rounds DROP COLUMN not_read")
    rig.journal.query("PRAGMA user_version = 1")
    found = rig.outcomes()
    rig.restart()
    assert rig.outcomes() == found
    (ended,) = rig.journal.rounds(9)
    assert (ended.recordings, ended.blobs, ended.found, ended.not_read) == (3, 53, 1, 0)
