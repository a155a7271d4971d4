"""Adapter: Camera that copies a video file, byte for byte."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError
from contracts.records.recording import RecordingDigest
from contracts.runtime.files import created
from device.camera.container import media_type
from device.camera.opencv import inspect
from device.camera.port import Footage

_SUFFIX: Final = re.compile(r"\.[a-z0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class ReplayCamera:
    """A checked video file.

    Attributes:
        path: The file.
        digest: What identifies its bytes.
        footage: What it is.
    """

    path: Path
    digest: RecordingDigest
    footage: Footage

    @classmethod
    def check(cls, path: Path) -> Self:
        """Check the video at `path`: readable, OpenCV opens it, at least one frame decodes.

        Raises:
            RejectedError: One of these fails; the message says what was expected.
            UnavailableError: OpenCV is not installed.
        """
        kind, film = media_type(path), inspect(path)
        digest = RecordingDigest.of_file(path)
        return cls(path, digest, Footage(path.name, kind, film.duration_ms, digest.sha256))

    @property
    def size_max(self) -> int:
        """See `Camera.size_max`."""
        return self.digest.size

    @property
    def suffix(self) -> str:
        """See `Camera.suffix`."""
        suffix = self.path.suffix.lower()
        return suffix if _SUFFIX.fullmatch(suffix) else ".video"

    def film(self, path: Path) -> Footage:
        """See `Camera.film`."""
        with created(path) as part:
            with self.path.open("rb") as source, part.open("wb") as copy:
                while blob := source.read(BLOB_BYTES):
                    copy.write(blob)
            found = RecordingDigest.of_file(part)
            if found != self.digest:
                raise RejectedError(
                    f"video {self.path}: changed while it was copied: SHA-256 was "
                    f"{self.digest.sha256.hex()}, is {found.sha256.hex()}"
                )
        return self.footage
