"""Port: what the scrub asks of the store of recordings."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from storage.recordings.manifest import StoredRecording


@dataclass(frozen=True, slots=True)
class Finding:
    """One blob of one copy, or of one replica of it, that does not hold.

    Attributes:
        recording_id: 32 bytes.
        index: Of the blob.
        copy: Which copy or replica.
        kind: `rotten`, `missing` or `unread`.
        repaired: Whether it was mended.
        detail: What was expected and what is there.
    """

    recording_id: bytes
    index: int
    copy: str
    kind: str
    repaired: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Stray:
    """Bytes that belong to no recording and no upload known here.

    Attributes:
        recording_id: What they are called by, 32 bytes.
        copy: Where they are.
        detail: What is there.
    """

    recording_id: bytes
    copy: str
    detail: str


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

    def restore_manifest(self, recording_id: bytes) -> bool:
        """Replace a damaged manifest by the blob store's, if that holds; say whether it did."""
        ...

    def examine(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        """Read one blob of every copy and every replica from its medium; say what does not hold.

        A recording that is no longer whole has no findings.
        """
        ...

    def mend(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        """Examine, and write anew what does not hold from a copy that does; return the same."""
        ...

    def not_looked_at(self) -> dict[str, str]:
        """Return, by copy, why `examine` passes it over now: a volume that is out."""
        ...

    def strays(self) -> Iterator[Stray]:
        """Yield what is stored and belongs to nothing that is known."""
        ...
