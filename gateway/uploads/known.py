"""The uploads that are known here: whose they are, and where they stand."""

import logging

from contracts.errors import RejectedError, WaysealError
from gateway.access import Caller, Role
from gateway.uploads.claims import Claim, Claims
from gateway.uploads.status import (
    Accepts,
    NotAcceptedError,
    UnknownUploadError,
    UploadLimits,
    UploadStatus,
)
from storage.recordings.store import RecordingStore

_log = logging.getLogger(__name__)


class KnownUploads:
    """Finds uploads in store and claims; each call reads small files, and may come in any thread.

    Args:
        store: Where recordings are written.
        claims: Whose partial uploads there are.
        limits: How long partial uploads are kept.
        accepts: Asked before a caller gets an upload.
    """

    def __init__(
        self, store: RecordingStore, claims: Claims, limits: UploadLimits, accepts: Accepts
    ) -> None:
        self._store = store
        self._claims = claims
        self._limits = limits
        self._accepts = accepts

    def status(self, recording_id: bytes, device_id: str) -> UploadStatus | None:
        """Return where a device's upload stands; None if it was never begun.

        Raises:
            RejectedError: The recording's manifest is damaged.
            UnavailableError: The medium failed.
        """
        claim = self._claims.find(recording_id, device_id)
        return self.whole(recording_id) or (self.standing(claim) if claim else None)

    def here(self, recording_id: bytes, caller: Caller) -> UploadStatus:
        """Return where the caller's upload stands, whole or in part.

        Raises:
            RejectedError: It was never begun, or the recording's manifest is damaged.
            UnavailableError: The medium failed.
        """
        return self.whole(recording_id) or self.standing(self.claim_of(recording_id, caller))

    def standing(self, claim: Claim) -> UploadStatus:
        """Return where a partial upload stands.

        Raises:
            UnavailableError: The medium failed.
        """
        progress = self._store.progress(claim.upload)
        return self.partial(claim, progress.offset if progress else 0)

    def partial(self, claim: Claim, offset: int) -> UploadStatus:
        """Return the status of a partial upload that has so many durable bytes."""
        left_s = self._limits.left_s(claim.upload, offset)
        return UploadStatus(offset, claim.size, whole=False, left_s=left_s, metadata=claim.metadata)

    def whole(self, recording_id: bytes) -> UploadStatus | None:
        """Return the status of a whole recording, or None.

        Raises:
            RejectedError: Its manifest is damaged.
            UnavailableError: The medium failed.
        """
        manifest = self._store.manifest(recording_id)
        if manifest is None:
            return None
        return UploadStatus(manifest.size, manifest.size, whole=True, copies=manifest.copies)

    def found(self, recording_id: bytes, size: int) -> UploadStatus | None:
        """Return the whole recording, after a look into the blob store of all sites; or None.

        Raises:
            RejectedError: Its manifest is damaged.
            UnavailableError: The medium failed.
        """
        whole = self.whole(recording_id)
        if whole is not None:
            return whole
        try:
            adopted = self._store.adopt(recording_id, size)
        except WaysealError as error:
            words, name = "recording %s must come from its sender: %s", recording_id.hex()
            _log.info(words, name, error, extra={"recording_id": name})
            return None
        return UploadStatus(size, size, whole=True) if adopted else None

    def is_damaged(self, recording_id: bytes) -> bool:
        """Say whether another site's blobs of it were bad, so that the sender must upload it.

        Raises:
            UnavailableError: The medium failed.
        """
        return self._store.places.catalogue.is_damaged(recording_id)

    def claim_of(self, recording_id: bytes, caller: Caller) -> Claim:
        """Return the caller's upload; an operator may continue any device's.

        An older gateway noted no name: then the first caller that may have the upload gets it.

        Raises:
            UnknownUploadError: It was never begun, or age has deleted it.
            NotAcceptedError: `accepts` refuses.
            UnavailableError: The medium failed.
        """
        claims = self._claims.of(recording_id)
        for claim in claims:
            if caller.name == claim.device_id or caller.role is Role.OPERATOR:
                if self._store.progress(claim.upload) is None:
                    continue  # age has deleted it
                return claim
        progress = None if claims else self._store.progress(recording_id)
        if progress is None:
            raise UnknownUploadError(
                f"{caller.name} began no upload of {recording_id.hex()}, or age has deleted it"
            )
        self.check_accepted(recording_id, progress.size, caller)
        return self._claims.claim(recording_id, caller.name, progress.size)

    def check_accepted(self, recording_id: bytes, size: int, caller: Caller) -> None:
        """Check that the caller may upload a recording of this size.

        Raises:
            NotAcceptedError: `accepts` refuses.
        """
        try:
            self._accepts(recording_id, size, caller)
        except RejectedError as error:
            raise NotAcceptedError(str(error)) from error
