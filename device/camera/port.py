"""Port: where recordings come from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contracts.errors import RejectedError


class UndecodableError(RejectedError):
    """A file is there and readable, but no frame of a video comes out of it."""


@dataclass(frozen=True, slots=True)
class Footage:
    """What a camera reports about a film besides its bytes.

    Attributes:
        name: File name the camera gives it.
        media_type: Media type of the container.
        duration_ms: Milliseconds from first to last frame; 0 when the container does not say.
        source_sha256: SHA-256 of the file it was taken from, 32 bytes; empty when filmed live.
    """

    name: str
    media_type: str
    duration_ms: int
    source_sha256: bytes


class Camera(Protocol):
    """Films one recording, from the trip's start."""

    @property
    def size_max(self) -> int:
        """Most bytes that the film can take, for the buffer's limit."""
        ...

    @property
    def suffix(self) -> str:
        """Suffix of the film's file name, with the dot."""
        ...

    def film(self, path: Path) -> Footage:
        """Write one recording to the new file `path`; it is whole and durable on return.

        Raises:
            RejectedError: The camera cannot deliver a film; the message says why.
            UnavailableError: The file cannot be written; nothing of it stays.
        """
        ...
