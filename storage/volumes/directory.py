"""Whole recordings as files in a directory on a volume.

    root/ab/abcd…            a whole recording, readable by any player
    root/parts/abcd….part    one that is still being written

A part gets its final name once all of it is durable. Only parts stay open between calls, so that no
file is closed while another thread reads it.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.chunktree import HASH_BYTES
from contracts.errors import UnavailableError
from contracts.runtime.files import disk_errors, make_directory, remove_file, sync_directory
from storage.disk import drop_cache, opened, read_at
from storage.volumes.part import PartFile

_FILE: Final = re.compile(rf"([0-9a-f]{{{2 * HASH_BYTES}}})(?:\.part)?")
_PART: Final = re.compile(rf"([0-9a-f]{{{2 * HASH_BYTES}}})\.part")


class VolumeDirectory:
    """Whole recordings below one directory; every method may block as long as the medium does.

    Args:
        root: Directory for this store alone. Nothing is created in it before `prepare`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._parts = root / "parts"
        self._device: int | None = None

    def prepare(self) -> None:
        """Create missing subdirectories, and remember the file system for `check`.

        Raises:
            UnavailableError: The medium failed.
        """
        make_directory(self._parts)
        with disk_errors("look at", self.root):
            self._device = self.root.stat().st_dev

    def check(self) -> None:
        """Check that the path still leads to the same file system as at `prepare`.

        Raises:
            UnavailableError: Something was mounted over it, or it is no longer mounted.
        """
        with disk_errors("look at", self.root):
            self._check_device(self.root.stat().st_dev)

    def part(self, recording_id: bytes, size: int, offset: int) -> PartFile:
        """Open the part of a recording for writing at `offset`, or at its end if it is shorter.

        A file with its final name becomes a part again, because the caller has not finished it.

        Raises:
            UnavailableError: No room for `size` bytes, or the medium failed.
        """
        path, final = self._part(recording_id), self._final(recording_id)
        with disk_errors("reopen", final):
            if final.exists():
                final.replace(path)
                sync_directory(final.parent)
        return PartFile(
            path, final, size, offset, lambda opened: self._check_device(os.fstat(opened).st_dev)
        )

    def read(
        self, recording_id: bytes, start: int, length: int, *, fresh: bool = False
    ) -> bytes | None:
        """Return bytes of a whole file, fewer than `length` where it ends; None if it is missing.

        Args:
            recording_id: 32 bytes.
            start: First byte.
            length: How many.
            fresh: Read the medium, not the page cache.

        Raises:
            UnavailableError: The medium failed.
        """
        path = self._final(recording_id)
        with disk_errors(f"read {length} bytes at {start} of", path):
            try:
                with opened(path, os.O_RDONLY) as descriptor:
                    if fresh:
                        drop_cache(descriptor, start, length)
                    return read_at(descriptor, start, length)
            except FileNotFoundError:
                return None

    def patch(self, recording_id: bytes, start: int, data: bytes, size: int) -> None:
        """Overwrite bytes of a whole file durably, and cut the file to `size` bytes.

        Raises:
            UnavailableError: The file is missing, or the medium failed.
        """
        path = self._final(recording_id)
        action = f"mend {len(data)} bytes at {start} of"
        with disk_errors(action, path), opened(path, os.O_RDWR) as descriptor:
            written = 0
            while written < len(data):
                written += os.pwrite(descriptor, data[written:], start + written)
            if os.fstat(descriptor).st_size > size:
                os.ftruncate(descriptor, size)
            os.fsync(descriptor)

    def length(self, recording_id: bytes) -> int:
        """Return the length of the recording's file, whole or part; 0 without a file.

        A part has its final length from the start, except parts of older versions.

        Raises:
            UnavailableError: The medium failed.
        """
        return self.whole_length(recording_id) or _length(self._part(recording_id)) or 0

    def whole_length(self, recording_id: bytes) -> int | None:
        """Return the length of the whole file; None if it is missing.

        Raises:
            UnavailableError: The medium failed.
        """
        return _length(self._final(recording_id))

    def parts(self) -> Iterator[bytes]:
        """Yield the id of every recording that has a part."""
        with disk_errors("list", self._parts):
            names = sorted(path.name for path in self._parts.iterdir())
        yield from (bytes.fromhex(found[1]) for found in map(_PART.fullmatch, names) if found)

    def delete(self, recording_id: bytes) -> None:
        """Delete part and whole file durably; missing ones are fine."""
        self.delete_part(recording_id)
        remove_file(self._final(recording_id))

    def delete_part(self, recording_id: bytes) -> None:
        """Delete the part durably, and with it its reserved space."""
        remove_file(self._part(recording_id))

    def holdings(self) -> Iterator[tuple[bytes, int]]:
        """Yield id and bytes of every recording, whole or part, reservations included."""
        with disk_errors("look through", self.root):
            files = [*self.root.glob("[0-9a-f][0-9a-f]/*"), *self._parts.iterdir()]
        for path in files:
            found = _FILE.fullmatch(path.name)
            if found:
                yield bytes.fromhex(found[1]), _length(path) or 0

    def used_bytes(self) -> int:
        """Return the bytes that recordings use, reservations of parts included; stats each file."""
        return sum(size for _, size in self.holdings())

    def free_bytes(self) -> int:
        """Return the free bytes of the file system."""
        with disk_errors("ask for free space of", self.root):
            state = os.statvfs(self.root)
        return state.f_bavail * state.f_frsize

    def _check_device(self, device: int) -> None:
        if self._device is not None and device != self._device:
            raise UnavailableError(f"{self.root} leads to another file system than before")

    def _part(self, recording_id: bytes) -> Path:
        return self._parts / f"{recording_id.hex()}.part"

    def _final(self, recording_id: bytes) -> Path:
        text = recording_id.hex()
        return self.root / text[:2] / text


def _length(path: Path) -> int | None:
    with disk_errors("look at", path), suppress(FileNotFoundError):
        return path.stat().st_size
    return None
