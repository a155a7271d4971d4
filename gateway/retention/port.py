"""Port: the store of recordings, as retention uses it."""

from collections.abc import Callable, Iterator
from typing import Protocol

from contracts.copies import Copy, Place
from storage.recordings.manifest import Progress, StoredRecording


class Deletable(Protocol):
    """A store whose copies can be deleted one by one; every method may raise UnavailableError."""

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every whole recording."""
        ...

    def partial(self) -> Iterator[Progress]:
        """Yield the progress of each partial recording."""
        ...

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest of a whole recording, or None if it is not whole."""
        ...

    def progress(self, recording_id: bytes) -> Progress | None:
        """Return the progress of a partial recording, or None if it is whole or unknown."""
        ...

    def blobs_hold(self, recording_id: bytes) -> bool:
        """Say whether the blob store lists the recording as whole, with every blob's leaf hash."""
        ...

    def prove_blobs(self, recording_id: bytes, stop: Callable[[], bool]) -> bool:
        """Read every blob in the blob store and repair bad ones; say whether all are good now.

        Raises:
            RejectedError: The recording is not whole here.
        """
        ...

    def drop(self, recording_id: bytes, copy: Copy) -> None:
        """Remove a copy durably, from the manifest first, and do not make it again.

        Raises:
            RejectedError: The recording is not whole here, or has no other copy.
        """
        ...

    def want(self, recording_id: bytes, place: Place) -> None:
        """Have a dropped copy made again.

        Raises:
            RejectedError: The recording is not whole here.
        """
        ...

    def delete(self, recording_id: bytes) -> None:
        """Remove a recording, whole or partial, and all its copies."""
        ...
