"""Port: what the scrub asks of the store of recordings."""

from collections.abc import Callable, Iterator
from typing import Protocol

from storage.recordings.examining import Finding, Survey
from storage.recordings.manifest import StoredRecording
from storage.recordings.strays import Stray, Unlisted


class Scrubbed(Protocol):
    """A store whose blobs can be examined and mended one by one.

    All methods may raise UnavailableError: a medium or peer failed as a whole.
    """

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every whole recording, in ascending order."""
        ...

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return what is known of a whole recording; None when it is not whole.

        Raises:
            RejectedError: The manifest is damaged.
        """
        ...

    def restore_manifest(self, recording_id: bytes, stop: Callable[[], bool]) -> bool:
        """Make a damaged manifest anew from a copy, if one holds; say whether that was done.

        That reads a whole copy; `stop` is asked in between, and told to stop nothing is done.
        """
        ...

    def survey(self, recording_id: bytes, index: int) -> Survey:
        """Read one blob of every copy and every replica from its medium; say what is wrong.

        Raises:
            RejectedError: The recording is not whole any more.
        """
        ...

    def mend(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        """Look again, and write anew what is wrong from a copy that holds; return what was wrong.

        Raises:
            RejectedError: The recording is not whole any more.
            BusyError: It is being written.
        """
        ...

    def reseal(self, recording_id: bytes) -> Finding | None:
        """Put the blob store's manifest anew if it is missing or wrong; return what was wrong.

        Raises:
            RejectedError: The recording is not whole any more.
            BusyError: It is being written.
        """
        ...

    def not_looked_at(self) -> dict[str, str]:
        """Return, by copy, why nobody can look at it now: a volume that is out."""
        ...

    def strays(self) -> Iterator[Stray | Unlisted]:
        """Yield what is stored and belongs to nothing that is known, and who does not say."""
        ...

    def damaged(self) -> Iterator[Stray]:
        """Yield what another site called whole, and what did not hold when it was read here."""
        ...
