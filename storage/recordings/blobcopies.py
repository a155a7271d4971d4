"""The copies of one blob: each is read and verified, and damaged ones are named.

`fetch` serves readers from the nearest intact copy. `survey_blob` looks at every copy on its
medium, for the scrub and for repairs.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from contracts.chunktree import BLOB_BYTES, blob_size, leaf_hash
from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob, Replica
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places
from storage.volumes.volume import Volume

NO_BLOB: Final = -1
"""In place of a blob's index: the recording as a whole."""
MANIFEST: Final = "manifest"
"""In place of a copy's name: the manifest in the catalogue."""
SEAL: Final = f"{Place.BLOBS}:manifest"
"""In place of a copy's name: the manifest in the blob store."""

OnFlaw = Callable[[str, WaysealError], None]
"""Called with the name of a copy that could not serve a blob, and the error."""

OnDamage = Callable[[bytes, int, str], None]
"""Called with recording id, blob index and the copy that could not serve it, for any reason."""

_log: Final = logging.getLogger(__name__)


class Flaw(StrEnum):
    """A fault of one copy of a blob."""

    ROTTEN = "rotten"
    MISSING = "missing"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Finding:
    """One damaged, missing or unreadable copy of one blob.

    Attributes:
        recording_id: 32 bytes.
        index: The blob's index in the recording, or `NO_BLOB`.
        copy: Which copy: `volume:NAME`, or `blobs:REPLICA`; `SEAL` without a blob.
        kind: Its fault.
        repaired: Whether the copy was written again and then read back correctly.
        detail: In words; if a repair failed, also why.
    """

    recording_id: bytes
    index: int
    copy: str
    kind: Flaw
    repaired: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Survey:
    """The result of reading every copy of one blob.

    Attributes:
        copies: Every copy and replica that was asked, named as in findings.
        findings: The copies with a flaw.
    """

    copies: tuple[str, ...]
    findings: tuple[Finding, ...]


class _Source(NamedTuple):
    name: str
    place: Place
    read: Callable[[], bytes]


def log_damage(recording_id: bytes, index: int, copy: str) -> None:
    """Log the copy that could not serve; the default `OnDamage`."""
    _log.error(
        "recording %s blob %d: copy %s is damaged",
        recording_id.hex(),
        index,
        copy,
        extra={"recording_id": recording_id.hex()},
    )


class MissingError(RejectedError):
    """The copy does not have the blob."""


def fetch(
    places: Places,
    manifest: StoredRecording,
    index: int,
    on_flaw: OnFlaw = lambda *_: None,
) -> bytes:
    """Return one blob, verified.

    A volume that is out is skipped. The blob store is asked even if the manifest does not name it,
    since it may have this blob of an incomplete copy.

    Raises:
        RejectedError: No copy is intact.
        UnavailableError: No copy that answered is intact, and one did not answer.
    """
    flaws: list[str] = []
    no_answer: UnavailableError | None = None
    listed = {copy.place for copy in manifest.copies}
    for source in _sources(places, manifest, index):
        try:
            return source.read()
        except WaysealError as error:
            flaws.append(f"copy {source.name}: {error}")
            if isinstance(error, UnavailableError):
                no_answer = error
            if source.place in listed:
                on_flaw(source.name, error)
    out = [volume for volume in places.volumes_of(manifest) if not volume.usable]
    flaws += [f"volume {volume.name} is out: {volume.reason}" for volume in out]
    message = (
        f"recording {manifest.sha256.hex()} blob {index}: no copy holds "
        f"({'; '.join(flaws) or 'there are no copies'})"
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
        length += 1  # a file that is longer than the recording is damaged
    data = volume.read(manifest.sha256, index * BLOB_BYTES, length, fresh=fresh)
    return _verified(data or None, manifest, index)


def stored_blob(
    places: Places, manifest: StoredRecording, index: int, *, fresh: bool = False
) -> bytes:
    """Return a blob from the blob store, verified.

    If what the nearest replica has is rotten, the store is asked for more than its word.

    Raises:
        RejectedError: It is missing or rotten.
        UnavailableError: The blob store failed.
    """
    blob = places.blobs.get(manifest.sha256, index, fresh=fresh)
    if not fresh and blob is not None:
        try:
            return _verified_blob(blob, manifest, index)
        except RejectedError:
            blob = places.blobs.get(manifest.sha256, index, fresh=True)
    return _verified_blob(blob, manifest, index)


def survey_blob(places: Places, manifest: StoredRecording, index: int) -> Survey:
    """Read one blob of every copy that the manifest names, from the medium."""
    copies: list[str] = []
    findings: list[Finding] = []
    for copy, read in _every_copy(places, manifest, index):
        copies.append(copy)
        try:
            read()
        except WaysealError as error:
            findings.append(finding_of(manifest, index, copy, error))
    return Survey(tuple(copies), tuple(findings))


def finding_of(manifest: StoredRecording, index: int, copy: str, error: WaysealError) -> Finding:
    """Return the finding that an error of a copy stands for."""
    return Finding(manifest.sha256, index, copy, flaw_of(error), repaired=False, detail=str(error))


def flaw_of(error: WaysealError) -> Flaw:
    """Return the fault of a copy that could not be read."""
    if isinstance(error, MissingError):
        return Flaw.MISSING
    return Flaw.ROTTEN if isinstance(error, RejectedError) else Flaw.UNREAD


def _sources(places: Places, manifest: StoredRecording, index: int) -> Iterator[_Source]:
    """Yield the copies that may serve a reader, nearest first."""
    for volume in places.volumes_of(manifest):
        if volume.usable:
            name = f"{Place.VOLUME}:{volume.name}"
            yield _Source(name, Place.VOLUME, partial(volume_chunk, volume, manifest, index))
    blobs = places.blobs
    stored = partial(stored_blob, places, manifest, index)
    yield _Source(f"{Place.BLOBS}:{blobs.name}", Place.BLOBS, stored)
    for replica in _replicas(places, manifest.sha256, index):
        if replica.error is None and replica.name != blobs.name:  # else it was asked above
            name = f"{Place.BLOBS}:{replica.name}"
            yield _Source(name, Place.BLOBS, partial(_replica_blob, replica, manifest, index))


def _every_copy(
    places: Places, manifest: StoredRecording, index: int
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each copy and replica, and how to read the blob from its medium."""
    for volume in places.volumes_of(manifest):
        name = f"{Place.VOLUME}:{volume.name}"
        yield name, partial(volume_chunk, volume, manifest, index, fresh=True)
    if manifest.is_in_blobs:
        for replica in _replicas(places, manifest.sha256, index):
            name = f"{Place.BLOBS}:{replica.name}"
            yield name, partial(_replica_blob, replica, manifest, index)


def _replicas(places: Places, recording_id: bytes, index: int) -> Iterator[Replica]:
    """Yield the answer of each replica; if the whole store fails, its error as the last one."""
    try:
        yield from places.blobs.replicas(recording_id, index)
    except UnavailableError as error:
        yield Replica(places.blobs.name, None, error)


def _replica_blob(replica: Replica, manifest: StoredRecording, index: int) -> bytes:
    if replica.error is not None:
        raise replica.error
    return _verified_blob(replica.blob, manifest, index)


def _verified_blob(blob: Blob | None, manifest: StoredRecording, index: int) -> bytes:
    """Return a blob's data if its leaf hash and the hash that it carries are the manifest's."""
    expected = manifest.leaves[index]
    if blob is not None and blob.leaf_hash != expected:
        raise RejectedError(
            f"blob {index} carries leaf hash {blob.leaf_hash.hex()}, expected {expected.hex()}"
        )
    return _verified(bytes(blob.data) if blob else None, manifest, index)


def _verified(data: bytes | None, manifest: StoredRecording, index: int) -> bytes:
    """Return the data if its leaf hash is the manifest's; None is a missing blob."""
    if data is None:
        raise MissingError(f"blob {index} is missing")
    actual, expected = leaf_hash(data), manifest.leaves[index]
    if actual != expected:
        raise RejectedError(
            f"blob {index} of {len(data)} bytes has leaf hash {actual.hex()}, "
            f"expected {expected.hex()}"
        )
    return data
