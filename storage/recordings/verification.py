"""Reads every byte of every copy and compares it with the manifest."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from contracts.chunktree import root_hash
from contracts.copies import Place
from contracts.errors import WaysealError
from storage.recordings.blobcopies import Flaw, flaw_of, stored_blob, volume_chunk
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places
from storage.recordings.reader import Fetch


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The result of reading one copy completely.

    Attributes:
        copy: `volume:NAME` or `blobs:NAME`.
        missing: Indexes of missing blobs.
        rotten: Indexes of blobs that differ from their leaf hash.
        unread: Indexes of blobs that the medium or peer could not read.
        sha256_holds: Whether the SHA-256 of the whole copy is the recording id.
        root_holds: Whether its blobs have the manifest's tree root.
    """

    copy: str
    missing: tuple[int, ...]
    rotten: tuple[int, ...]
    unread: tuple[int, ...]
    sha256_holds: bool
    root_holds: bool

    @property
    def holds(self) -> bool:
        """Return whether this copy is complete and intact."""
        return self.sha256_holds and self.root_holds


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of reading every copy completely.

    Attributes:
        recording_id: 32 bytes, SHA-256 of the whole file.
        size: Bytes.
        tree_root: 32 bytes.
        copies: One report for each copy in the manifest.
    """

    recording_id: bytes
    size: int
    tree_root: bytes
    copies: tuple[CopyReport, ...]

    @property
    def holds(self) -> bool:
        """Return whether there is a copy, and every copy is intact."""
        return bool(self.copies) and all(copy.holds for copy in self.copies)


def verify_copies(
    places: Places, manifest: StoredRecording, before: Callable[[], object] = lambda: None
) -> VerifyReport:
    """Read every copy from its medium and compare it with the manifest.

    Args:
        places: Where recordings are.
        manifest: Of the recording.
        before: Called before each blob of each copy; what it raises ends the work.
    """
    reports = tuple(
        _report(name, fetch, manifest, before) for name, fetch in _copies(places, manifest)
    )
    return VerifyReport(manifest.sha256, manifest.size, manifest.tree_root, reports)


def prove_blobs(
    places: Places,
    manifest: StoredRecording,
    mend: Callable[[bytes, int], object],
    stop: Callable[[], bool],
) -> bool:
    """Read every blob in the blob store, mend damaged ones; return whether all are intact now.

    Args:
        places: Where recordings are.
        manifest: Of the recording.
        mend: Mends one blob.
        stop: Called between two blobs; if it returns True, the result is False.

    Raises:
        UnavailableError: A blob is damaged and the recording is being written, or the blob store
            does not answer at all.
    """
    for index in range(len(manifest.leaves)):
        if stop():
            return False
        if not _holds(places, manifest, index):
            mend(manifest.sha256, index)
            if not _holds(places, manifest, index):
                places.blobs.check()  # a store that is down says nothing about its blobs
                return False
    return True


def _holds(places: Places, manifest: StoredRecording, index: int) -> bool:
    try:
        stored_blob(places, manifest, index, fresh=True)
    except WaysealError:  # or a replica that fails to read this blob until it is mended
        return False
    return True


def _copies(places: Places, manifest: StoredRecording) -> Iterator[tuple[str, Fetch]]:
    for volume in places.volumes_of(manifest):
        name = f"{Place.VOLUME}:{volume.name}"
        yield name, partial(volume_chunk, volume, manifest, fresh=True)
    if manifest.is_in_blobs:
        name = f"{Place.BLOBS}:{places.blobs.name}"
        yield name, partial(stored_blob, places, manifest, fresh=True)


def _report(
    name: str, fetch: Fetch, manifest: StoredRecording, before: Callable[[], object]
) -> CopyReport:
    digest = hashlib.sha256()
    leaves: list[bytes] = []
    flaws: dict[Flaw, list[int]] = {flaw: [] for flaw in Flaw}
    for index, leaf in enumerate(manifest.leaves):
        before()
        try:
            data = fetch(index)
        except WaysealError as error:
            flaws[flaw_of(error)].append(index)
        else:
            digest.update(data)
            leaves.append(leaf)
    return CopyReport(
        copy=name,
        missing=tuple(flaws[Flaw.MISSING]),
        rotten=tuple(flaws[Flaw.ROTTEN]),
        unread=tuple(flaws[Flaw.UNREAD]),
        sha256_holds=digest.digest() == manifest.sha256,
        root_holds=root_hash(leaves) == manifest.tree_root,
    )
