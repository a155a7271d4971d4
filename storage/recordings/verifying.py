"""Reads every byte of every copy and reports what is not as the manifest says."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from contracts.chunktree import root_hash
from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.recordings.fetching import MissingError, verified_blob, volume_chunk
from storage.recordings.manifest import StoredRecording
from storage.recordings.reader import Fetch
from storage.recordings.shelves import Shelves


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a full reading of one copy showed.

    Attributes:
        copy: `volume:NAME` or `blobs:NAME`.
        missing: Indexes of blobs that are not there.
        rotten: Indexes of blobs that differ from their leaf hash.
        unread: Indexes of blobs that the medium or peer did not give.
        sha256_holds: Whether the whole copy hashes to the recording id.
        root_holds: Whether its blobs lead to the tree root.
    """

    copy: str
    missing: tuple[int, ...]
    rotten: tuple[int, ...]
    unread: tuple[int, ...]
    sha256_holds: bool
    root_holds: bool

    @property
    def holds(self) -> bool:
        """Say whether this copy is all that it should be."""
        return self.sha256_holds and self.root_holds


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a full reading of every copy showed.

    Attributes:
        recording_id: 32 bytes, SHA-256 of the whole file.
        size: Bytes.
        tree_root: 32 bytes.
        copies: One report for each copy that the manifest names.
    """

    recording_id: bytes
    size: int
    tree_root: bytes
    copies: tuple[CopyReport, ...]

    @property
    def holds(self) -> bool:
        """Say whether there is a copy, and every one holds."""
        return bool(self.copies) and all(copy.holds for copy in self.copies)


def verify_copies(shelves: Shelves, manifest: StoredRecording) -> VerifyReport:
    """Read every copy from its medium and compare it with the manifest."""
    reports = tuple(_report(name, fetch, manifest) for name, fetch in _copies(shelves, manifest))
    return VerifyReport(manifest.sha256, manifest.size, manifest.tree_root, reports)


def prove_blobs(
    shelves: Shelves,
    manifest: StoredRecording,
    mend: Callable[[bytes, int], object],
    stop: Callable[[], bool],
) -> bool:
    """Say whether every blob in the blob store holds, once what does not was mended.

    Args:
        shelves: Where it is.
        manifest: Of the recording.
        mend: Mends one blob; says what was found.
        stop: Asked in between; told to stop, nothing is proved.

    Raises:
        UnavailableError: One does not hold, and the recording is being written, or the blob
            store did not answer at all.
    """
    for index in range(len(manifest.leaves)):
        if stop():
            return False
        if not _holds(shelves, manifest, index):
            mend(manifest.sha256, index)
            if not _holds(shelves, manifest, index):
                shelves.blobs.check()  # down as a whole, it says nothing about its blobs
                return False
    return True


def _holds(shelves: Shelves, manifest: StoredRecording, index: int) -> bool:
    try:
        verified_blob(shelves.blobs.get(manifest.sha256, index, fresh=True), manifest, index)
    except WaysealError:  # also a replica that errs at one blob, for as long as nobody mends it
        return False
    return True


def _copies(shelves: Shelves, manifest: StoredRecording) -> Iterator[tuple[str, Fetch]]:
    def blob(index: int) -> bytes:
        stored = shelves.blobs.get(manifest.sha256, index, fresh=True)
        return verified_blob(stored, manifest, index)

    for volume in shelves.volumes_of(manifest):
        name = f"{Place.VOLUME}:{volume.name}"
        yield name, partial(volume_chunk, volume, manifest, fresh=True)
    if any(copy.place is Place.BLOBS for copy in manifest.copies):
        yield f"{Place.BLOBS}:{shelves.blobs.name}", blob


def _report(name: str, fetch: Fetch, manifest: StoredRecording) -> CopyReport:
    digest = hashlib.sha256()
    leaves: list[bytes] = []
    missing: list[int] = []
    rotten: list[int] = []
    unread: list[int] = []
    for index, leaf in enumerate(manifest.leaves):
        try:
            data = fetch(index)
        except MissingError:
            missing.append(index)
        except RejectedError:
            rotten.append(index)
        except UnavailableError:
            unread.append(index)
        else:
            digest.update(data)
            leaves.append(leaf)
    return CopyReport(
        copy=name,
        missing=tuple(missing),
        rotten=tuple(rotten),
        unread=tuple(unread),
        sha256_holds=digest.digest() == manifest.sha256,
        root_holds=root_hash(leaves) == manifest.tree_root,
    )
