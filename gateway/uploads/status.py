"""The state of an upload, its limits, and the reasons why a request for it is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contracts.copies import Copy
from contracts.errors import RejectedError
from gateway.access import Caller
from gateway.uploads.claims import ConflictError
from gateway.uploads.pouring import OversizedError
from storage.recordings.manifest import RECORDING_BYTES_MAX

UPLOAD_BYTES_MAX: Final = RECORDING_BYTES_MAX
IDLE_LIMIT_S: Final = 30.0

Accepts = Callable[[bytes, int, Caller], None]
"""Raises RejectedError unless the caller may upload that recording id with that size."""
LeftS = Callable[[bytes, int], float | None]
"""Returns after how many seconds a partial upload that stands at an offset may be deleted, or None
if it never is. Asked in any thread with the upload's id in the store."""


class UnknownUploadError(RejectedError):
    """No upload of that recording was begun, or age has deleted it."""


class NotAcceptedError(RejectedError):
    """This caller may not upload, continue or end the recording."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """The limits of a gateway's uploads.

    Attributes:
        bytes_max: The longest recording, bytes.
        idle_s: Silence, in seconds, after which a request is ended.
        bytes_per_s: Bandwidth of one device; 0 means without limit.
        left_s: For how long partial uploads are kept.
    """

    bytes_max: int = UPLOAD_BYTES_MAX
    idle_s: float = IDLE_LIMIT_S
    bytes_per_s: int = 0
    left_s: LeftS = lambda *_: None


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """Where an upload stands.

    Attributes:
        offset: Durable bytes.
        size: Bytes that the recording will have.
        whole: Whether all of it is stored and matches its announced digest.
        copies: The whole copies; empty until it is whole.
        left_s: Time in seconds after which it may be deleted; None if it will not be.
        metadata: Its sender's Upload-Metadata about it; empty if unknown.
    """

    offset: int
    size: int
    whole: bool
    copies: tuple[Copy, ...] = ()
    left_s: float | None = None
    metadata: str = ""

    def check_place(self, offset: int, length: int | None) -> None:
        """Check that a request begins where the upload stands, and fits into it.

        Args:
            offset: Where the request begins.
            length: How many bytes it has, if it says so.

        Raises:
            ConflictError: The upload has another offset.
            OversizedError: The bytes exceed the announced size.
        """
        if offset != self.offset:
            raise ConflictError("upload offset", self.offset, offset)
        if offset + (length or 0) > self.size:
            raise OversizedError(
                f"upload has {self.size} bytes, got {length} more at offset {offset}"
            )
