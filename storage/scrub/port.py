"""Port: what the scrub needs of a store of recordings; `RecordingStore` has it all."""

from collections.abc import Callable, Iterator
from typing import Protocol

from storage.blobs.port import Returned
from storage.recordings.blobcopies import Finding, Survey
from storage.recordings.manifest import StoredRecording
from storage.recordings.orphans import Orphan, Unlisted


class Scrubbed(Protocol):
    """A store whose blobs can be surveyed and mended one by one.

    All methods may raise UnavailableError: a medium or peer failed completely.
    """

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every whole recording, in ascending order."""
        ...

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest of a whole recording; None if it is not whole.

        Raises:
            RejectedError: The manifest is damaged.
        """
        ...

    def restore_manifest(self, recording_id: bytes, stop: Callable[[], bool]) -> bool:
        """Rebuild a damaged manifest from an intact copy; return whether that was done.

        This reads a whole copy; `stop` is called between two blobs, and True ends it undone.
        """
        ...

    def survey(self, recording_id: bytes, index: int) -> Survey:
        """Read one blob of every copy and every replica from its medium; return the faults.

        Raises:
            RejectedError: The recording is no longer whole.
        """
        ...

    def mend(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        """Survey one blob, overwrite damaged copies from an intact one; return what was wrong.

        Raises:
            RejectedError: The recording is no longer whole.
            BusyError: It is being written.
        """
        ...

    def reseal(self, recording_id: bytes) -> Finding | None:
        """Write the blob store's manifest again if it is missing or wrong; return what was wrong.

        Raises:
            RejectedError: The recording is no longer whole.
            BusyError: It is being written.
        """
        ...

    def not_looked_at(self) -> dict[str, str]:
        """Return the copies that cannot be read now, because a volume is out, with the reasons."""
        ...

    def returned(self, stop: Callable[[], bool]) -> Iterator[Returned]:
        """Delete again what a replica has of any deleted recording: see `BlobStore.returned`."""
        ...

    def orphans(self) -> Iterator[Orphan | Unlisted]:
        """Yield stored bytes of no known recording, and places that cannot be listed."""
        ...

    def damaged(self) -> Iterator[Orphan]:
        """Yield recordings of other sites whose blobs were found damaged when read here."""
        ...
