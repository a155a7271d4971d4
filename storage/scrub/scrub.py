"""Walks everything that is stored, a blob at a time, at a set rate.

    for each recording   its manifest, then each blob of every copy and replica,
                         then its manifest in the blob store
    then                 blobs to be mended in recordings that were being written
    then                 what is stored and belongs to no recording, or to none that holds

The cursor is durable every `CHECKPOINT_S`, and with every finding, so a round
goes on where it was when the process ended, however it ended. What was deleted
or written meanwhile is no finding. A copy that does not answer holds up no round:
what it did not give is counted, and asked for again in the next one.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from contracts.chunktree import BLOB_BYTES, blob_size
from contracts.copies import Place
from contracts.errors import RejectedError, WaysealError
from contracts.records.clock import now_ms
from storage.recordings.examining import NO_BLOB, Finding, Flaw, Survey
from storage.recordings.manifest import StoredRecording
from storage.recordings.strays import Unlisted
from storage.recordings.writers import BusyError
from storage.scrub.journal import Found, Journal, Outcome, Round, Stage, Verdict
from storage.scrub.pace import Pace
from storage.scrub.port import Scrubbed
from storage.scrub.silence import Silence

CHECKPOINT_S: Final = 5.0
"""Most work that a kill makes the scrub repeat, seconds."""
DAY_MS: Final = 86_400_000
MANIFEST: Final = "manifest"
"""Names the manifest in the place of a copy."""
_ON_VOLUME: Final = f"{Place.VOLUME}:"

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
        self._silence = Silence()

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
        if at.stage is Stage.ORPHANS and self._came_back(at) and self._strays_named(at):
            self._journal.end(at, self._clock_ms())
            self._silence = Silence()  # who is silent is named in each round
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
        if manifest is None and self._stopping():
            return at
        if manifest is not None:
            self._name_what_is_out(at)
            while at.index < len(manifest.leaves):
                if self._stopping():
                    return at
                try:
                    survey = self._blob(at)
                except RejectedError:  # deleted meanwhile
                    return replace(at, recording_id=_after(at.recording_id), index=0)
                not_read = _not_read(survey)
                read = blob_size(manifest.size, at.index) * (len(survey.copies) - not_read)
                at = replace(
                    at,
                    index=at.index + 1,
                    blobs=at.blobs + 1,
                    bytes_read=at.bytes_read + read,
                    not_read=at.not_read + not_read,
                )
                self._checkpoint(at)
                self._pace.spend(read)
            self._reseal(at)
            at = replace(at, recordings=at.recordings + 1)
        # Beyond the last blob, so that a restart does not count the recording again.
        return replace(at, recording_id=_after(at.recording_id), index=0)

    def _manifest(self, at: Round) -> StoredRecording | None:
        """Return the manifest, mended if need be; None when it is gone, beyond help, or stopped."""
        recording_id = at.recording_id
        try:
            manifest = self._store.manifest(recording_id)
        except WaysealError as error:
            rotten = isinstance(error, RejectedError)
            kind = Flaw.ROTTEN if rotten else Flaw.UNREAD
            found = Found(recording_id, NO_BLOB, MANIFEST, kind, str(error))
            self._journal.find(at, [found], self._clock_ms())
            mended = rotten and self._restored(recording_id)
            if not mended and self._stopping():
                return None  # what becomes of it shows when the round goes on
            verdict = Verdict(Outcome.MENDED if mended else Outcome.NOT_MENDED, str(error))
            self._settle(at, NO_BLOB, {MANIFEST: verdict})
            return self._store.manifest(recording_id) if mended else None
        self._settle(at, NO_BLOB, {})
        return manifest

    def _restored(self, recording_id: bytes) -> bool:
        try:
            return self._store.restore_manifest(recording_id, self._stopping)
        except WaysealError as error:
            _log.warning("recording %s: manifest not restored: %s", recording_id.hex(), error)
            return False

    def _blob(self, at: Round) -> Survey:
        """Look at one blob of every copy, and have mended what is wrong; return what was seen.

        Raises:
            RejectedError: The recording is not whole any more.
            UnavailableError: A medium or peer failed as a whole.
        """
        survey = self._store.survey(at.recording_id, at.index)
        found = self._silence.without_silent(survey, self._store.not_looked_at())
        for copy, why in self._silence.new():
            self._name(at, b"", copy, "not-looked-at", f"from recording {_name(at)} on: {why}")
        if found:
            entries = [
                Found(each.recording_id, each.index, each.copy, each.kind, each.detail)
                for each in found
            ]
            self._journal.find(at, entries, self._clock_ms())
        if self._journal.open_at(at, at.recording_id, at.index):
            with suppress(BusyError):  # stays open: see `_came_back`
                self._mend(at, needed=bool(survey.findings))
        return survey

    def _mend(self, at: Round, *, needed: bool) -> None:
        """Mend a blob, or give what a kill left open its outcome: by now it holds."""
        recording_id, index = at.recording_id, at.index
        try:
            left = self._store.mend(recording_id, index) if needed else ()
            manifest = self._store.manifest(recording_id)
        except RejectedError:
            left, manifest = (), None
        open_copies = self._journal.open_at(at, recording_id, index)
        named = {str(copy).rpartition(":")[0] for copy in manifest.copies} if manifest else set()
        gone = {
            copy
            for copy in open_copies
            if manifest is None or (copy.startswith(_ON_VOLUME) and copy not in named)
        }
        told = {each.copy for each in left}
        self._journal.forget(at, recording_id, index, gone - told)
        self._settle(
            at, index, {each.copy: _verdict(each, gone=each.copy in gone) for each in left}
        )

    def _reseal(self, at: Round) -> None:
        try:
            found = self._store.reseal(at.recording_id)
        except (RejectedError, BusyError):  # deleted meanwhile, or left to the next round
            return
        if found is not None:
            entry = Found(found.recording_id, NO_BLOB, found.copy, found.kind, found.detail)
            self._journal.find(at, [entry], self._clock_ms())
            self._settle(at, NO_BLOB, {found.copy: _verdict(found, gone=False)})

    def _settle(self, at: Round, index: int, outcomes: dict[str, Verdict]) -> None:
        if not self._journal.open_at(at, at.recording_id, index):
            return
        place = "manifest" if index == NO_BLOB else f"blob {index}"
        settled = self._journal.settle(at, at.recording_id, index, outcomes)
        for copy, verdict in settled.items():
            name = (at.recording_id.hex(), place, copy)
            if verdict.outcome is Outcome.NOT_MENDED:
                _log.error("recording %s %s: %s cannot be mended: %s", *name, verdict.detail)
            else:
                _log.warning("recording %s %s: %s is %s", *name, verdict.outcome)

    def _came_back(self, at: Round) -> bool:
        """Mend what was being written when its turn came; say whether nothing is left open."""
        for recording_id, index in self._journal.open_blobs(at):
            if self._stopping():
                return False
            then = replace(at, recording_id=recording_id, index=index)
            try:
                survey = self._blob(then)
                self._pace.spend(BLOB_BYTES * (len(survey.copies) - _not_read(survey)))
            except RejectedError:  # deleted meanwhile
                self._mend(then, needed=False)
        return not self._journal.open_blobs(at)

    def _strays_named(self, at: Round) -> bool:
        """Write down what belongs to nothing; say whether all of it was looked at."""
        for stray in self._store.strays():
            if self._stopping():
                return False
            if isinstance(stray, Unlisted):
                self._name(at, b"", stray.copy, "not-looked-at", f"for orphans: {stray.detail}")
            else:
                self._name(at, stray.recording_id, stray.copy, "orphan", stray.detail)
        for each in self._store.damaged():
            found = Found(each.recording_id, NO_BLOB, each.copy, Flaw.ROTTEN, each.detail)
            self._journal.find(at, [found], self._clock_ms())
            verdict = Verdict(Outcome.NOT_MENDED, each.detail)
            self._settle(replace(at, recording_id=each.recording_id), NO_BLOB, {each.copy: verdict})
        return not self._stopping()

    def _name_what_is_out(self, at: Round) -> None:
        for copy, why in self._store.not_looked_at().items():
            self._name(at, b"", copy, "not-looked-at", f"from recording {_name(at)} on: {why}")

    def _name(self, at: Round, recording_id: bytes, copy: str, kind: str, detail: str) -> None:
        found = Found(recording_id, NO_BLOB, copy, kind, detail)
        self._journal.find(at, [found], self._clock_ms(), Outcome.NAMED)

    def _checkpoint(self, at: Round) -> None:
        now_s = self._monotonic_s()
        if now_s - self._saved_s >= CHECKPOINT_S:
            self._journal.save(at)
            self._saved_s = now_s

    def _say_end(self) -> None:
        ended = self._journal.rounds(1)[0]
        _log.info(
            "scrub round %d: %d recordings, %d blobs, %d found, %d mended, %d not mended, "
            "%d not read",
            ended.number,
            ended.recordings,
            ended.blobs,
            ended.found,
            ended.mended,
            ended.not_mended,
            ended.not_read,
        )


def _verdict(finding: Finding, *, gone: bool) -> Verdict:
    if finding.repaired:
        return Verdict(Outcome.MENDED, finding.detail)
    return Verdict(Outcome.TO_BE_FILLED if gone else Outcome.NOT_MENDED, finding.detail)


def _not_read(survey: Survey) -> int:
    """Return how many copies of a blob gave nothing."""
    return sum(each.kind is Flaw.UNREAD for each in survey.findings)


def _name(at: Round) -> str:
    return at.recording_id.hex()


def _after(recording_id: bytes) -> bytes:
    """Return the least id that is greater, or what is longer and so greater than all."""
    return recording_id + b"\0"
