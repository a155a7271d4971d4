"""Makes the copy of a whole recording that is missing, from one that holds.

Both ways the work is bounded in memory and can be killed at any byte: what is there
already is read and compared with the leaf hashes, and only the rest is written. The whole is
compared with the recording id: it may be that until now nobody here has read a byte of it.
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial

from contracts.chunktree import blob_count, blob_size, leaf_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob
from storage.recordings.fetching import fetch, verified_blob
from storage.recordings.manifest import StoredRecording
from storage.recordings.reader import read_blobs
from storage.recordings.shelves import Shelves
from storage.recordings.splitter import GROUP_BLOBS
from storage.volumes.guarded import VolumePart, open_part, open_part_on_first
from storage.volumes.volume import Volume

Stop = Callable[[], bool]
"""Says whether to stop; asked in between."""


def fill_places(
    shelves: Shelves,
    manifest: StoredRecording,
    places: Iterable[Place],
    replace: Callable[[StoredRecording, tuple[Copy, ...]], StoredRecording],
    stop: Stop,
) -> bool:
    """Make the copies that are missing, each into the manifest at once; say if all are made.

    Args:
        shelves: Where they go.
        manifest: Of the recording.
        places: The kinds of place that lack one.
        replace: Writes the manifest with other copies, and returns it.
        stop: Asked in between.

    Raises:
        RejectedError: No copy holds, whatever else failed.
        UnavailableError: A place failed or has no room; the others were filled.
    """
    problems: list[WaysealError] = []
    for place in places:
        try:
            copy = fill_place(shelves, manifest, place, stop)
        except WaysealError as error:
            problems.append(error)
            continue
        if copy is None:
            return False
        manifest = replace(manifest, (*manifest.copies, copy))
    for problem in problems:
        if isinstance(problem, RejectedError):
            raise problem
    if problems:
        raise problems[0]
    return True


def fill_place(
    shelves: Shelves, manifest: StoredRecording, place: Place, stop: Stop
) -> Copy | None:
    """Make one copy and return it; None when told to stop.

    Raises:
        RejectedError: No copy holds, or together the blobs are not the recording.
        UnavailableError: A place failed or has no room.
    """
    if place is Place.BLOBS:
        return _fill_blobs(shelves, manifest, stop)
    return _fill_volume(shelves, manifest, stop)


def _fill_blobs(shelves: Shelves, manifest: StoredRecording, stop: Stop) -> Copy | None:
    wrong, digest = set(shelves.not_put(manifest)), hashlib.sha256()

    def read(index: int) -> bytes:
        if index not in wrong:
            try:
                stored = shelves.blobs.get(manifest.sha256, index, fresh=True)
                return verified_blob(stored, manifest, index)
            except WaysealError:
                wrong.add(index)
        return _fetch(shelves, manifest, index)

    group: list[Blob] = []
    for index, data in enumerate(read_blobs(read, range(len(manifest.leaves)))):
        if stop():
            return None
        digest.update(data)
        if index in wrong:
            group.append(Blob(index, data, manifest.leaves[index]))
        if len(group) == GROUP_BLOBS:
            shelves.blobs.put_many(manifest.sha256, group)  # meanwhile the next ones are read
            group = []
    if group:
        shelves.blobs.put_many(manifest.sha256, group)
    _check_digest(digest.digest(), manifest)
    return shelves.seal_blobs(manifest)


def _fill_volume(shelves: Shelves, manifest: StoredRecording, stop: Stop) -> Copy | None:
    part, digest = _part(shelves, manifest), hashlib.sha256()
    try:
        part = _behind_what_holds(part, manifest, digest.update)
        rest = range(blob_count(part.offset), len(manifest.leaves))
        for data in read_blobs(partial(_fetch, shelves, manifest), rest):
            if stop():
                return None
            writing = part.begin_append(data)
            digest.update(data)
            part.wait(writing)
        _check_digest(digest.digest(), manifest)
        part.sync()
        part.publish()
    finally:
        part.close()
    return Copy(Place.VOLUME, part.volume.name, FSYNC)


def _check_digest(actual: bytes, manifest: StoredRecording) -> None:
    if actual != manifest.sha256:
        raise RejectedError(
            f"the blobs of recording {manifest.sha256.hex()} together have SHA-256 {actual.hex()}"
        )


def _part(shelves: Shelves, manifest: StoredRecording) -> VolumePart:
    """Open the part where one is that a kill left behind, or a whole file; else where room is."""
    recording_id, size = manifest.sha256, manifest.size
    volumes = sorted(shelves.volumes, key=lambda volume: not _has(volume, recording_id))
    return open_part_on_first(volumes, recording_id, size, size)


def _has(volume: Volume, recording_id: bytes) -> bool:
    try:
        return volume.call(lambda directory: directory.length(recording_id)) > 0
    except UnavailableError:
        return False


def _behind_what_holds(
    part: VolumePart, manifest: StoredRecording, digest: Callable[[bytes], None]
) -> VolumePart:
    """Return the part opened behind its last blob in a row that holds; hash those."""
    kept = 0
    for index, leaf in enumerate(manifest.leaves):
        data = part.read(kept, min(blob_size(manifest.size, index), part.offset - kept))
        if not data or leaf_hash(data) != leaf:
            break
        digest(data)
        kept += len(data)
    if kept == part.offset:
        return part
    part.close()
    return open_part(part.volume, manifest.sha256, manifest.size, kept)


def _fetch(shelves: Shelves, manifest: StoredRecording, index: int) -> bytes:
    return fetch(shelves, manifest, index, lambda *_: None)
