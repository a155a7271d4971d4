"""Makes a manifest anew from the bytes: they alone tell whether it is that of the recording.

A manifest in a blob store that sites share is another one's word. Taken unread, a false
one would have right bytes here mended with what it calls right.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from contracts.chunktree import BLOB_BYTES, leaf_hash, root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.examining import is_gone
from storage.recordings.fetching import fetch
from storage.recordings.manifest import StoredRecording
from storage.recordings.reader import read_blobs
from storage.recordings.shelves import Shelves
from storage.volumes.volume import Volume


class _StoppedError(Exception):
    """Told to stop."""


def restore(
    shelves: Shelves, recording_id: bytes, stop: Callable[[], bool]
) -> StoredRecording | None:
    """Return the manifest that a copy leads to, read as a whole; None if no copy can be found.

    A copy that is on its way out does not count. Told to stop, it finds none.

    Raises:
        RejectedError: The blob store has another recording's bytes, or not all.
        UnavailableError: The blob store did not answer.
    """
    with suppress(_StoppedError):
        return _of_volumes(shelves, recording_id, stop) or _of_blobs(shelves, recording_id, stop)
    return None


def measure_file(volume: Volume, recording_id: bytes) -> int | None:
    """Read a whole file and return its length; None if there is none, or not with the right bytes.

    Raises:
        UnavailableError: It could not be read to its end.
    """
    if is_gone(volume, recording_id):
        return None
    found = _measured(recording_id, _of_file(volume, recording_id), lambda: False)
    return found.size if found else None


def _of_volumes(
    shelves: Shelves, recording_id: bytes, stop: Callable[[], bool]
) -> StoredRecording | None:
    if (recording_id, Place.VOLUME) in set(shelves.catalogue.dropping()):
        return None
    for volume in shelves.volumes.usable():
        with suppress(UnavailableError):
            if is_gone(volume, recording_id):
                continue
            found = _measured(recording_id, _of_file(volume, recording_id), stop)
            if found is not None:
                return replace(found, copies=(Copy(Place.VOLUME, volume.name, FSYNC),))
    return None


def _of_blobs(
    shelves: Shelves, recording_id: bytes, stop: Callable[[], bool]
) -> StoredRecording | None:
    shared = shelves.shared(recording_id)
    if shared is None:
        return None
    one = partial(fetch, shelves, shared, on_flaw=lambda *_: None)
    found = _measured(recording_id, read_blobs(one, range(len(shared.leaves))), stop)
    if found is None:
        raise RejectedError(f"the blobs of recording {recording_id.hex()} are not its bytes")
    return replace(found, copies=(shelves.seal_blobs(found),))


def _of_file(volume: Volume, recording_id: bytes) -> Iterator[bytes]:
    length = volume.call(lambda directory: directory.whole_length(recording_id))
    for start in range(0, length or 0, BLOB_BYTES):
        yield volume.read(recording_id, start, BLOB_BYTES) or b""


def _measured(
    recording_id: bytes, pieces: Iterable[bytes], stop: Callable[[], bool]
) -> StoredRecording | None:
    """Return what bytes, a blob at a time, are the whole of; None if they are another's."""
    digest, leaves, size = hashlib.sha256(), [], 0
    for piece in pieces:
        if stop():
            raise _StoppedError
        digest.update(piece)
        leaves.append(leaf_hash(piece))
        size += len(piece)
    if digest.digest() != recording_id:
        return None
    return StoredRecording(recording_id, size, root_hash(leaves), tuple(leaves), ())
