"""Believes only uploads and manifests that fit the digests that devices signed."""

from contracts.errors import RejectedError
from gateway.access import Caller, Role
from gateway.intake.inbox import Inbox
from storage.recordings.manifest import StoredRecording


class Announced:
    """Compares recordings with the digests that devices signed; used by any thread.

    Args:
        inbox: The digests that came in.
        upload_bytes_max: The longest recording that is accepted, bytes.
    """

    def __init__(self, inbox: Inbox, upload_bytes_max: int) -> None:
        self._inbox = inbox
        self._upload_bytes_max = upload_bytes_max

    def check_upload(self, recording_id: bytes, size: int, caller: Caller) -> None:
        """Check that the caller may upload a recording: its own device, or an operator.

        Raises:
            RejectedError: It is too long, or no signed digest announces it with this size.
        """
        if size > self._upload_bytes_max:
            raise RejectedError(
                f"recording of {size} bytes, at most {self._upload_bytes_max} allowed"
            )
        if not any(
            offer.size == size and (caller.role is Role.OPERATOR or offer.device_id == caller.name)
            for offer in self._inbox.offers_of(recording_id)
        ):
            raise RejectedError(
                f"no signed digest by {caller.name} announces recording {recording_id.hex()} "
                f"with {size} bytes"
            )

    def believes(self, shared: StoredRecording) -> bool:
        """Say whether another site's manifest fits every digest that devices signed here.

        A false manifest would stand in for the bytes, and the true digest would be refused.
        """
        offers = self._inbox.offers_of(shared.sha256)
        return bool(offers) and all(shared.fits(each.size, each.tree_root) for each in offers)
