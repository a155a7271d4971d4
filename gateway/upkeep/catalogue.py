"""Has entries of the catalogue made again: every digest on the ledger whose bytes are here has one.

That is done at the start and in each round of the scrub. Recordings that were deleted here stay
deleted, and those that only other sites of a shared blob store took in stay theirs.
"""

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError
from contracts.receipt import body_of
from gateway.intake.inbox import Inbox
from gateway.records.digests import DigestRecord
from gateway.records.records import Records
from gateway.retention.deletions import Deletions
from gateway.retention.judge import Ledger
from gateway.worker import Worker
from storage.recordings.blobcopies import Finding
from storage.recordings.lost import KnownRecording
from storage.recordings.store import RecordingStore

IDLE_S: Final = 10.0
DIGESTS_AT_ONCE: Final = 500

_log = logging.getLogger(__name__)


class Recataloguing:
    """Looks for lost entries at the start, in its own thread, and whenever the scrub asks.

    Attributes:
        worker: The thread.
        made: How many entries were made again since the start of the process.
    """

    def __init__(
        self,
        store: RecordingStore,
        records: Records,
        inbox: Inbox,
        deletions: Deletions,
        ledger: Ledger,
    ) -> None:
        """Prepare the thread.

        Args:
            store: The recordings.
            records: The digests on the ledger.
            inbox: What was announced to this gateway.
            deletions: What was deleted on purpose.
            ledger: Says whether the records are complete.
        """
        self._store = store
        self._records = records
        self._inbox = inbox
        self._deletions = deletions
        self._ledger = ledger
        self._looked = False
        self.made = 0
        self.worker = Worker("catalogue", self.step, idle_s=IDLE_S)

    def step(self) -> bool:
        """Look for lost entries once the index is whole; then read what was never read since."""
        if not self._looked and self._is_at_head():
            for _ in self.remade():
                pass
            self._looked = not self.worker.stopping
        self._store.lost.read_unread(lambda: self.worker.stopping)
        return False

    def remade(self) -> Iterator[Finding]:
        """Make lost and damaged entries again, and yield what was wrong."""
        try:
            for each in self._store.lost.remake(self._wanted(), lambda: self.worker.stopping):
                self.made += 1
                yield each
        except UnavailableError as error:  # the index: the next round of the scrub looks again
            _log.warning("lost entries of the catalogue are looked for later: %s", error)
        self.worker.wake()

    def _is_at_head(self) -> bool:
        """Say whether the index has every digest that the ledger has."""
        try:
            head = self._records.blocks.head()
            return head is not None and head.block_id == self._ledger.head_id()
        except UnavailableError:
            return False

    def _wanted(self) -> Iterator[KnownRecording]:
        """Yield the recordings on the ledger that were taken in here and not deleted."""
        after = 0
        while page := self._records.digests.listed(after, DIGESTS_AT_ONCE):
            after = page[-1][0]
            for _, record in page:
                wanted = self._if_ours(record.digest.sha256)
                if wanted is not None:
                    yield wanted

    def _if_ours(self, recording_id: bytes) -> KnownRecording | None:
        lost, deletions = self._store.lost, self._deletions
        if lost.is_known(recording_id) or deletions.took_everything(recording_id) is not None:
            return None
        given_up = (Place.VOLUME,) if deletions.took_volume_copy(recording_id) else ()
        if not (given_up or lost.is_on_volume(recording_id) or self._is_receipted(recording_id)):
            return None
        claims = {_claim(each) for each in self._records.digests.of_recording(recording_id)}
        return KnownRecording(recording_id, claims, given_up)

    def _is_receipted(self, recording_id: bytes) -> bool:
        """Say whether a receipt of this site names a recording.

        A truck may have announced it here and uploaded it at another site.
        """
        for offer in self._inbox.offers_of(recording_id):
            kept = self._inbox.visits.receipt(offer.trip_id, offer.device_id)
            with suppress(RejectedError):  # a damaged receipt proves nothing
                if kept and recording_id in {each.sha256 for each in body_of(kept.wire).recordings}:
                    return True
        return False


def _claim(record: DigestRecord) -> tuple[int, bytes]:
    return record.digest.size, record.digest.tree_root
