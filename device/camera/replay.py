"""Adapter: Camera that copies a video file, byte for byte."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError
from contracts.records.recording import RecordingDigest
from contracts.runtime.files import created
from device.camera.container import is_cut, lacks_index, media_type, photo, plays
from device.camera.opencv import inspect
from device.camera.port import Footage, UndecodableError

_SUFFIX: Final = re.compile(r"\.[a-z0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class ReplayCamera:
    """A checked video file.

    Attributes:
        path: The file.
        digest: What identifies its bytes.
        footage: What it is. The duration of a file that is cut is what decodes.
        codec: Four characters, or empty.
        cut: Whether the file ends before its container says.
    """

    path: Path
    digest: RecordingDigest
    footage: Footage
    codec: str = ""
    cut: bool = False

    @classmethod
    def check(cls, path: Path) -> Self:
        """Check the video at `path`: readable, OpenCV opens it, at least one frame decodes.

        Raises:
            UndecodableError: No frame decodes, or it is a photo.
            RejectedError: It cannot be read; the message says what was expected.
            UnavailableError: OpenCV is not installed.
        """
        kind = media_type(path)
        if not path.stat().st_size:
            raise UndecodableError(f"video {path}: expected a video, the file is empty")
        if (picture := photo(path)) and inspect(path, cut=True).frames <= 1:
            raise UndecodableError(f"video {path}: expected a video, got a photo ({picture})")
        if lacks_index(path, kind):
            raise UndecodableError(
                f"video {path}: expected an index (box moov), it has none: its recorder was "
                f"stopped before it closed the file"
            )
        cut = is_cut(path, kind)
        film = inspect(path, cut=cut)
        digest = RecordingDigest.of_file(path)
        footage = Footage(path.name, kind, film.duration_ms, digest.sha256)
        return cls(path, digest, footage, film.codec, cut)

    @property
    def plays(self) -> bool:
        """Say whether usual browsers play it."""
        return plays(self.footage.media_type, self.codec)

    def notes(self) -> list[str]:
        """Return what an auditor will meet with this video, a line each."""
        seconds = self.footage.duration_ms / 1000
        lines = {
            f"cut: it ends before its container says; {seconds:g} s of it decode": self.cut,
            f"browsers do not play {self.codec or 'its codec'} in {self.footage.media_type}: it is "
            "kept, served and proved as it is": not self.plays,
        }
        return [line for line, holds in lines.items() if holds]

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
