"""Looks at every copy of one blob on its medium, and mends from one that holds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from contracts.chunktree import BLOB_BYTES
from contracts.copies import Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob, Replica
from storage.recordings.fetching import (
    MissingError,
    fetch,
    verified_blob,
    volume_chunk,
)
from storage.recordings.manifest import StoredRecording
from storage.recordings.shelves import Shelves
from storage.volumes.volume import Volume

NO_BLOB: Final = -1
"""Stands for the recording as a whole, in the place of a blob's index."""
SEAL: Final = f"{Place.BLOBS}:manifest"
"""Names the manifest in the blob store in the place of a copy."""


class Flaw(StrEnum):
    """What is wrong with one copy of a blob."""

    ROTTEN = "rotten"
    MISSING = "missing"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Finding:
    """One copy of one blob that is not what it should be.

    Attributes:
        recording_id: 32 bytes.
        index: The blob's place in the recording, or `NO_BLOB`.
        copy: Which copy: `volume:NAME`, or `blobs:REPLICA`; `SEAL` without a blob.
        kind: What is wrong.
        repaired: Whether the copy was written anew and read back right.
        detail: In words; of a repair that failed, why.
    """

    recording_id: bytes
    index: int
    copy: str
    kind: Flaw
    repaired: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Survey:
    """What became of looking at one blob.

    Attributes:
        copies: Every copy and replica that was asked, named as in findings.
        findings: What is wrong.
    """

    copies: tuple[str, ...]
    findings: tuple[Finding, ...]


def survey_blob(shelves: Shelves, manifest: StoredRecording, index: int) -> Survey:
    """Read one blob from every copy that the manifest names, past caches."""
    looked = list(_looked_at(shelves, manifest, index))
    findings = [_finding(manifest, index, copy, error) for copy, error in looked if error]
    return Survey(tuple(copy for copy, _ in looked), tuple(findings))


def mend_blob(shelves: Shelves, manifest: StoredRecording, index: int) -> tuple[Finding, ...]:
    """Survey one blob, write what is wrong anew from a copy that holds, and survey it again.

    A whole file that is gone cannot be mended by one blob: see `is_gone`.
    """
    found = survey_blob(shelves, manifest, index).findings
    if not found:
        return ()
    try:
        data = fetch(shelves, manifest, index, lambda *_: None)
    except WaysealError as error:
        return tuple(replace(each, detail=f"{each.detail}; {error}") for each in found)
    problems = _write(shelves, manifest, index, data, {each.copy for each in found})
    left = {each.copy for each in survey_blob(shelves, manifest, index).findings}
    return tuple(
        replace(
            each,
            repaired=each.copy not in left,
            detail=f"{each.detail}; {problems[each.copy]}"
            if each.copy in problems
            else each.detail,
        )
        for each in found
    )


def mend_seal(shelves: Shelves, manifest: StoredRecording) -> Finding | None:
    """Put the blob store's manifest anew if it is missing or wrong; say what was wrong.

    Without it the blobs are whole for nobody else, and a removal here may take them. A blob store
    that does not answer is passed over: each survey of a blob says so.
    """
    if all(copy.place is not Place.BLOBS for copy in manifest.copies):
        return None
    error: WaysealError
    try:
        shared = shelves.shared(manifest.sha256)
    except UnavailableError:
        return None
    except RejectedError as damaged:
        error = damaged
    else:
        if shared is None:
            error = MissingError(f"{shelves.blobs.name} has no manifest of it")
        elif shared.leaves != manifest.leaves:
            error = RejectedError(f"{shelves.blobs.name} has other leaf hashes of it")
        else:
            return None
    found = _finding(manifest, NO_BLOB, SEAL, error)
    try:
        shelves.seal_blobs(manifest)
    except WaysealError as problem:
        return replace(found, detail=f"{found.detail}; {problem}")
    return replace(found, repaired=True)


def is_gone(volume: Volume, recording_id: bytes) -> bool:
    """Say whether a volume, which works, no longer has the whole file.

    Raises:
        UnavailableError: It is out or failed.
    """
    return volume.call(lambda directory: directory.whole_length(recording_id)) is None


def without_gone(shelves: Shelves, manifest: StoredRecording) -> tuple[Copy, ...]:
    """Return the copies of a manifest, without those on volumes that lost the whole file."""
    gone = {
        volume.name
        for volume in shelves.volumes_of(manifest)
        if volume.usable and is_gone(volume, manifest.sha256)
    }
    return tuple(
        copy for copy in manifest.copies if copy.place is not Place.VOLUME or copy.name not in gone
    )


def _looked_at(
    shelves: Shelves, manifest: StoredRecording, index: int
) -> Iterator[tuple[str, WaysealError | None]]:
    """Yield each copy and replica, and what is wrong with its blob."""
    for volume in shelves.volumes_of(manifest):
        try:
            volume_chunk(volume, manifest, index, fresh=True)
        except WaysealError as error:
            yield f"{Place.VOLUME}:{volume.name}", error
        else:
            yield f"{Place.VOLUME}:{volume.name}", None
    if any(copy.place is Place.BLOBS for copy in manifest.copies):
        yield from _looked_at_replicas(shelves, manifest, index)


def _looked_at_replicas(
    shelves: Shelves, manifest: StoredRecording, index: int
) -> Iterator[tuple[str, WaysealError | None]]:
    try:
        for replica in shelves.blobs.replicas(manifest.sha256, index):
            yield f"{Place.BLOBS}:{replica.name}", _wrong(replica, manifest, index)
    except UnavailableError as error:  # as a whole: the volumes are looked at all the same
        yield f"{Place.BLOBS}:{shelves.blobs.name}", error


def _wrong(replica: Replica, manifest: StoredRecording, index: int) -> WaysealError | None:
    if replica.error is not None:
        return replica.error
    try:
        verified_blob(replica.blob, manifest, index)
    except WaysealError as error:
        return error
    return None


def _finding(manifest: StoredRecording, index: int, copy: str, error: WaysealError) -> Finding:
    kind = Flaw.ROTTEN if isinstance(error, RejectedError) else Flaw.UNREAD
    kind = Flaw.MISSING if isinstance(error, MissingError) else kind
    return Finding(manifest.sha256, index, copy, kind, repaired=False, detail=str(error))


def _write(
    shelves: Shelves, manifest: StoredRecording, index: int, data: bytes, copies: set[str]
) -> dict[str, str]:
    """Write a blob anew where it is wrong; return why not, by copy."""
    problems: dict[str, str] = {}
    recording_id, start = manifest.sha256, index * BLOB_BYTES
    for volume in shelves.volumes_of(manifest):
        name = f"{Place.VOLUME}:{volume.name}"
        if name in copies:
            try:
                volume.call(
                    lambda directory: directory.patch(recording_id, start, data, manifest.size)
                )
            except UnavailableError as error:
                problems[name] = str(error)
    replicas = {copy for copy in copies if copy.startswith(f"{Place.BLOBS}:")}
    if replicas:
        try:
            shelves.blobs.put(recording_id, Blob(index, data, manifest.leaves[index]))
        except WaysealError as error:
            problems |= dict.fromkeys(replicas, str(error))
    return problems
