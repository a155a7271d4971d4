"""Where an upload begins or continues: which copies it can make, and which bytes are durable.

1. At its end, if a volume has the whole file with the right bytes: the catalogue was lost, or an
   old one was restored. The file is never overwritten.
2. On the volume that its progress record names, if that works: at the recorded offset.
3. On the first volume that works and has room: from the blobs, up to the recorded offset.
4. In the blob store alone, if no volume works: up to the recorded offset too.

Only the recorded offset is trusted, not the length of a file or the number of blobs: after a power
cut a file may be longer than what reached the disk, and blobs behind the offset may come from a
request with a wrong checksum.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.manifest import Progress
from storage.recordings.places import Places
from storage.recordings.recovery import measure_file
from storage.volumes.volumepart import VolumePart, open_part, open_part_on_first

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UploadStart:
    """What a writer starts with.

    Attributes:
        recording_id: 32 bytes.
        size: Bytes of the whole recording.
        part: The copy on a volume; None if the upload goes to the blob store alone.
        kept: The durable bytes, in order, up to the offset of the progress record.
        copies_kept: Whether these bytes come from the blob store, so the part needs them too.
    """

    recording_id: bytes
    size: int
    part: VolumePart | None
    kept: Iterator[bytes]
    copies_kept: bool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.part is not None:
            self.part.close()


def open_upload(places: Places, progress: Progress, *, refuse: bool) -> UploadStart:
    """Decide where an upload continues, and open it there.

    Args:
        places: Where recordings are.
        progress: Its progress record.
        refuse: Whether a volume is required.

    Raises:
        RejectedError: A volume has the whole recording with another size.
        UnavailableError: No volume has room, a required volume does not work, or a whole file
            cannot be read.
    """
    progress = _with_whole_file(places, progress)
    part = _resumed(places, progress)
    if part is not None:
        kept, copied = _of_part(part), False
    else:
        part = _chosen(places, progress, refuse=refuse)
        kept, copied = _of_blobs(places, progress, needed=part is None), part is not None
    return UploadStart(progress.recording_id, progress.size, part, kept, copied)


def _with_whole_file(places: Places, progress: Progress) -> Progress:
    """If a volume has the whole file, record all of it as durable.

    The record is written before the file becomes a part again, since a part without a record is
    deleted as stale.
    """
    recording_id = progress.recording_id
    for volume in places.volumes.usable():
        if progress.volume == volume.name and progress.offset == progress.size:
            continue  # killed before the manifest was written; the bytes are read again anyway
        try:
            size = measure_file(volume, recording_id)
        except UnavailableError:
            if volume.usable:
                raise  # the file may be right, and would be overwritten
            continue
        if size is None:
            continue
        if size != progress.size:
            raise RejectedError(
                f"recording {recording_id.hex()} has {size} bytes, got {progress.size}"
            )
        _log.warning(
            "recording %s is whole on volume %s",
            recording_id.hex(),
            volume.name,
            extra={"recording_id": recording_id.hex()},
        )
        progress = Progress(recording_id, size, size, volume.name)
        places.catalogue.record(progress)
        break
    return progress


def _resumed(places: Places, progress: Progress) -> VolumePart | None:
    """Open the part that the progress record names; None if its volume is out or has lost it."""
    volume = places.volumes.get(progress.volume)
    if volume is None or not progress.offset:
        return None
    recording_id = progress.recording_id
    try:
        if volume.call(lambda directory: directory.length(recording_id)):
            return open_part(volume, recording_id, progress.size, progress.offset)
    except UnavailableError as error:
        _log.warning(
            "recording %s cannot continue where it was: %s",
            recording_id.hex(),
            error,
            extra={"recording_id": recording_id.hex()},
        )
    return None


def _chosen(places: Places, progress: Progress, *, refuse: bool) -> VolumePart | None:
    """Open a part on the first volume that works and has room; None if no volume works."""
    try:
        return open_part_on_first(places.volumes, progress.recording_id, progress.size, 0)
    except UnavailableError as error:
        if refuse or places.volumes.usable():
            raise
        _log.warning("the upload goes to the blob store alone: %s", error)
    return None


def _of_part(part: VolumePart) -> Iterator[bytes]:
    start = 0
    while start < part.offset:
        piece = part.read(start, min(BLOB_BYTES, part.offset - start))
        if not piece:
            raise UnavailableError(f"part ends at {start}, expected {part.offset} bytes")
        start += len(piece)
        yield piece


def _of_blobs(places: Places, progress: Progress, *, needed: bool) -> Iterator[bytes]:
    """Yield the leading intact blobs, up to the recorded offset."""
    left, index = progress.offset, 0
    while left:
        try:
            blob = places.blobs.get(progress.recording_id, index)
        except UnavailableError:
            if needed:
                raise
            return
        except RejectedError:
            return
        if blob is None or not blob.holds(blob.leaf_hash):
            return
        piece = bytes(blob.data)[:left]
        yield piece
        left, index = left - len(piece), index + 1
        if len(blob.data) < BLOB_BYTES:
            return
