"""Where an upload begins or goes on: which copies it can make now, and what is durable already.

1. At its end, if a whole file of the right bytes is on a volume: the catalogue was lost, or is an
   older one. It is never written over.
2. On the volume that its progress record names, if that works: at the recorded offset.
3. On the first volume that works and has room, from the blobs up to the recorded offset.
4. Without a volume that works: in the blob store alone, likewise.

The recorded offset is trusted, not a file's length, nor how many blobs there are: after
a power cut a file may be longer than what reached the disk, and blobs behind the offset may
be of a request whose checksum did not hold.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.manifest import Progress
from storage.recordings.restoring import measure_file
from storage.recordings.shelves import Shelves
from storage.volumes.guarded import VolumePart, open_part, open_part_on_first

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """What an upload begins with.

    Attributes:
        recording_id: 32 bytes.
        size: Bytes that it will have.
        part: The copy on a volume; None when there is to be none.
        kept: What is durable, in order; at most the offset of the progress record.
        copies_kept: Whether those bytes come from the blob store, so that the part needs them.
    """

    recording_id: bytes
    size: int
    part: VolumePart | None
    kept: Iterator[bytes]
    copies_kept: bool


def open_upload(shelves: Shelves, progress: Progress, *, refuse: bool) -> Opening:
    """Decide where an upload goes on, and open it there.

    Args:
        shelves: Where recordings are.
        progress: How far it has come.
        refuse: Whether there must be a volume.

    Raises:
        RejectedError: It is whole on a volume, and of another size.
        UnavailableError: No volume has room; or none works and there must be one; or a whole file
            cannot be read.
    """
    progress = _with_whole_file(shelves, progress)
    part = _resumed(shelves, progress)
    if part is not None:
        kept, copied = _of_part(part), False
    else:
        part = _chosen(shelves, progress, refuse=refuse)
        kept, copied = _of_blobs(shelves, progress, needed=part is None), part is not None
    return Opening(progress.recording_id, progress.size, part, kept, copied)


def _with_whole_file(shelves: Shelves, progress: Progress) -> Progress:
    """Record the end as durable if a whole file is that no record tells of.

    The record comes before the file gets the name of a part, since a part without one is removed.
    """
    recording_id = progress.recording_id
    for volume in shelves.volumes.usable():
        if progress.volume == volume.name and progress.offset == progress.size:
            continue  # a kill came before the manifest; its bytes are read again anyway
        try:
            size = measure_file(volume, recording_id)
        except UnavailableError:
            if volume.usable:
                raise  # what it did not give may be right, and would be written over
            continue
        if size is None:
            continue
        if size != progress.size:
            raise RejectedError(
                f"recording {recording_id.hex()} has {size} bytes, got {progress.size}"
            )
        _log.warning("recording %s is whole on volume %s", recording_id.hex(), volume.name)
        progress = Progress(recording_id, size, size, volume.name)
        shelves.catalogue.record(progress)
        break
    return progress


def _resumed(shelves: Shelves, progress: Progress) -> VolumePart | None:
    """Open the part that the record is about; None when that is out of reach, or has nothing."""
    volume = shelves.volumes.get(progress.volume)
    if volume is None or not progress.offset:
        return None
    recording_id = progress.recording_id
    try:
        if volume.call(lambda directory: directory.length(recording_id)):
            return open_part(volume, recording_id, progress.size, progress.offset)
    except UnavailableError as error:
        _log.warning("recording %s cannot go on where it was: %s", recording_id.hex(), error)
    return None


def _chosen(shelves: Shelves, progress: Progress, *, refuse: bool) -> VolumePart | None:
    """Open a part on the first volume that works and has room; None when no volume works."""
    try:
        return open_part_on_first(shelves.volumes, progress.recording_id, progress.size, 0)
    except UnavailableError as error:
        if refuse or shelves.volumes.usable():
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


def _of_blobs(shelves: Shelves, progress: Progress, *, needed: bool) -> Iterator[bytes]:
    """Yield the contiguous blobs that hold, up to the recorded offset."""
    left, index = progress.offset, 0
    while left:
        try:
            blob = shelves.blobs.get(progress.recording_id, index)
        except UnavailableError:
            if needed:
                raise
            return
        except RejectedError:
            return
        if blob is None or not blob.holds(blob.leaf_hash):
            return
        piece = blob.data[:left]
        yield piece
        left, index = left - len(piece), index + 1
        if len(blob.data) < BLOB_BYTES:
            return
