"""Reads recordings near first; no byte leaves that its leaf hash does not vouch for."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from contracts.chunktree import BLOB_BYTES, blob_count, blob_size, leaf_hash, root_hash
from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.manifest import StoredRecording
from storage.recordings.writer import Shelves

_LOG: Final = logging.getLogger(__name__)

OnDamage = Callable[[bytes, int, str], None]
"""Told recording id, blob index and copy that could not serve: missing, rotten or unreadable."""

_Fetch = Callable[[int], bytes | None]
"""Returns one blob of one copy, unverified; None when it is missing."""


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a full reading of one copy showed.

    Attributes:
        copy: Its name.
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
        """Say whether every copy holds."""
        return all(copy.holds for copy in self.copies)


def log_damage(recording_id: bytes, index: int, copy: str) -> None:
    """Say in the log what could not be served; the plainest `OnDamage`."""
    _LOG.error("recording %s blob %d: copy %s is damaged", recording_id.hex(), index, copy)


def read_range(
    shelves: Shelves, manifest: StoredRecording, start: int, stop: int, on_damage: OnDamage
) -> Iterator[bytes]:
    """Yield the bytes start..stop of a recording, a blob or less at a time, verified.

    Raises:
        RejectedError: No copy of a blob holds.
        UnavailableError: No copy of a blob holds, but one did not answer.
    """
    blobs = range(start // BLOB_BYTES, blob_count(stop)) if start < stop else range(0)
    with _copies(shelves, manifest, fresh=False) as copies:
        for index in blobs:
            data = _verified(copies, manifest, index, on_damage)
            base = index * BLOB_BYTES
            yield data[max(start - base, 0) : stop - base]


def verify_copies(shelves: Shelves, manifest: StoredRecording) -> VerifyReport:
    """Read every copy from its medium and compare it with the manifest."""
    with _copies(shelves, manifest, fresh=True) as copies:
        reports = tuple(_copy_report(name, fetch, manifest) for name, fetch in copies.items())
    return VerifyReport(manifest.sha256, manifest.size, manifest.tree_root, reports)


@contextmanager
def _copies(
    shelves: Shelves, manifest: StoredRecording, *, fresh: bool
) -> Iterator[dict[Place, _Fetch]]:
    """Open the copies, nearest first."""
    recording_id = manifest.sha256

    def blob(index: int) -> bytes | None:
        stored = shelves.blobs.get(recording_id, index, fresh=fresh)
        if stored is not None and stored.leaf_hash != manifest.leaves[index]:
            raise RejectedError(
                f"blob {index} carries leaf hash {stored.leaf_hash.hex()}, "
                f"expected {manifest.leaves[index].hex()}"
            )
        return stored.data if stored else None

    with shelves.volume.whole(recording_id, fresh=fresh) as whole:

        def chunk(index: int) -> bytes | None:
            length = blob_size(manifest.size, index)
            if index == len(manifest.leaves) - 1:
                length += 1  # a file that goes on behind its end is not the recording
            return (whole and whole.read(index * BLOB_BYTES, length)) or None

        yield {Place.VOLUME: chunk, Place.BLOBS: blob}


def _verified(
    copies: dict[Place, _Fetch], manifest: StoredRecording, index: int, on_damage: OnDamage
) -> bytes:
    flaws: list[str] = []
    no_answer: UnavailableError | None = None
    for name, fetch in copies.items():
        try:
            return _checked(fetch, manifest.leaves[index], index)
        except UnavailableError as error:
            flaws.append(f"copy {name}: {error}")
            no_answer = error
        except RejectedError as error:
            flaws.append(f"copy {name}: {error}")
        on_damage(manifest.sha256, index, name)
    message = f"recording {manifest.sha256.hex()} blob {index}: no copy holds; {'; '.join(flaws)}"
    if no_answer is not None:
        raise UnavailableError(message) from no_answer
    raise RejectedError(message)


class _MissingError(RejectedError):
    """The copy does not have the blob."""


def _checked(fetch: _Fetch, leaf: bytes, index: int) -> bytes:
    data = fetch(index)
    if data is None:
        raise _MissingError(f"blob {index} is missing")
    actual = leaf_hash(data)
    if actual != leaf:
        raise RejectedError(
            f"blob {index} of {len(data)} bytes has leaf hash {actual.hex()}, expected {leaf.hex()}"
        )
    return data


def _copy_report(name: str, fetch: _Fetch, manifest: StoredRecording) -> CopyReport:
    digest = hashlib.sha256()
    leaves: list[bytes] = []
    missing: list[int] = []
    rotten: list[int] = []
    unread: list[int] = []
    for index, leaf in enumerate(manifest.leaves):
        try:
            data = _checked(fetch, leaf, index)
        except _MissingError:
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
