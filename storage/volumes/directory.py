"""Whole recordings as files in a directory on a volume.

    root/ab/abcd…            a whole recording, readable by any player
    root/parts/abcd….part    one that is still being written

A part gets its final name once, when all of it is durable. It is not
preallocated: a reservation would let an announced upload that never comes
block the disk, while `require_room` says as clearly at the start that there
is not enough; large writes leave ext4 and XFS long extents anyway.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

from contracts.errors import UnavailableError
from contracts.files import disk_errors, make_directory, sync_directory, write_all
from storage.disk import FILE_MODE, drop_cache, read_at, remove_file, start_writeback

WRITEBACK_BYTES: Final = 8 << 20


class PartFile:
    """A recording on its way onto the volume, open for appending and for reading back.

    Attributes:
        offset: Where the next byte goes.
    """

    def __init__(self, path: Path, final: Path, offset: int) -> None:
        self._path = path
        self._final = final
        with disk_errors("open", path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
            try:
                self.offset = min(offset, os.fstat(self._descriptor).st_size)
                os.ftruncate(self._descriptor, self.offset)
                os.lseek(self._descriptor, self.offset, os.SEEK_SET)
                sync_directory(path.parent)
            except OSError:
                os.close(self._descriptor)
                raise
        self._written_back = self.offset

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, data: bytes | memoryview) -> None:
        """Write at the end; not durable before `sync`.

        Raises:
            UnavailableError: The medium failed or is full; how much was written is unknown.
        """
        with disk_errors(f"write {len(data)} bytes at {self.offset} to", self._path):
            write_all(self._descriptor, [data])
            self.offset += len(data)
            if self.offset - self._written_back >= WRITEBACK_BYTES:
                length = self.offset - self._written_back
                start_writeback(self._descriptor, self._written_back, length)
                self._written_back = self.offset

    def read(self, start: int, length: int) -> bytes:
        """Return the bytes from `start`, fewer than `length` only at the end."""
        with disk_errors(f"read {length} bytes at {start} of", self._path):
            return read_at(self._descriptor, start, length)

    def sync(self) -> None:
        """Return once everything appended so far is durable.

        Raises:
            UnavailableError: The medium failed. The pages may be lost yet look clean, so the
                part must be opened anew at an offset that an earlier sync vouches for.
        """
        with disk_errors(f"sync {self.offset} bytes of", self._path):
            os.fdatasync(self._descriptor)

    def publish(self) -> None:
        """Give the part its final name, durably; call `sync` before."""
        make_directory(self._final.parent)
        with disk_errors("publish", self._final):
            self._path.replace(self._final)
            sync_directory(self._final.parent)

    def close(self) -> None:
        """Release the file; closing twice is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class WholeFile:
    """A whole recording, open for reading."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def read(self, start: int, length: int) -> bytes:
        """Return the bytes from `start`, fewer than `length` where the file ends.

        Raises:
            UnavailableError: The medium failed.
        """
        with disk_errors(f"read {length} bytes at {start} of", self._path):
            return read_at(self._descriptor, start, length)


class VolumeDirectory:
    """Keeps whole recordings below one directory.

    Args:
        root: Directory for this store alone; made when it is missing.
        name: Name of this copy in manifests, receipts and reports.

    Raises:
        UnavailableError: The directory cannot be made.
    """

    def __init__(self, root: Path, name: str = "volume") -> None:
        self._root = root
        self.name = name
        self._parts = root / "parts"
        make_directory(self._parts)

    def part(self, recording_id: bytes, offset: int) -> PartFile:
        """Open the part for writing at `offset`, or at its end where it is shorter.

        Bytes behind the offset are cut off. A file that has its final name already becomes a
        part again: whoever asks has not finished it.
        """
        path, final = self._part(recording_id), self._final(recording_id)
        with disk_errors("reopen", final):
            if final.exists():
                final.replace(path)
                sync_directory(final.parent)
        return PartFile(path, final, offset)

    @contextmanager
    def whole(self, recording_id: bytes, *, fresh: bool = False) -> Iterator[WholeFile | None]:
        """Open the whole file for reading; None when it is not there.

        Args:
            recording_id: 32 bytes.
            fresh: Read the medium, not the page cache.
        """
        path = self._final(recording_id)
        with disk_errors("open", path):
            try:
                descriptor = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                descriptor = -1
        if descriptor < 0:
            yield None
            return
        try:
            if fresh:
                drop_cache(descriptor)
            yield WholeFile(path, descriptor)
        finally:
            os.close(descriptor)

    def length(self, recording_id: bytes) -> int:
        """Return how many bytes of the recording are here, in its part or whole; 0 for none.

        Raises:
            UnavailableError: The medium failed.
        """
        for path in (self._final(recording_id), self._part(recording_id)):
            with disk_errors("look at", path), suppress(FileNotFoundError):
                return path.stat().st_size
        return 0

    def delete(self, recording_id: bytes) -> None:
        """Remove part and whole file durably; neither being there is fine."""
        remove_file(self._part(recording_id))
        remove_file(self._final(recording_id))

    def require_room(self, length: int) -> None:
        """Check that `length` more bytes fit now; others may still take the room.

        Raises:
            UnavailableError: Less is free, or the volume does not answer.
        """
        with disk_errors("ask for free space of", self._root):
            state = os.statvfs(self._root)
        free = state.f_bavail * state.f_frsize
        if free < length:
            raise UnavailableError(
                f"volume {self._root}: {length} bytes needed, {free} free (ENOSPC)"
            )

    def _part(self, recording_id: bytes) -> Path:
        return self._parts / f"{recording_id.hex()}.part"

    def _final(self, recording_id: bytes) -> Path:
        text = recording_id.hex()
        return self._root / text[:2] / text
