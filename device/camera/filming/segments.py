"""Segments of film: files of fragmented MP4. A power cut costs no more than the last fragment.

Each fragment is a box `moof` and a box `mdat`, and decodes by itself once the boxes before the
first one are there. A segment is written to a file of another name, whose end is cut to the last
whole fragment when it is closed, whether by its camera or after a power cut.

Source: ISO/IEC 14496-12, 4.2 (boxes) and 8.8 (movie fragments).
"""

import os
import re
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from contracts.errors import UnavailableError
from contracts.records.recording import RecordingDigest
from contracts.runtime.files import OWNER_ONLY, PART_PREFIX, disk_errors, sync_directory

MEDIA_TYPE: Final = "video/mp4"
_NAME: Final = re.compile(r"(?:\.part-)?(?P<camera>.+)-(?P<number>[0-9]{6})\.mp4")
_HEAD: Final = struct.Struct(">I4s")
_LONG: Final = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Segment:
    """A whole segment, durable under its name.

    Attributes:
        name: File name, such as `dock-000017.mp4`.
        digest: Of its bytes.
        started_at_ms: UTC of its first picture, milliseconds; 0 if the file does not say.
        duration_ms: From its first picture to its last one, milliseconds.
        lost_bytes: Bytes at its end that were no whole fragment, and were cut.
        filmed_s: From when to when it was filmed, by the monotonic clock, seconds; None: nobody
            knows any more.
    """

    name: str
    digest: RecordingDigest
    started_at_ms: int
    duration_ms: int
    lost_bytes: int
    filmed_s: tuple[float, float] | None = None


class SegmentFile:
    """The file of an open segment, for a writer that only appends.

    Args:
        path: A new file.

    Raises:
        UnavailableError: It cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._lock = threading.Lock()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with disk_errors("make film", path):
            self._file: int | None = os.open(path, flags, OWNER_ONLY)

    def write(self, data: bytes) -> int:
        """Append `data`, and return its length.

        Raises:
            UnavailableError: The disk is full or failed, or the file was closed before that.
        """
        with self._lock:
            if self._file is None:
                raise UnavailableError(f"film {self.path} was closed while its camera hung")
            with disk_errors(f"write {len(data)} bytes to", self.path):
                done = 0
                while done < len(data):
                    done += os.write(self._file, data[done:])
            self.size += len(data)
        return len(data)

    def sync(self) -> None:
        """Make what was written durable.

        Raises:
            UnavailableError: The disk failed.
        """
        with self._lock:
            if self._file is not None:
                with disk_errors("sync film", self.path):
                    os.fdatasync(self._file)

    def close(self) -> None:
        """Close it; writing fails from now on. May be repeated, in any thread."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def name_of(camera: str, number: int) -> str:
    """Return the file name of a segment."""
    return f"{camera}-{number:06}.mp4"


def part_of(path: Path) -> Path:
    """Return where the segment `path` is written until it is whole."""
    return path.with_name(PART_PREFIX + path.name)


def is_segment(name: str) -> bool:
    """Say whether a file has the name of a segment, open or whole."""
    return _NAME.fullmatch(name) is not None


def place_of(name: str) -> tuple[str, int]:
    """Return camera and number of the segment with a file name; the name must be one."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"expected the name of a segment, got {name!r}")
    return found["camera"], int(found["number"])


def cut_to_whole(path: Path) -> int:
    """Cut a file to its last whole fragment, durably; return how many bytes were cut.

    A file without a whole fragment becomes empty.

    Raises:
        UnavailableError: The disk failed.
    """
    with disk_errors("cut film", path), path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        whole = _whole_bytes(file, size)
        if whole < size:
            file.truncate(whole)
        os.fsync(file.fileno())
    return size - whole


def keep(part: Path) -> Path:
    """Give the cut file `part` the name of a whole segment, durably, and return its path."""
    path = part.with_name(part.name.removeprefix(PART_PREFIX))
    if path != part:
        with disk_errors("rename film", part):
            part.rename(path)
            sync_directory(path.parent)
    return path


def _whole_bytes(file: BinaryIO, size: int) -> int:
    """Return where the last whole fragment ends; 0 without one."""
    at = whole = 0
    in_fragment = False
    while at + _HEAD.size <= size:
        file.seek(at)
        length, kind = _HEAD.unpack(file.read(_HEAD.size))
        if length == 1:
            long = file.read(_LONG.size)
            length = _LONG.unpack(long)[0] if len(long) == _LONG.size else 0
        if length < _HEAD.size or at + length > size:
            break
        at += length
        if kind == b"mdat" and in_fragment:
            whole, in_fragment = at, False
        elif kind == b"mfra" and whole:  # the index of fragments, at the end
            whole = at
        else:
            in_fragment = kind == b"moof"
    return whole
