"""Refuses requests that could make the gateway read a whole upload again and again.

Bytes may not be kept after a wrong checksum, if the connection broke before the checksum could be
checked, and if there are more than announced. They are in the upload's hash already. So the upload
must be opened again, which reads and hashes everything that it has.
"""

from typing import Final

from contracts.errors import RejectedError
from gateway.uploads.claims import Claim
from gateway.uploads.pouring import Checksum

SPOILED_MAX: Final = 3
"""Such requests of one upload."""
UPLOADS_MAX: Final = 10_000
"""Uploads whose failures are remembered."""


class SpoiledError(RejectedError):
    """Too many requests of an upload brought bytes that could not be kept."""


class Spoiled:
    """Counts such requests of each upload, until the upload ends; for one event loop."""

    def __init__(self) -> None:
        self._counts: dict[bytes, int] = {}

    def check(self, claim: Claim, length: int | None, checksum: Checksum | None) -> None:
        """Refuse a request that could spoil the upload once too often.

        Without a checksum, and with a known length, whatever comes is kept. The recording's own
        digest is checked at the end in any case.

        Raises:
            SpoiledError: It is such a request.
        """
        count = self._counts.get(claim.upload, 0)
        if count >= SPOILED_MAX and (checksum is not None or length is None):
            raise SpoiledError(
                f"{count} requests for recording {claim.recording.hex()} brought bytes that could "
                f"not be kept, at most {SPOILED_MAX} allowed: send the rest with Content-Length "
                f"and without Upload-Checksum, or delete the upload and announce it again"
            )

    def count(self, claim: Claim) -> None:
        """Count a request after which the upload must be opened again."""
        self._counts[claim.upload] = self._counts.pop(claim.upload, 0) + 1
        if len(self._counts) > UPLOADS_MAX:
            del self._counts[next(iter(self._counts))]

    def forget(self, claim: Claim) -> None:
        """Forget an upload that was deleted or is whole."""
        self._counts.pop(claim.upload, None)
