"""The recordings of this site, whole or partial: a manifest or a progress record for each.

root/whole/ab/abcd…      manifest, written last: a recording is whole when it exists
root/partial/abcd…       progress record of an upload
root/damaged/abcd…       manifest of another site, whose blobs were found damaged when read
root/unread/abcd…        empty: the entry was made again, and the bytes were not read since then
root/leaving/abcd…       manifest of a recording that is being deleted
root/dropping/abcd….PLACE    a copy that is being deleted on purpose
root/dropped/abcd….PLACE     a copy that was deleted on purpose; it is not made again
root/tmp/                files that are being written
"""

import logging
import os
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.chunktree import HASH_BYTES
from contracts.copies import Copy, Place
from contracts.errors import RejectedError
from contracts.runtime.files import (
    disk_errors,
    make_directory,
    remove_file,
    sync_directory,
    write_file,
)
from storage.disk import FILE_MODE, read_file
from storage.recordings.manifest import MANIFEST_HEAD_BYTES, Progress, StoredRecording, peek

_LOG: Final = logging.getLogger(__name__)
_DIRECTORIES: Final = (
    *("whole", "partial", "damaged", "unread", "leaving", "dropping", "dropped", "tmp"),
)
_ID: Final = re.compile(rf"[0-9a-f]{{{2 * HASH_BYTES}}}")


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a manifest says about a whole recording.

    Attributes:
        recording_id: 32 bytes.
        size: Bytes.
        copies: The whole copies.
        written_ms: When the manifest was written, by the file system.
    """

    recording_id: bytes
    size: int
    copies: tuple[Copy, ...]
    written_ms: int


class Catalogue:
    """Manifests and progress records in files.

    Args:
        root: Directory for this catalogue alone; created if missing.

    Raises:
        UnavailableError: The directory cannot be created or emptied of leftovers.
    """

    def __init__(self, root: Path) -> None:
        self._whole = root / "whole"
        self._partial = root / "partial"
        self._damaged = root / "damaged"
        self._unread = root / "unread"
        self._leaving = root / "leaving"
        self._dropping = root / "dropping"
        self._dropped = root / "dropped"
        self._tmp = root / "tmp"
        self._parsed: tuple[tuple[bytes, int, int] | None, StoredRecording | None] = None, None
        for name in ("", *_DIRECTORIES):
            make_directory(root / name)
        with disk_errors("sweep", self._tmp):
            for leftover in self._tmp.iterdir():
                leftover.unlink()

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest; None if the recording is not whole.

        Raises:
            RejectedError: The manifest is damaged, or belongs to another recording.
            UnavailableError: The medium failed.
        """
        return _manifest(self._manifest(recording_id), recording_id)

    def unchanged(self, recording_id: bytes) -> StoredRecording | None:
        """Return what `manifest` returns; a file that has not changed since is not parsed again.

        For the scrub, which asks once for each blob of a recording.
        """
        path = self._manifest(recording_id)
        with disk_errors("look at", path):
            try:
                state = path.stat()
            except FileNotFoundError:
                return None
        version = recording_id, state.st_mtime_ns, state.st_ino
        known, manifest = self._parsed
        if known != version:
            manifest = self.manifest(recording_id)
            self._parsed = version, manifest
        return manifest

    def is_whole(self, recording_id: bytes) -> bool:
        """Return whether a manifest exists, without reading it."""
        return _exists(self._manifest(recording_id))

    def progress(self, recording_id: bytes) -> Progress | None:
        """Return the progress of an upload; None if no upload is under way.

        A damaged record counts as missing: the device can send the bytes again, and only an intact
        record says which of them are durable.

        Raises:
            UnavailableError: The medium failed.
        """
        path = self._progress(recording_id)
        wire = read_file(path)
        if wire is None:
            return None
        try:
            progress = Progress.decode(wire)
        except RejectedError as error:
            _LOG.warning("progress record %s: %s; the upload starts over", path, error)
            return None
        return progress if progress.recording_id == recording_id else None

    def record(self, progress: Progress) -> None:
        """Replace the progress record; durable on return.

        Raises:
            UnavailableError: The medium failed or is full; the record is as it was.
        """
        self._write(self._progress(progress.recording_id), progress.encode())

    def complete(self, manifest: StoredRecording) -> None:
        """Write the manifest, which makes the recording whole, then remove the progress record."""
        self.replace(manifest)
        self.drop_progress(manifest.sha256)
        self.forget_damaged(manifest.sha256)
        self.forget_unread(manifest.sha256)

    def replace(self, manifest: StoredRecording) -> None:
        """Replace the manifest, because the copies have changed.

        Raises:
            UnavailableError: The medium failed or is full; the manifest is as it was.
        """
        self._write(self._manifest(manifest.sha256), manifest.encode())

    def heads(self) -> Iterator[Head]:
        """Yield the head of each manifest; damaged heads are logged and left out."""
        for recording_id in self.whole():
            path = self._manifest(recording_id)
            with disk_errors("read", path), path.open("rb") as file:
                wire, at_ns = file.read(MANIFEST_HEAD_BYTES), os.fstat(file.fileno()).st_mtime_ns
            try:
                size, copies = peek(wire)
            except RejectedError as error:
                _LOG.error("manifest %s: %s", path, error)
                continue
            yield Head(recording_id, size, copies, at_ns // 1_000_000)

    def start_dropping(self, recording_id: bytes, place: Place) -> None:
        """Note durably that a copy is given up: it is no longer wanted."""
        self._write(self._dropping / _mark(recording_id, place), b"")

    def end_dropping(self, recording_id: bytes, place: Place) -> None:
        """Note durably that the bytes of a copy that was given up are deleted."""
        name = _mark(recording_id, place)
        with disk_errors("put aside", self._dropping / name):
            (self._dropping / name).replace(self._dropped / name)
            sync_directory(self._dropped)
            sync_directory(self._dropping)

    def note_dropped(self, recording_id: bytes, place: Place) -> None:
        """Note durably that a copy was given up earlier and that its bytes are gone."""
        self._write(self._dropped / _mark(recording_id, place), b"")

    def forget_dropped(self, recording_id: bytes, place: Place) -> bool:
        """Forget durably that a copy was given up; return whether its bytes were deleted."""
        path = self._dropped / _mark(recording_id, place)
        there = _exists(path)
        remove_file(path)
        return there

    def dropping(self) -> Iterator[tuple[bytes, Place]]:
        """Yield the copies that were given up and whose bytes may still exist."""
        return _marks(self._dropping)

    def dropped(self) -> Iterator[tuple[bytes, Place]]:
        """Yield all copies that were given up, whether their bytes are deleted or not."""
        yield from _marks(self._dropping)
        yield from _marks(self._dropped)

    def start_leaving(self, recording_id: bytes) -> None:
        """Move the manifest to `leaving` durably: the recording is no longer whole.

        It is a rename, because deleting must work on a full disk; after a kill `leaving` says what
        is still to be deleted. Without a manifest nothing happens.
        """
        self._put_aside(recording_id, self._leaving)

    def note_damaged(self, recording_id: bytes) -> None:
        """Move the manifest to `damaged` durably: the recording is no longer whole."""
        self._put_aside(recording_id, self._damaged)

    def is_damaged(self, recording_id: bytes) -> bool:
        """Return whether a recording was noted as damaged and has not become whole since."""
        return _exists(self._damaged / recording_id.hex())

    def damaged(self) -> Iterator[bytes]:
        """Yield the id of every recording that was noted as damaged."""
        yield from _ids(_names(self._damaged))

    def forget_damaged(self, recording_id: bytes) -> None:
        """Forget durably that a recording is damaged."""
        remove_file(self._damaged / recording_id.hex())

    def note_unread(self, recording_id: bytes) -> None:
        """Note durably that nobody has read the bytes of a recording since its entry was lost."""
        self._write(self._unread / recording_id.hex(), b"")

    def is_unread(self, recording_id: bytes) -> bool:
        """Return whether nobody has read the bytes of a recording since its entry was lost."""
        return _exists(self._unread / recording_id.hex())

    def unread(self) -> Iterator[bytes]:
        """Yield the id of every recording that is noted as unread."""
        yield from _ids(_names(self._unread))

    def forget_unread(self, recording_id: bytes) -> None:
        """Forget durably that the bytes of a recording were not read."""
        remove_file(self._unread / recording_id.hex())

    def is_leaving(self, recording_id: bytes) -> bool:
        """Return whether a deletion of the recording is unfinished."""
        return _exists(self._leaving / recording_id.hex())

    def left(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest of a recording that is being deleted, or None.

        Raises:
            RejectedError: It is damaged, or belongs to another recording.
            UnavailableError: The medium failed.
        """
        return _manifest(self._leaving / recording_id.hex(), recording_id)

    def end_leaving(self, recording_id: bytes) -> None:
        """Remove the manifest from `leaving`, and all other marks of the recording."""
        for directory in (self._dropping, self._dropped):
            for place in Place:
                remove_file(directory / _mark(recording_id, place))
        self.forget_damaged(recording_id)
        self.forget_unread(recording_id)
        remove_file(self._leaving / recording_id.hex())

    def leaving(self) -> Iterator[bytes]:
        """Yield the id of every recording whose deletion is unfinished."""
        yield from _ids(_names(self._leaving))

    def drop_progress(self, recording_id: bytes) -> None:
        """Remove the progress record durably."""
        remove_file(self._progress(recording_id))

    def whole(self) -> Iterator[bytes]:
        """Yield the id of every whole recording, in ascending order."""
        with disk_errors("list", self._whole):
            names = sorted(path.name for path in self._whole.glob("??/*"))
        yield from _ids(names)

    def partial(self) -> Iterator[Progress]:
        """Yield the progress of every recording that is not whole, in ascending order."""
        for recording_id in _ids(_names(self._partial)):
            if self.is_whole(recording_id):
                continue  # whole: a kill came between the manifest and the end of its record
            progress = self.progress(recording_id)
            if progress is not None:
                yield progress

    def _put_aside(self, recording_id: bytes, directory: Path) -> None:
        path = self._manifest(recording_id)
        with disk_errors("put aside", path):
            try:
                path.replace(directory / path.name)
            except FileNotFoundError:
                return
            sync_directory(directory)
            sync_directory(path.parent)

    def _manifest(self, recording_id: bytes) -> Path:
        text = recording_id.hex()
        return self._whole / text[:2] / text

    def _progress(self, recording_id: bytes) -> Path:
        return self._partial / recording_id.hex()

    def _write(self, path: Path, data: bytes) -> None:
        write_file(path, data, temporary=self._tmp / uuid.uuid4().hex, mode=FILE_MODE)


def _manifest(path: Path, recording_id: bytes) -> StoredRecording | None:
    wire = read_file(path)
    if wire is None:
        return None
    try:
        manifest = StoredRecording.decode(wire)
    except RejectedError as error:
        raise RejectedError(f"manifest {path}: {error}") from error
    if manifest.sha256 != recording_id:
        raise RejectedError(f"manifest {path} belongs to recording {manifest.sha256.hex()}")
    return manifest


def _exists(path: Path) -> bool:
    with disk_errors("look for", path):
        return path.exists()


def _names(directory: Path) -> list[str]:
    with disk_errors("list", directory):
        return sorted(path.name for path in directory.iterdir())


def _ids(names: Iterable[str]) -> Iterator[bytes]:
    yield from (bytes.fromhex(name) for name in names if _ID.fullmatch(name))


def _mark(recording_id: bytes, place: Place) -> str:
    return f"{recording_id.hex()}.{place}"


def _marks(directory: Path) -> Iterator[tuple[bytes, Place]]:
    for name in _names(directory):
        text, _, place = name.partition(".")
        if _ID.fullmatch(text) and place in set(Place):
            yield bytes.fromhex(text), Place(place)
