"""Walks everything that is stored, a blob at a time, at a set rate.

    for each recording   its manifest, then each blob of every copy and replica
    then                 what is stored and belongs to no recording

The cursor is durable every `CHECKPOINT_S`, and with every finding, so a round
goes on where it was when the process ended, however it ended. What was deleted
or written meanwhile is no finding.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from contracts.chunktree import blob_size
from contracts.errors import RejectedError, WaysealError
from contracts.records.clock import now_ms
from storage.recordings.manifest import StoredRecording
from storage.scrub.journal import NO_BLOB, Found, Journal, Outcome, Round, Stage
from storage.scrub.pace import Pace
from storage.scrub.port import Finding, Scrubbed

CHECKPOINT_S: Final = 5.0
"""Most work that a kill makes the scrub repeat, seconds."""
DAY_MS: Final = 86_400_000
MANIFEST: Final = "manifest"
"""Names the manifest in the place of a copy."""

_log = logging.getLogger(__name__)


class Scrub:
    """Goes through a store, round after round; `step` is called by one thread.

    Args:
        store: What it looks at.
        journal: Where it writes down what it found.
        pace: How fast it may read.
        every_days: From the start of one round to the next; 0 begins none by itself.
        stopping: Says whether the process shall stop.
        clock_ms: The wall clock.
        monotonic_s: Seconds since any moment.
    """

    def __init__(
        self,
        store: Scrubbed,
        journal: Journal,
        pace: Pace,
        *,
        every_days: int,
        stopping: Callable[[], bool],
        clock_ms: Callable[[], int] = now_ms,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._journal = journal
        self._pace = pace
        self._every_ms = every_days * DAY_MS
        self._stopping = stopping
        self._clock_ms = clock_ms
        self._monotonic_s = monotonic_s
        self._saved_s = monotonic_s()
        self._beginning = threading.Lock()

    def begin(self) -> Round:
        """Begin a round now, unless one is under way; return it. For any thread."""
        with self._beginning:
            return self._journal.current() or self._journal.begin(self._clock_ms())

    def step(self) -> bool:
        """Go on with the round under way, or one that is due, to its end or until told to stop.

        Returns:
            Whether a round ended.

        Raises:
            UnavailableError: A medium failed as a whole; the round goes on later.
        """
        at = self._journal.current() or (self.begin() if self._is_due() else None)
        if at is None:
            return False
        if at.stage is Stage.RECORDINGS:
            at = self._through_recordings(at)
        if at.stage is Stage.ORPHANS and self._strays_named(at):
            self._journal.end(at, self._clock_ms())
            self._say_end()
            return True
        return False

    def _is_due(self) -> bool:
        """Say whether the last round began long enough ago, or in a future that was none."""
        if not self._every_ms:
            return False
        last = self._journal.rounds(1)
        return not last or not 0 <= self._clock_ms() - last[0].begun_ms < self._every_ms

    def _through_recordings(self, at: Round) -> Round:
        """Go on from the cursor; return where the round stands."""
        for recording_id in self._store.recordings():
            if recording_id < at.recording_id:
                continue
            if recording_id > at.recording_id:
                at = replace(at, recording_id=recording_id, index=0)
            at = self._through_blobs(at)
            if self._stopping():
                self._journal.save(at)
                return at
        at = replace(at, stage=Stage.ORPHANS, recording_id=b"", index=0)
        self._journal.save(at)
        return at

    def _through_blobs(self, at: Round) -> Round:
        manifest = self._manifest(at)
        if manifest is None:
            return at
        self._name_what_is_passed_over(at)
        while at.index < len(manifest.leaves):
            if self._stopping():
                return at
            self._look_at(at)
            read = blob_size(manifest.size, at.index) * len(manifest.copies)
            at = replace(
                at, index=at.index + 1, blobs=at.blobs + 1, bytes_read=at.bytes_read + read
            )
            self._checkpoint(at)
            self._pace.spend(read)
        # Beyond the last blob, so that a restart does not count the recording again.
        at = replace(at, recording_id=_after(at.recording_id), index=0)
        return replace(at, recordings=at.recordings + 1)

    def _manifest(self, at: Round) -> StoredRecording | None:
        """Return the manifest, mended if need be; None when it is gone, or beyond help."""
        recording_id = at.recording_id
        try:
            manifest = self._store.manifest(recording_id)
        except WaysealError as error:
            kind = "rotten" if isinstance(error, RejectedError) else "unread"
            self._journal.find(
                at, [Found(recording_id, NO_BLOB, MANIFEST, kind, str(error))], self._clock_ms()
            )
            mended = isinstance(error, RejectedError) and self._restored(recording_id)
            self._settle(at, NO_BLOB, {} if mended else {MANIFEST: str(error)})
            return self._store.manifest(recording_id) if mended else None
        self._settle_what_was_open(at, NO_BLOB)
        return manifest

    def _restored(self, recording_id: bytes) -> bool:
        try:
            return self._store.restore_manifest(recording_id)
        except WaysealError as error:
            _log.warning("recording %s: manifest not restored: %s", recording_id.hex(), error)
            return False

    def _look_at(self, at: Round) -> None:
        found = self._store.examine(at.recording_id, at.index)
        if not found:
            self._settle_what_was_open(at, at.index)
            return
        self._journal.find(at, [_entry(each) for each in found], self._clock_ms())
        try:
            left = self._store.mend(at.recording_id, at.index)
        except WaysealError as error:
            left = tuple(replace(each, detail=f"{each.detail}; {error}") for each in found)
        failed = {each.copy: each.detail for each in left if not each.repaired}
        self._settle(at, at.index, failed)

    def _settle_what_was_open(self, at: Round, index: int) -> None:
        """Give what was found before a kill its outcome: by now it holds."""
        if self._journal.open_at(at, at.recording_id, index):
            self._settle(at, index, {})

    def _settle(self, at: Round, index: int, failed: dict[str, str]) -> None:
        place = "manifest" if index == NO_BLOB else f"blob {index}"
        mended = self._journal.settle(at, at.recording_id, index, failed)
        for copy in mended:
            _log.warning("recording %s %s: copy %s mended", at.recording_id.hex(), place, copy)
        for copy, why in failed.items():
            _log.error(
                "recording %s %s: copy %s cannot be mended: %s",
                at.recording_id.hex(),
                place,
                copy,
                why,
            )

    def _strays_named(self, at: Round) -> bool:
        """Write down what belongs to nothing; say whether all of it was looked at."""
        for stray in self._store.strays():
            if self._stopping():
                return False
            found = Found(stray.recording_id, NO_BLOB, stray.copy, "orphan", stray.detail)
            self._journal.find(at, [found], self._clock_ms(), Outcome.NAMED)
        return not self._stopping()

    def _name_what_is_passed_over(self, at: Round) -> None:
        for copy, why in self._store.not_looked_at().items():
            detail = f"{why}; noticed at recording {at.recording_id.hex()}"
            found = Found(b"", NO_BLOB, copy, "not-looked-at", detail)
            self._journal.find(at, [found], self._clock_ms(), Outcome.NAMED)

    def _checkpoint(self, at: Round) -> None:
        now_s = self._monotonic_s()
        if now_s - self._saved_s >= CHECKPOINT_S:
            self._journal.save(at)
            self._saved_s = now_s

    def _say_end(self) -> None:
        ended = self._journal.rounds(1)[0]
        _log.info(
            "scrub round %d: %d recordings, %d blobs, %d found, %d mended, %d not mended",
            ended.number,
            ended.recordings,
            ended.blobs,
            ended.found,
            ended.mended,
            ended.not_mended,
        )


def _entry(finding: Finding) -> Found:
    return Found(finding.recording_id, finding.index, finding.copy, finding.kind, finding.detail)


def _after(recording_id: bytes) -> bytes:
    """Return the least id that is greater, or what is longer and so greater than all."""
    return recording_id + b"\0"
