"""Port: what retention asks of the store of recordings."""

from collections.abc import Callable, Iterator
from typing import Protocol

from contracts.copies import Copy, Place
from storage.recordings.manifest import Progress, StoredRecording


class Deletable(Protocol):
    """A store whose copies can be deleted one by one; its methods may raise UnavailableError."""

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every whole recording."""
        ...

    def partial(self) -> Iterator[Progress]:
        """Yield how far each recording has come that is not whole."""
        ...

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return what is known of a whole recording; None when it is not whole."""
        ...

    def progress(self, recording_id: bytes) -> Progress | None:
        """Return how far a partial recording is; None when it is whole or unknown."""
        ...

    def blobs_hold(self, recording_id: bytes) -> bool:
        """Say whether the blob store has the recording as whole, with every blob's leaf hash."""
        ...

    def prove_blobs(self, recording_id: bytes, stop: Callable[[], bool]) -> bool:
        """Read every blob in the blob store, mend what is wrong; say whether all hold now.

        Raises:
            RejectedError: The recording is not whole here.
        """
        ...

    def drop(self, recording_id: bytes, copy: Copy) -> None:
        """Remove a copy durably, from the manifest first; it is not made again.

        Raises:
            RejectedError: The recording is not whole here, or has no other copy.
        """
        ...

    def want(self, recording_id: bytes, place: Place) -> None:
        """Have a copy made again that was dropped.

        Raises:
            RejectedError: The recording is not whole here.
        """
        ...

    def delete(self, recording_id: bytes) -> None:
        """Remove a recording, whole or partial, and all its copies."""
        ...
