"""Does one deletion: judges, records, judges again, deletes, and marks it as done."""

import logging
from collections.abc import Callable, Iterable

from contracts.copies import Copy, Place, Policy
from contracts.errors import RejectedError
from contracts.proto.deletion_pb2 import DeletionBody
from contracts.records.clock import now_ms
from gateway.retention.deletions import Deletions, DeletionState
from gateway.retention.judge import Judge, KeptError, Standing
from gateway.retention.port import Deletable
from storage.recordings.manifest import StoredRecording
from storage.retention.rules import Removal, Rule, leaves_enough

_log = logging.getLogger(__name__)


class Remover:
    """Deletes copies, each under the gateway's signature.

    Args:
        store: The recordings and their copies.
        deletions: The record of deletions.
        judge: Says which recordings may be deleted.
        policy: The copies that receipts ask for.
        site_id: The gateway's site.
        let_go: Closes an upload that no request is writing.
        touched: Called with each recording that may have lost a copy.
        clock_ms: The wall clock; no decision depends on it.
    """

    def __init__(
        self,
        store: Deletable,
        deletions: Deletions,
        judge: Judge,
        *,
        policy: Policy,
        site_id: str,
        let_go: Callable[[bytes], None],
        touched: Callable[[bytes], None],
        clock_ms: Callable[[], int] = now_ms,
    ) -> None:
        self._store = store
        self._deletions = deletions
        self._judge = judge
        self._policy = policy
        self._site_id = site_id
        self._let_go = let_go
        self._touched = touched
        self._clock_ms = clock_ms

    def remove(self, removal: Removal, stop: Callable[[], bool] = lambda: False) -> bool:
        """Delete the wished copies, if allowed; say whether they were deleted.

        Before a whole copy is deleted, every remaining blob is read: the whole copy may be the
        last one that a rotten blob can be repaired from.

        Args:
            removal: The wish.
            stop: Asked while blobs are read: whether to stop.

        Raises:
            RejectedError: The copies must be kept.
            UnavailableError: That cannot be decided now, or a medium failed.
        """
        if removal.rule is Rule.PARTIAL_DAYS:
            body = self._draft_of_upload(removal)
        else:
            body = self._draft_of_copies(removal)
        if (
            body is not None
            and body.remaining
            and not self._store.prove_blobs(removal.recording_id, stop)
        ):
            raise KeptError("at least one of its blobs is bad or was not read")
        return body is not None and self.carry_out(self._deletions.begin(body))

    def _draft_of_upload(self, removal: Removal) -> DeletionBody | None:
        progress = self._store.progress(removal.recording_id)
        if progress is None:
            return None
        standing = self._judge.allow_partial(removal.recording_id)
        draft = self._draft(removal, standing)
        draft.size, draft.received = progress.size, progress.offset
        return draft

    def _draft_of_copies(self, removal: Removal) -> DeletionBody | None:
        manifest = self._store.manifest(removal.recording_id)
        if manifest is None:
            return None
        if removal.volume and not any(_is_of(copy, removal) for copy in manifest.copies):
            return None
        going = [
            copy for copy in manifest.copies if not removal.volume or copy.place is Place.VOLUME
        ]
        remaining = [copy for copy in manifest.copies if copy not in going]
        standing = self._allow(manifest, remaining, everything=not removal.volume)
        draft = self._draft(removal, standing)
        draft.size, draft.tree_root = manifest.size, manifest.tree_root
        draft.copies.extend(map(str, going))
        draft.remaining.extend(map(str, remaining))
        return draft

    def _draft(self, removal: Removal, standing: Standing) -> DeletionBody:
        return DeletionBody(
            site_id=self._site_id,
            recording_sha256=removal.recording_id,
            rule=removal.rule,
            reason=removal.reason,
            decided_at_ms=self._clock_ms(),
            trip_ids=standing.trip_ids,
            block_num=standing.block_num,
            block_id=standing.block_id,
            genesis_id=standing.genesis_id,
            hold_ends=standing.hold_ends,
        )

    def _allow(
        self, manifest: StoredRecording, remaining: Iterable[Copy], *, everything: bool
    ) -> Standing:
        """Return the grounds on which copies of a whole recording may be deleted.

        Raises:
            RejectedError: They must be kept.
            UnavailableError: That cannot be decided now.
        """
        standing = self._judge.allow(manifest)
        if everything:
            return standing
        if not leaves_enough(self._policy, remaining):
            raise KeptError("the remaining copies would not meet the policy")
        if not self._store.blobs_hold(manifest.sha256):
            raise KeptError("the blob store does not list all of its blobs")
        return standing

    def carry_out(self, body: DeletionBody) -> bool:
        """Do a recorded deletion, unless it must now be kept; say whether it was done."""
        try:
            if body.rule == Rule.PARTIAL_DAYS:
                self._delete_upload(body)
            elif body.remaining:
                self._drop_copies(body)
            else:
                self._delete_everything(body)
        except RejectedError as error:
            _log.info(
                "deletion %d withdrawn: %s",
                body.number,
                error,
                extra={"recording_id": body.recording_sha256.hex()},
            )
            self._deletions.end(body.number, DeletionState.WITHDRAWN, self._clock_ms(), str(error))
            return False
        finally:
            self._touched(body.recording_sha256)
        _log.warning(
            "deletion %d: recording %s, deleted %s, because of %s: %s",
            body.number,
            body.recording_sha256.hex(),
            ", ".join(body.copies) or f"an upload of {body.received} bytes",
            body.rule,
            body.reason,
            extra={"recording_id": body.recording_sha256.hex()},
        )
        self._deletions.end(body.number, DeletionState.DONE, self._clock_ms())
        return True

    def _delete_upload(self, body: DeletionBody) -> None:
        recording_id = body.recording_sha256
        progress = self._store.progress(recording_id)
        if self._store.manifest(recording_id) is not None:
            raise KeptError("the upload has become whole")
        if progress is None:
            return
        if progress.offset > body.received:
            raise KeptError(f"the upload continued, to {progress.offset} bytes")
        self._judge.allow_partial(recording_id)
        self._let_go(recording_id)
        self._store.delete(recording_id)

    def _drop_copies(self, body: DeletionBody) -> None:
        manifest = self._store.manifest(body.recording_sha256)
        if manifest is None:
            return
        going = [Copy.parse(text) for text in body.copies]
        if any(copy in manifest.copies for copy in going):  # if not, it was deleted before a kill
            remaining = [copy for copy in manifest.copies if copy not in going]
            self._allow(manifest, remaining, everything=False)
        for copy in going:
            self._store.drop(body.recording_sha256, copy)

    def _delete_everything(self, body: DeletionBody) -> None:
        recording_id = body.recording_sha256
        manifest = self._store.manifest(recording_id)
        if manifest is not None:  # if it is missing, it was deleted before a kill
            self._allow(manifest, (), everything=True)
        elif self._store.progress(recording_id) is not None:
            return  # it was deleted, and is being uploaded again
        self._store.delete(recording_id)


def _is_of(copy: Copy, removal: Removal) -> bool:
    return (copy.place, copy.name) == (Place.VOLUME, removal.volume)
