"""Makes the missing copy of a whole recording, from an intact one.

Memory is bounded, and the process may be killed at any byte: existing bytes are read and compared
with the leaf hashes, and only the rest is written. At the end the SHA-256 of all bytes is compared
with the recording id, since nobody at this site may have read them before.
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial

from contracts.chunktree import blob_count, blob_size, leaf_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob
from storage.recordings.blobcopies import fetch, stored_blob
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places
from storage.recordings.reader import read_blobs
from storage.recordings.splitter import GROUP_BLOBS
from storage.volumes.volume import Volume
from storage.volumes.volumepart import VolumePart, open_part, open_part_on_first

Stop = Callable[[], bool]
"""Returns True when the work is to stop; called between two blobs."""


def fill_places(
    places: Places,
    manifest: StoredRecording,
    kinds: Iterable[Place],
    replace: Callable[[StoredRecording, tuple[Copy, ...]], StoredRecording],
    stop: Stop,
) -> bool:
    """Make the missing copies; enter each into the manifest at once. Return whether all are made.

    Args:
        places: Where they go.
        manifest: Of the recording.
        kinds: The kinds of place without a copy.
        replace: Writes the manifest with other copies, and returns it.
        stop: Called between two blobs.

    Raises:
        RejectedError: No copy is intact; it takes precedence over other errors.
        UnavailableError: A place failed or is full; the other copies were made.
    """
    problems: list[WaysealError] = []
    for kind in kinds:
        try:
            copy = fill_place(places, manifest, kind, stop)
        except WaysealError as error:
            problems.append(error)
            continue
        if copy is None:
            return False
        manifest = replace(manifest, (*manifest.copies, copy))
    if problems:
        raise next((each for each in problems if isinstance(each, RejectedError)), problems[0])
    return True


def fill_place(places: Places, manifest: StoredRecording, place: Place, stop: Stop) -> Copy | None:
    """Make one copy and return it; None if it was stopped.

    Raises:
        RejectedError: No copy is intact, or the blobs together are not the recording.
        UnavailableError: A place failed or is full.
    """
    if place is Place.BLOBS:
        return _fill_blobs(places, manifest, stop)
    return _fill_volume(places, manifest, stop)


def _fill_blobs(places: Places, manifest: StoredRecording, stop: Stop) -> Copy | None:
    wrong, digest = set(places.not_put(manifest)), hashlib.sha256()

    def read(index: int) -> bytes:
        if index not in wrong:
            try:
                return stored_blob(places, manifest, index, fresh=True)
            except WaysealError:
                wrong.add(index)
        return fetch(places, manifest, index)

    group: list[Blob] = []
    for index, data in enumerate(read_blobs(read, range(len(manifest.leaves)))):
        if stop():
            return None
        digest.update(data)
        if index in wrong:
            group.append(Blob(index, data, manifest.leaves[index]))
        if len(group) == GROUP_BLOBS:
            places.blobs.put_many(manifest.sha256, group)  # the next ones are read during this
            group = []
    if group:
        places.blobs.put_many(manifest.sha256, group)
    _check_digest(digest.digest(), manifest)
    return places.seal_blobs(manifest)


def _fill_volume(places: Places, manifest: StoredRecording, stop: Stop) -> Copy | None:
    part, digest = _part(places, manifest), hashlib.sha256()
    try:
        part = _behind_what_holds(part, manifest, digest.update)
        rest = range(blob_count(part.offset), len(manifest.leaves))
        for data in read_blobs(partial(fetch, places, manifest), rest):
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


def _part(places: Places, manifest: StoredRecording) -> VolumePart:
    """Open a part on a volume that has a part or whole file already, else where there is room."""
    recording_id, size = manifest.sha256, manifest.size
    volumes = sorted(places.volumes, key=lambda volume: not _has(volume, recording_id))
    return open_part_on_first(volumes, recording_id, size, size)


def _has(volume: Volume, recording_id: bytes) -> bool:
    try:
        return volume.call(lambda directory: directory.length(recording_id)) > 0
    except UnavailableError:
        return False


def _behind_what_holds(
    part: VolumePart, manifest: StoredRecording, digest: Callable[[bytes], None]
) -> VolumePart:
    """Return the part, opened behind its leading intact blobs, which are hashed."""
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
