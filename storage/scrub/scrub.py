"""Reads everything that is stored, blob by blob, at a limited rate.

    first                entries of the catalogue that are lost are made again
    for each recording   its manifest, then each blob of every copy and replica,
                         then its manifest in the blob store
    then                 blobs to mend in recordings that were being written
    then                 what a replica still has, or has again, of deleted recordings
    then                 stored bytes that belong to no recording, or to a damaged one

The cursor is made durable every `CHECKPOINT_S` and with every finding, so a round continues where
it was, however the process ended. Recordings that are deleted or written during the round are not
findings. A copy that does not answer does not delay the round: its blobs are counted as not read,
and the next round reads them again.
"""

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from contracts.chunktree import BLOB_BYTES, blob_size
from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.records.clock import now_ms
from storage.recordings.blobcopies import MANIFEST, NO_BLOB, Finding, Flaw, Survey
from storage.recordings.locks import BusyError
from storage.recordings.manifest import StoredRecording
from storage.recordings.orphans import Unlisted
from storage.scrub.pace import Pace
from storage.scrub.port import Scrubbed
from storage.scrub.report import (
    FindingOutcome,
    ReportEntry,
    Round,
    RoundStage,
    ScrubReport,
    Settled,
)
from storage.scrub.silence import Silence

CHECKPOINT_S: Final = 5.0
"""A kill makes the scrub repeat at most this many seconds of work."""
DAY_MS: Final = 86_400_000
UNDELETED: Final = "undeleted"
"""Kind of a finding: a replica has something of a recording that was deleted."""
_ON_VOLUME: Final = f"{Place.VOLUME}:"

_log = logging.getLogger(__name__)


class Scrub:
    """Scrubs a store, round after round; `step` is called by one thread.

    Args:
        store: The store that it reads.
        report: Where it keeps findings and cursor.
        pace: Limits its reads.
        every_days: From the start of one round to the next; 0 starts none by itself.
        stopping: Returns True when the process is to stop.
        remake: Makes lost entries of the catalogue again, and yields what was wrong.
        clock_ms: The wall clock.
        monotonic_s: Seconds since any moment.
    """

    def __init__(
        self,
        store: Scrubbed,
        report: ScrubReport,
        pace: Pace,
        *,
        every_days: int,
        stopping: Callable[[], bool],
        remake: Callable[[], Iterable[Finding]] = tuple,
        clock_ms: Callable[[], int] = now_ms,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._report = report
        self._pace = pace
        self._every_ms = every_days * DAY_MS
        self._stopping = stopping
        self._remake = remake
        self._clock_ms = clock_ms
        self._monotonic_s = monotonic_s
        self._saved_s = monotonic_s()
        self._silence = Silence()

    def begin(self) -> Round:
        """Begin a round now, unless one is under way; return it. Safe in any thread."""
        return self._report.begin(self._clock_ms())

    def step(self) -> bool:
        """Continue the round under way, or one that is due, until it ends or the process stops.

        Returns:
            Whether a round ended.

        Raises:
            UnavailableError: A medium failed completely; the round continues later.
        """
        at = self._report.current() or (self.begin() if self._is_due() else None)
        if at is None:
            return False
        if at.stage is RoundStage.RECORDINGS:
            if not at.recording_id:
                self._through_lost(at)
            at = self._through_recordings(at)
        if (
            at.stage is RoundStage.ORPHANS
            and self._came_back(at)
            and self._deleted_again(at)
            and self._strays_named(at)
        ):
            self._report.end(at, self._clock_ms())
            self._silence = Silence()  # each round names silent copies again
            self._say_end()
            return True
        return False

    def _is_due(self) -> bool:
        """Return whether the last round began long ago, or, by a wrong clock, in the future."""
        if not self._every_ms:
            return False
        last = self._report.rounds(1)
        return not last or not 0 <= self._clock_ms() - last[0].begun_ms < self._every_ms

    def _through_lost(self, at: Round) -> None:
        for each in self._remake():
            self._report.find(at, [_entry(each)], self._clock_ms())
            outcome = {each.copy: _verdict(each, gone=False)}
            self._settle(replace(at, recording_id=each.recording_id), NO_BLOB, outcome)

    def _through_recordings(self, at: Round) -> Round:
        """Continue from the cursor; return the round's new state."""
        for recording_id in self._store.recordings():
            if recording_id < at.recording_id:
                continue
            if recording_id > at.recording_id:
                at = replace(at, recording_id=recording_id, index=0)
            at = self._through_blobs(at)
            if self._stopping():
                self._report.save(at)
                return at
        at = replace(at, stage=RoundStage.ORPHANS, recording_id=b"", index=0)
        self._report.save(at)
        return at

    def _through_blobs(self, at: Round) -> Round:
        manifest = self._manifest(at)
        if manifest is None and self._stopping():
            return at
        if manifest is not None:
            self._name_what_is_out(at, self._store.not_looked_at().items())
            while at.index < len(manifest.leaves):
                if self._stopping():
                    return at
                try:
                    survey = self._blob(at)
                except RejectedError:  # deleted since then
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
        """Return the manifest, rebuilt if damaged; None if it is gone, lost, or the scrub stops."""
        recording_id = at.recording_id
        try:
            manifest = self._store.manifest(recording_id)
        except WaysealError as error:
            rotten = isinstance(error, RejectedError)
            kind = Flaw.ROTTEN if rotten else Flaw.UNREAD
            found = ReportEntry(recording_id, NO_BLOB, MANIFEST, kind, str(error))
            self._report.find(at, [found], self._clock_ms())
            mended = rotten and self._restored(recording_id)
            if not mended and self._stopping():
                return None  # the outcome shows when the round continues
            settled = Settled(
                FindingOutcome.MENDED if mended else FindingOutcome.NOT_MENDED, str(error)
            )
            self._settle(at, NO_BLOB, {MANIFEST: settled})
            return self._store.manifest(recording_id) if mended else None
        self._settle(at, NO_BLOB, {})
        return manifest

    def _restored(self, recording_id: bytes) -> bool:
        try:
            return self._store.restore_manifest(recording_id, self._stopping)
        except WaysealError as error:
            _log.warning(
                "recording %s: manifest not restored: %s",
                recording_id.hex(),
                error,
                extra={"recording_id": recording_id.hex()},
            )
            return False

    def _blob(self, at: Round) -> Survey:
        """Survey one blob, report and mend its faults; return the survey.

        Raises:
            RejectedError: The recording is no longer whole.
            UnavailableError: A medium or peer failed completely.
        """
        survey = self._store.survey(at.recording_id, at.index)
        found = self._silence.without_silent(survey, self._store.not_looked_at())
        self._name_what_is_out(at, self._silence.new())
        if found:
            self._report.find(at, [_entry(each) for each in found], self._clock_ms())
        if self._report.open_at(at, at.recording_id, at.index):
            with suppress(BusyError):  # stays open: see `_came_back`
                self._mend(at, needed=bool(survey.findings))
        return survey

    def _mend(self, at: Round, *, needed: bool) -> None:
        """Mend a blob, or settle the findings that a kill left open and that are intact by now."""
        recording_id, index = at.recording_id, at.index
        try:
            left = self._store.mend(recording_id, index) if needed else ()
            manifest = self._store.manifest(recording_id)
        except RejectedError:
            left, manifest = (), None
        open_copies = self._report.open_at(at, recording_id, index)
        named = {str(copy).rpartition(":")[0] for copy in manifest.copies} if manifest else set()
        gone = {
            copy
            for copy in open_copies
            if manifest is None or (copy.startswith(_ON_VOLUME) and copy not in named)
        }
        told = {each.copy for each in left}
        self._report.forget(at, recording_id, index, gone - told)
        self._settle(
            at, index, {each.copy: _verdict(each, gone=each.copy in gone) for each in left}
        )

    def _reseal(self, at: Round) -> None:
        try:
            found = self._store.reseal(at.recording_id)
        except (RejectedError, BusyError):  # deleted since then, or left to the next round
            return
        if found is not None:
            self._report.find(at, [_entry(found)], self._clock_ms())
            self._settle(at, NO_BLOB, {found.copy: _verdict(found, gone=False)})

    def _settle(self, at: Round, index: int, outcomes: dict[str, Settled]) -> None:
        if not self._report.open_at(at, at.recording_id, index):
            return
        place = "manifest" if index == NO_BLOB else f"blob {index}"
        settled = self._report.settle(at, at.recording_id, index, outcomes)
        for copy, each in settled.items():
            name = (at.recording_id.hex(), place, copy)
            if each.outcome is FindingOutcome.NOT_MENDED:
                _log.error(
                    "recording %s %s: %s cannot be mended: %s",
                    *name,
                    each.detail,
                    extra={"recording_id": at.recording_id.hex()},
                )
            else:
                _log.warning(
                    "recording %s %s: %s is %s",
                    *name,
                    each.outcome,
                    extra={"recording_id": at.recording_id.hex()},
                )

    def _came_back(self, at: Round) -> bool:
        """Mend blobs of recordings that were being written; return whether no finding is open."""
        for recording_id, index in self._report.open_blobs(at):
            if self._stopping():
                return False
            then = replace(at, recording_id=recording_id, index=index)
            try:
                survey = self._blob(then)
                self._pace.spend(BLOB_BYTES * (len(survey.copies) - _not_read(survey)))
            except RejectedError:  # deleted since then
                self._mend(then, needed=False)
        return not self._report.open_blobs(at)

    def _deleted_again(self, at: Round) -> bool:
        """Report what replicas had of deleted recordings; return whether to go on."""
        asked_all = True
        try:
            for each in self._store.returned(self._stopping):
                copy = f"{Place.BLOBS}:{each.name}"
                if not each.recording_id:
                    asked_all = False
                    self._name(at, b"", copy, "not-looked-at", f"for deletions: {each.detail}")
                    continue
                found = ReportEntry(each.recording_id, NO_BLOB, copy, UNDELETED, each.detail)
                self._report.find(at, [found], self._clock_ms())
                became = FindingOutcome.MENDED if each.repaired else FindingOutcome.NOT_MENDED
                settled = {copy: Settled(became, each.detail)}
                self._settle(replace(at, recording_id=each.recording_id), NO_BLOB, settled)
        except UnavailableError as error:
            asked_all = False
            self._name(at, b"", Place.BLOBS, "not-looked-at", f"for deletions: {error}")
        if self._stopping():
            return False
        if asked_all:
            self._report.deletions_checked(at, self._clock_ms())
        return True

    def _strays_named(self, at: Round) -> bool:
        """Report orphans and damaged recordings; return whether the search was completed."""
        for stray in self._store.orphans():
            if self._stopping():
                return False
            if isinstance(stray, Unlisted):
                self._name(at, b"", stray.copy, "not-looked-at", f"for orphans: {stray.detail}")
            else:
                self._name(at, stray.recording_id, stray.copy, "orphan", stray.detail)
        for each in self._store.damaged():
            found = ReportEntry(each.recording_id, NO_BLOB, each.copy, Flaw.ROTTEN, each.detail)
            self._report.find(at, [found], self._clock_ms())
            settled = Settled(FindingOutcome.NOT_MENDED, each.detail)
            self._settle(replace(at, recording_id=each.recording_id), NO_BLOB, {each.copy: settled})
        return not self._stopping()

    def _name_what_is_out(self, at: Round, out: Iterable[tuple[str, str]]) -> None:
        for copy, why in out:
            since = f"from recording {at.recording_id.hex()} on: {why}"
            self._name(at, b"", copy, "not-looked-at", since)

    def _name(self, at: Round, recording_id: bytes, copy: str, kind: str, detail: str) -> None:
        found = ReportEntry(recording_id, NO_BLOB, copy, kind, detail)
        self._report.find(at, [found], self._clock_ms(), FindingOutcome.NAMED)

    def _checkpoint(self, at: Round) -> None:
        now_s = self._monotonic_s()
        if now_s - self._saved_s >= CHECKPOINT_S:
            self._report.save(at)
            self._saved_s = now_s

    def _say_end(self) -> None:
        ended = self._report.rounds(1)[0]
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


def _entry(finding: Finding) -> ReportEntry:
    return ReportEntry(
        finding.recording_id, finding.index, finding.copy, finding.kind, finding.detail
    )


def _verdict(finding: Finding, *, gone: bool) -> Settled:
    if finding.repaired:
        return Settled(FindingOutcome.MENDED, finding.detail)
    return Settled(
        FindingOutcome.TO_BE_FILLED if gone else FindingOutcome.NOT_MENDED, finding.detail
    )


def _not_read(survey: Survey) -> int:
    """Return how many copies of a blob could not be read."""
    return sum(each.kind is Flaw.UNREAD for each in survey.findings)


def _after(recording_id: bytes) -> bytes:
    """Return the next possible cursor: greater than this id, and than no other id."""
    return recording_id + b"\0"
