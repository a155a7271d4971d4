"""Saves the video of an evidence file, once everything in the file is proved."""

import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from contracts.chunktree import BLOB_BYTES, blob_count
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RecordVideo
from contracts.runtime.files import make_directory, sync_directory

_ENDINGS: Final = {"video/mp4": ".mp4", "video/webm": ".webm", "video/x-msvideo": ".avi"}
"""By the media type that the device signed; no other word of the file becomes part of a name."""
_UNPROVED: Final = ".unproved"


class SavedVideo:
    """Writes checked blobs beside each other; the files get their names when all is proved.

    Without `keep`, leaving the context removes what was written. So a file with its name is
    always proved, also after a kill.

    Args:
        directory: Where to save; it is made, or it must be empty.

    Raises:
        RejectedError: The directory is not empty, or is not a directory.
        OSError: It cannot be made or read.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: tuple[bytes, BinaryIO] | None = None
        self._digests: dict[bytes, RecordVideo] = {}
        self._blobs: dict[bytes, int] = {}
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise RejectedError(
                f"expected an empty or a new directory for the video, got {directory}"
            )
        make_directory(directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._close()
        for sha256 in self._digests:
            self._path(sha256).unlink(missing_ok=True)

    def put(self, digest: RecordVideo, index: int, data: bytes) -> None:
        """Write a checked blob at its place in its recording; what never comes stays zero.

        Raises:
            OSError: The disk is full or failed.
        """
        if self._open is None or self._open[0] != digest.sha256:
            self._close()
            known = digest.sha256 in self._digests
            file: BinaryIO = self._path(digest.sha256).open("r+b" if known else "xb")
            self._open = (digest.sha256, file)
            self._digests[digest.sha256] = digest
            file.truncate(digest.size)
        self._blobs[digest.sha256] = self._blobs.get(digest.sha256, 0) + 1
        self._open[1].seek(index * BLOB_BYTES)
        self._open[1].write(data)

    def keep(self) -> list[Path]:
        """Give the files their names; return them, a part of a recording as `ID.part.mp4`.

        Raises:
            OSError: The disk is full or failed.
        """
        self._close()
        kept = []
        for sha256, digest in self._digests.items():
            whole = self._blobs[sha256] == blob_count(digest.size)
            ending = _ENDINGS.get(digest.media_type, ".video")
            name = f"{sha256.hex()}{'' if whole else '.part'}{ending}"
            kept.append(self._path(sha256).rename(self._directory / name))
        self._digests.clear()
        sync_directory(self._directory)
        return kept

    def _path(self, sha256: bytes) -> Path:
        return self._directory / f"{sha256.hex()}{_UNPROVED}"

    def _close(self) -> None:
        if self._open is not None:
            with self._open[1] as file:
                file.flush()
                os.fsync(file.fileno())  # a name that says "proved" must not survive its bytes
            self._open = None
