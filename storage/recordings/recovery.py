"""Rebuilds a damaged manifest from the bytes of a copy, which alone prove that it is right.

A manifest in a shared blob store is only a claim of another site. If a false one were taken without
reading the blobs, repairs would overwrite intact bytes here with the ones that it claims.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from contracts.chunktree import BLOB_BYTES, leaf_hash, root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError
from storage.hashing.onepass import recording_hash
from storage.recordings.blobcopies import fetch
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places
from storage.recordings.reader import read_blobs
from storage.recordings.repair import is_gone
from storage.volumes.volume import Volume


class _StoppedError(Exception):
    """The work was stopped."""


def restore(
    places: Places, recording_id: bytes, stop: Callable[[], bool]
) -> StoredRecording | None:
    """Read a whole copy and return its manifest; None if there is no copy, or it was stopped.

    A copy that is being deleted does not count.

    Raises:
        RejectedError: The blobs are those of another recording, or incomplete.
        UnavailableError: The blob store did not answer.
    """
    with suppress(_StoppedError):
        return _of_volumes(places, recording_id, stop) or _of_blobs(places, recording_id, stop)
    return None


def measure_file(volume: Volume, recording_id: bytes) -> int | None:
    """Read a whole file and return its length; None if it is missing or has other bytes.

    Raises:
        UnavailableError: The file could not be read to its end.
    """
    if is_gone(volume, recording_id):
        return None
    found = _measured(recording_id, _of_file(volume, recording_id), lambda: False)
    return found.size if found else None


def _of_volumes(
    places: Places, recording_id: bytes, stop: Callable[[], bool]
) -> StoredRecording | None:
    if (recording_id, Place.VOLUME) in set(places.catalogue.dropping()):
        return None
    for volume in places.volumes.usable():
        with suppress(UnavailableError):
            if is_gone(volume, recording_id):
                continue
            found = _measured(recording_id, _of_file(volume, recording_id), stop)
            if found is not None:
                return replace(found, copies=(Copy(Place.VOLUME, volume.name, FSYNC),))
    return None


def _of_blobs(
    places: Places, recording_id: bytes, stop: Callable[[], bool]
) -> StoredRecording | None:
    shared = places.shared(recording_id)
    if shared is None:
        return None
    one = partial(fetch, places, shared)
    found = _measured(recording_id, read_blobs(one, range(len(shared.leaves))), stop)
    if found is None:
        raise RejectedError(f"the blobs of recording {recording_id.hex()} have another SHA-256")
    return replace(found, copies=(places.seal_blobs(found),))


def _of_file(volume: Volume, recording_id: bytes) -> Iterator[bytes]:
    length = volume.call(lambda directory: directory.whole_length(recording_id))
    for start in range(0, length or 0, BLOB_BYTES):
        yield volume.read(recording_id, start, BLOB_BYTES) or b""


def _measured(
    recording_id: bytes, pieces: Iterable[bytes], stop: Callable[[], bool]
) -> StoredRecording | None:
    """Return the manifest of these bytes, given blob by blob; None if they have another SHA-256."""
    digest, size = recording_hash(), 0
    leaves: list[bytes] = []
    for piece in pieces:
        if stop():
            raise _StoppedError
        leaves += digest.update_blobs(piece) or [leaf_hash(piece)]
        size += len(piece)
    if digest.digest() != recording_id:
        return None
    return StoredRecording(recording_id, size, root_hash(leaves), tuple(leaves), ())
