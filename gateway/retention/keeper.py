"""Retention: deletes what is due and may go, one copy after the other, each on record first.

    wish       storage/retention says that a copy is too old, or in the way
    judgement  gateway/retention/judge.py says whether it may go
    record     signed and durable, before anything happens
    judgement  once more, since an offer or a hold may have come in meanwhile
    deletion   then the record is marked as done

A kill anywhere in between leaves the record, and the next start goes on from it.
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
    """Deletes in a thread of its own what nobody has to keep.

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
            store: Where recordings are.
            ages: How old they are.
            deletions: The record.
            judge: Says what may go.
            remover: Deletes.
            settings: After how many days.
            fills: How full the volumes are that answer.
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
        """End what was begun, then delete the first thing that is due; say whether there was one.

        What fails holds up nothing that is due after it.

        Raises:
            UnavailableError: The ledger, a medium or one of the gateway's own files did not answer.
        """
        failed: Exception | None = None
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
                _log.debug("recording %s is kept (%s): %s", name, removal.rule, error)
            except Exception as error:  # noqa: BLE001 - raised once all others had their turn
                failed = failed or error
        if failed is not None:
            raise failed
        return False

    def _resume(self) -> None:
        for each in self._deletions.under_way():
            try:
                self._remover.carry_out(each.body)
            except WaysealError as error:
                _log.warning("deletion %d goes on later: %s", each.body.number, error)
            except Exception:  # noqa: BLE001 - one recording must not hold up all others
                _log.exception("deletion %d goes on later", each.body.number)

    def _observe(self) -> None:
        """Begin to count the age of what is committed and receipted; forget what is gone.

        A visit that goes on needs all copies for its final receipt, those too that went before.
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
                continue  # for the scrub to name, and to mend
            if manifest is not None and self._is_released(manifest):
                self._ages.release(recording_id)

    def _want(self, recording_id: bytes) -> None:
        try:
            self._store.want(recording_id, Place.VOLUME)
        except WaysealError as error:
            _log.warning("recording %s has no whole copy yet: %s", recording_id.hex(), error)

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
            *(crowded(released, fill) for fill in fills),
        )
