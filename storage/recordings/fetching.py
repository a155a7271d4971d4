"""Gets one blob of a recording from whichever copy holds, nearest first, and says what did not."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from contracts.chunktree import BLOB_BYTES, blob_size, leaf_hash
from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob, Replica
from storage.recordings.manifest import StoredRecording
from storage.recordings.shelves import Shelves
from storage.volumes.volume import Volume

OnFlaw = Callable[[str, WaysealError], None]
"""Told the name of a copy that could not serve a blob, and why not."""


OnDamage = Callable[[bytes, int, str], None]
"""Told recording id, blob index and copy that could not serve: missing, rotten or unreadable."""

_log: Final = logging.getLogger(__name__)


class _Source(NamedTuple):
    name: str
    place: Place
    read: Callable[[], bytes]


def log_damage(recording_id: bytes, index: int, copy: str) -> None:
    """Say in the log what could not be served; the plainest `OnDamage`."""
    _log.error("recording %s blob %d: copy %s is damaged", recording_id.hex(), index, copy)


class MissingError(RejectedError):
    """The copy does not have the blob."""


def fetch(shelves: Shelves, manifest: StoredRecording, index: int, on_flaw: OnFlaw) -> bytes:
    """Return one blob, verified.

    A volume that is out is skipped. The blob store is asked whatever the manifest says: blobs of
    a copy that is not whole may still help.

    Raises:
        RejectedError: No copy holds.
        UnavailableError: No copy holds, but one did not answer.
    """
    flaws: list[str] = []
    no_answer: UnavailableError | None = None
    listed = {copy.place for copy in manifest.copies}
    for source in _sources(shelves, manifest, index):
        try:
            return source.read()
        except WaysealError as error:
            flaws.append(f"copy {source.name}: {error}")
            if isinstance(error, UnavailableError):
                no_answer = error
            if source.place in listed:
                on_flaw(source.name, error)
    out = [volume for volume in shelves.volumes_of(manifest) if not volume.usable]
    flaws += [f"volume {volume.name} is out: {volume.reason}" for volume in out]
    message = (
        f"recording {manifest.sha256.hex()} blob {index}: no copy holds "
        f"({'; '.join(flaws) or 'there is none'})"
    )
    if no_answer is not None or out:
        raise UnavailableError(message) from no_answer
    raise RejectedError(message)


def volume_chunk(
    volume: Volume, manifest: StoredRecording, index: int, *, fresh: bool = False
) -> bytes:
    """Return a blob from the whole file on a volume, verified.

    Raises:
        RejectedError: It is missing or rotten.
        UnavailableError: The volume is out, or failed.
    """
    length = blob_size(manifest.size, index)
    if index == len(manifest.leaves) - 1:
        length += 1  # a file that goes on behind its end is not the recording
    data = volume.read(manifest.sha256, index * BLOB_BYTES, length, fresh=fresh)
    return verified(data or None, manifest, index)


def verified(data: bytes | None, manifest: StoredRecording, index: int) -> bytes:
    """Return the data if its leaf hash is the manifest's.

    Raises:
        RejectedError: There is none, or it is another.
    """
    if data is None:
        raise MissingError(f"blob {index} is missing")
    actual, expected = leaf_hash(data), manifest.leaves[index]
    if actual != expected:
        raise RejectedError(
            f"blob {index} of {len(data)} bytes has leaf hash {actual.hex()}, "
            f"expected {expected.hex()}"
        )
    return data


def verified_blob(blob: Blob | None, manifest: StoredRecording, index: int) -> bytes:
    """Return a blob's data if it and the hash that it carries are the manifest's.

    Raises:
        RejectedError: There is none, or it is another.
    """
    expected = manifest.leaves[index]
    if blob is not None and blob.leaf_hash != expected:
        raise RejectedError(
            f"blob {index} carries leaf hash {blob.leaf_hash.hex()}, expected {expected.hex()}"
        )
    return verified(blob.data if blob else None, manifest, index)


def _sources(shelves: Shelves, manifest: StoredRecording, index: int) -> Iterator[_Source]:
    blobs, recording_id = shelves.blobs, manifest.sha256
    for volume in shelves.volumes_of(manifest):
        if volume.usable:
            name = f"{Place.VOLUME}:{volume.name}"
            yield _Source(name, Place.VOLUME, partial(volume_chunk, volume, manifest, index))
    stored = partial(blobs.get, recording_id, index)
    yield _Source(
        f"{Place.BLOBS}:{blobs.name}",
        Place.BLOBS,
        lambda: verified_blob(stored(), manifest, index),
    )
    for replica in _replicas(shelves, recording_id, index):
        name = f"{Place.BLOBS}:{replica.name}"
        yield _Source(name, Place.BLOBS, partial(verified_blob, replica.blob, manifest, index))


def _replicas(shelves: Shelves, recording_id: bytes, index: int) -> Iterator[Replica]:
    """Yield what single replicas have, where the store has more than one and they answer."""
    with suppress(UnavailableError):
        for replica in shelves.blobs.replicas(recording_id, index):
            if replica.error is None and replica.name != shelves.blobs.name:
                yield replica
