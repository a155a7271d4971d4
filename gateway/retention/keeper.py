"""Retention: deletes due copies that may be deleted, one by one, each on record first.

    wish       storage/retention says that a copy is too old, or its room is needed
    judgement  gateway/retention/judge.py says whether it may be deleted
    record     signed and durable, before anything happens
    judgement  once more, since an offer or a hold may have come in since the first
    deletion   then the record is marked as done

After a kill between two steps the record remains, and the next start continues from it.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from contracts.copies import Place
from contracts.errors import RejectedError, WaysealError
from gateway.retention.deletions import Deletions
from gateway.retention.judge import Judge, KeptError
from gateway.retention.port import Deletable
from gateway.retention.remover import Remover
from gateway.retention.reserve import Reserve
from gateway.storagesettings import RetentionSettings
from gateway.worker import Worker
from storage.recordings.manifest import StoredRecording
from storage.retention.ages import Ages
from storage.retention.rules import Fill, Removal, aged, crowded, stalled

IDLE_S: Final = 60.0

_log = logging.getLogger(__name__)


class Retention:
    """Deletes copies that need not be kept, in its own thread.

    Attributes:
        worker: The thread.
    """

    def __init__(
        self,
        store: Deletable,
        ages: Ages,
        deletions: Deletions,
        judge: Judge,
        remover: Remover,
        settings: RetentionSettings,
        fills: Callable[[], Iterable[Fill]],
        reserve: Reserve,
    ) -> None:
        """Prepare; nothing is deleted before the worker runs.

        Args:
            store: The recordings.
            ages: How old they are.
            deletions: The record of deletions.
            judge: Says which recordings may be deleted.
            remover: Deletes them.
            settings: After how many days copies are deleted, and whether a full volume loses some.
            fills: Returns how full each volume is that answers.
            reserve: Room for the record when the disk is full.
        """
        self._store = store
        self._ages = ages
        self._deletions = deletions
        self._judge = judge
        self._remover = remover
        self._settings = settings
        self._fills = fills
        self._reserve = reserve
        self.worker = Worker("retention", self.step, idle_s=IDLE_S)

    def step(self) -> bool:
        """Finish deletions that have begun, then do the first due one; say whether one was done.

        A deletion that fails does not keep the next ones from being tried.

        Raises:
            UnavailableError: The ledger, a medium or one of the gateway's own files did not answer.
        """
        failed: Exception | None = None
        self._judge.begin_round()
        self._reserve.keep()
        self._ages.advance()
        self._resume()
        self._observe()
        for removal in self._wishes():
            if self.worker.stopping or self._deletions.is_under_way(removal.recording_id):
                continue
            try:
                if self._remover.remove(removal, lambda: self.worker.stopping):
                    return True
            except RejectedError as error:
                name = removal.recording_id.hex()
                _log.debug(
                    "recording %s is kept (%s): %s",
                    name,
                    removal.rule,
                    error,
                    extra={"recording_id": name},
                )
            except Exception as error:  # noqa: BLE001 - raised after all others were tried
                failed = failed or error
        if failed is not None:
            raise failed
        return False

    def _resume(self) -> None:
        for each in self._deletions.under_way():
            try:
                self._remover.carry_out(each.body)
            except WaysealError as error:
                _log.warning(
                    "deletion %d will continue later: %s",
                    each.body.number,
                    error,
                    extra={"recording_id": each.body.recording_sha256.hex()},
                )
            except Exception:  # noqa: BLE001 - the others must not wait for one recording
                _log.exception(
                    "deletion %d will continue later",
                    each.body.number,
                    extra={"recording_id": each.body.recording_sha256.hex()},
                )

    def _observe(self) -> None:
        """Start the age of recordings that are committed and receipted; forget deleted ones.

        An open visit needs all copies for its final receipt, so a deleted copy is made again.
        """
        whole, released = set(self._store.recordings()), self._ages.released()
        uploads = {progress.recording_id for progress in self._store.partial()}
        for gone in (released.keys() | set(self._ages.uploads())) - whole - uploads:
            self._ages.forget(gone)
        for recording_id in self._judge.awaited() & whole:
            if self._deletions.took_volume_copy(recording_id):
                self._want(recording_id)
        for recording_id in whole - released.keys():
            try:
                manifest = self._store.manifest(recording_id)
            except RejectedError:
                continue  # the scrub reports and repairs it
            if manifest is not None and self._is_released(manifest):
                self._ages.release(recording_id)

    def _want(self, recording_id: bytes) -> None:
        try:
            self._store.want(recording_id, Place.VOLUME)
        except WaysealError as error:
            _log.warning(
                "recording %s has no whole copy yet: %s",
                recording_id.hex(),
                error,
                extra={"recording_id": recording_id.hex()},
            )

    def _is_released(self, manifest: StoredRecording) -> bool:
        try:
            self._judge.check_released(manifest)
        except KeptError:
            return False
        return True

    def _wishes(self) -> Iterator[Removal]:
        released, fills = self._ages.released(), list(self._fills())
        uploads = [
            (progress, self._ages.standing_s(progress.recording_id, progress.offset))
            for progress in self._store.partial()
        ]
        days = self._settings
        return chain(
            stalled(uploads, days.partial_days),
            aged(released, fills, volume_days=days.volume_days, blobs_days=days.blobs_days),
            *(crowded(released, fill) for fill in fills if days.make_room),
        )
