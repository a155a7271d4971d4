"""Scrubs: over recordings damaged as a test wants them, on its own clock; or one fast round."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from contracts.chunktree import BLOB_BYTES, root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.port import Returned
from storage.recordings.blobcopies import Finding, Flaw, Survey
from storage.recordings.manifest import StoredRecording
from storage.recordings.orphans import Orphan
from storage.recordings.store import RecordingStore
from storage.scrub.pace import Pace
from storage.scrub.report import ScrubReport
from storage.scrub.scrub import DAY_MS, Scrub

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
        self.undeleted: list[Returned] = []
        self.alien: list[Orphan] = []
        self.false: list[Orphan] = []
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

    def returned(self, stop: Callable[[], bool]) -> Iterator[Returned]:
        return iter(() if stop() else self.undeleted)

    def orphans(self) -> Iterator[Orphan]:
        return iter(self.alien)

    def damaged(self) -> Iterator[Orphan]:
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
        self.report = ScrubReport(path)
        self.scrub = self._made()

    def _made(self) -> Scrub:
        pace = Pace(BYTES_PER_S, self._pause, lambda: self.monotonic_s)
        return Scrub(
            self.store,
            self.report,
            pace,
            every_days=self.every_days,
            stopping=lambda: (
                self.stop_after is not None and len(self.store.examined) >= self.stop_after
            ),
            clock_ms=lambda: self.now_ms,
            monotonic_s=lambda: self.monotonic_s,
        )

    def restart(self) -> None:
        self.report.close()
        self.report = ScrubReport(self.path)
        self.scrub = self._made()

    def outcomes(self) -> dict[tuple[bytes, int, str, str], str]:
        rows = self.report.query("SELECT recording, blob, copy, kind, outcome FROM findings")
        return {(name, blob, copy, kind): outcome for name, blob, copy, kind, outcome in rows}

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.monotonic_s += seconds
        if len(self.store.examined) == self.die_after:
            raise KilledError


def name(number: int) -> bytes:
    return bytes([number]) + hashlib.sha256(bytes([number])).digest()[1:]


def unhurried(store: RecordingStore, report: ScrubReport) -> Scrub:
    """Return a scrub that never pauses."""
    return Scrub(store, report, Pace(1 << 40, lambda _: None), every_days=0, stopping=lambda: False)


def go_round(store: RecordingStore, report: ScrubReport) -> list[tuple[Any, ...]]:
    """Let a new scrub go round once; return what it found.

    Returns:
        Recording, blob, copy, kind and outcome of each finding.
    """
    scrub = unhurried(store, report)
    number = scrub.begin().number
    assert scrub.step()
    return report.query(
        "SELECT recording, blob, copy, kind, outcome FROM findings WHERE round = ?"
        " ORDER BY finding",
        number,
    )
