"""Which recordings are here, whole or in part: a manifest or a progress record for each.

root/whole/ab/abcd…      manifest, written last: a recording is whole when it exists
root/partial/abcd…       progress record of an upload
root/damaged/abcd…       manifest that another site put, and whose blobs did not hold when read
root/leaving/abcd…       manifest of a recording that is being deleted
root/dropping/abcd….PLACE    a copy that is given up on purpose, its bytes not gone yet
root/dropped/abcd….PLACE     one whose bytes are gone; it is not made again
root/tmp/                files on their way in
"""

import logging
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.chunktree import HASH_BYTES
from contracts.copies import Copy, Place
from contracts.errors import RejectedError
from contracts.files import disk_errors, make_directory, sync_directory, write_file
from storage.disk import FILE_MODE, remove_file
from storage.recordings.manifest import MANIFEST_HEAD_BYTES, Progress, StoredRecording, peek

_LOG: Final = logging.getLogger(__name__)
_ID: Final = re.compile(rf"[0-9a-f]{{{2 * HASH_BYTES}}}")


@dataclass(frozen=True, slots=True)
class Head:
    """What the beginning of a manifest says of a whole recording.

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
    """Keeps manifests and progress records.

    Args:
        root: Directory for this catalogue alone; made when it is missing.

    Raises:
        UnavailableError: The directory cannot be made or swept.
    """

    def __init__(self, root: Path) -> None:
        self._whole = root / "whole"
        self._partial = root / "partial"
        self._damaged = root / "damaged"
        self._leaving = root / "leaving"
        self._dropping = root / "dropping"
        self._dropped = root / "dropped"
        self._tmp = root / "tmp"
        for directory in (
            self._whole,
            self._partial,
            self._damaged,
            self._leaving,
            self._dropping,
            self._dropped,
            self._tmp,
        ):
            make_directory(directory)
        with disk_errors("sweep", self._tmp):
            for leftover in self._tmp.iterdir():
                leftover.unlink()

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest; None when the recording is not whole.

        Raises:
            RejectedError: The manifest is damaged, or that of another recording.
            UnavailableError: The medium failed.
        """
        return _manifest(self._manifest(recording_id), recording_id)

    def is_whole(self, recording_id: bytes) -> bool:
        """Say whether a manifest is there, without reading it."""
        path = self._manifest(recording_id)
        with disk_errors("look for", path):
            return path.exists()

    def stamp(self, recording_id: bytes) -> tuple[int, int] | None:
        """Return what changes with every manifest that is written; None without one."""
        path = self._manifest(recording_id)
        with disk_errors("look at", path):
            try:
                state = path.stat()
            except FileNotFoundError:
                return None
        return state.st_mtime_ns, state.st_ino

    def progress(self, recording_id: bytes) -> Progress | None:
        """Return how far the recording has come; None when no upload is under way.

        A damaged record counts as none: it stands for bytes that can be sent again, and without
        it nothing says which of them are good.

        Raises:
            UnavailableError: The medium failed.
        """
        path = self._progress(recording_id)
        wire = _read(path)
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
        """Write the manifest, then drop the progress record: from here on it is whole."""
        self.replace(manifest)
        self.drop_progress(manifest.sha256)
        self.forget_damaged(manifest.sha256)

    def replace(self, manifest: StoredRecording) -> None:
        """Write the manifest in the place of the one before: its copies are others now.

        Raises:
            UnavailableError: The medium failed or is full; the manifest is as it was.
        """
        self._write(self._manifest(manifest.sha256), manifest.encode())

    def heads(self) -> Iterator[Head]:
        """Yield what the beginning of each manifest says; one that says nothing is left out."""
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
        """Note durably that a copy is given up: from here on it is not wanted."""
        self._write(self._dropping / f"{recording_id.hex()}.{place}", b"")

    def end_dropping(self, recording_id: bytes, place: Place) -> None:
        """Note durably that its bytes are gone."""
        name = f"{recording_id.hex()}.{place}"
        with disk_errors("put aside", self._dropping / name):
            (self._dropping / name).replace(self._dropped / name)
            sync_directory(self._dropped)
            sync_directory(self._dropping)

    def forget_dropped(self, recording_id: bytes, place: Place) -> bool:
        """Forget durably that a copy was given up; say whether one was whose bytes are gone."""
        path = self._dropped / f"{recording_id.hex()}.{place}"
        with disk_errors("look for", path):
            there = path.exists()
        remove_file(path)
        return there

    def dropping(self) -> Iterator[tuple[bytes, Place]]:
        """Yield what was given up and may still have bytes."""
        return _marks(self._dropping)

    def dropped(self) -> Iterator[tuple[bytes, Place]]:
        """Yield what was given up, its bytes gone or not."""
        yield from _marks(self._dropping)
        yield from _marks(self._dropped)

    def start_leaving(self, recording_id: bytes) -> None:
        """Put the manifest aside durably: from here on the recording is not whole.

        A rename, since deleting must work on a full disk; after a kill `leaving` tells what is
        left to do. Without a manifest nothing happens.
        """
        self._put_aside(recording_id, self._leaving)

    def note_damaged(self, recording_id: bytes) -> None:
        """Put the manifest aside durably: from here on the recording is damaged, not whole."""
        self._put_aside(recording_id, self._damaged)

    def is_damaged(self, recording_id: bytes) -> bool:
        """Say whether it was put aside as damaged, and has not come whole since."""
        path = self._damaged / recording_id.hex()
        with disk_errors("look for", path):
            return path.exists()

    def damaged(self) -> Iterator[bytes]:
        """Yield the id of every recording that was put aside as damaged."""
        return _ids(self._damaged)

    def forget_damaged(self, recording_id: bytes) -> None:
        """Forget durably that it is damaged."""
        remove_file(self._damaged / recording_id.hex())

    def is_leaving(self, recording_id: bytes) -> bool:
        """Say whether a deletion of the recording has not ended."""
        path = self._leaving / recording_id.hex()
        with disk_errors("look for", path):
            return path.exists()

    def left(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest that was put aside; None when there is none.

        Raises:
            RejectedError: It is damaged, or that of another recording.
            UnavailableError: The medium failed.
        """
        return _manifest(self._leaving / recording_id.hex(), recording_id)

    def end_leaving(self, recording_id: bytes) -> None:
        """Forget the manifest that was put aside, and what had been given up before."""
        for directory in (self._dropping, self._dropped):
            for place in Place:
                remove_file(directory / f"{recording_id.hex()}.{place}")
        self.forget_damaged(recording_id)
        remove_file(self._leaving / recording_id.hex())

    def leaving(self) -> Iterator[bytes]:
        """Yield the id of every recording whose deletion has not ended."""
        return _ids(self._leaving)

    def drop_progress(self, recording_id: bytes) -> None:
        """Remove the progress record durably."""
        remove_file(self._progress(recording_id))

    def whole(self) -> Iterator[bytes]:
        """Yield the id of every whole recording, in ascending order."""
        with disk_errors("list", self._whole):
            names = sorted(path.name for path in self._whole.glob("??/*"))
        yield from (bytes.fromhex(name) for name in names if _ID.fullmatch(name))

    def partial(self) -> Iterator[Progress]:
        """Yield the progress of every recording that is not whole, in ascending order."""
        with disk_errors("list", self._partial):
            names = sorted(path.name for path in self._partial.iterdir())
        for name in names:
            recording_id = bytes.fromhex(name) if _ID.fullmatch(name) else None
            if recording_id is None or self.is_whole(recording_id):
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
    wire = _read(path)
    if wire is None:
        return None
    try:
        manifest = StoredRecording.decode(wire)
    except RejectedError as error:
        raise RejectedError(f"manifest {path}: {error}") from error
    if manifest.sha256 != recording_id:
        raise RejectedError(f"manifest {path} is that of recording {manifest.sha256.hex()}")
    return manifest


def _read(path: Path) -> bytes | None:
    with disk_errors("read", path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def _ids(directory: Path) -> Iterator[bytes]:
    with disk_errors("list", directory):
        names = sorted(path.name for path in directory.iterdir())
    yield from (bytes.fromhex(name) for name in names if _ID.fullmatch(name))


def _marks(directory: Path) -> Iterator[tuple[bytes, Place]]:
    with disk_errors("list", directory):
        names = sorted(path.name for path in directory.iterdir())
    for name in names:
        text, _, place = name.partition(".")
        if _ID.fullmatch(text) and place in set(Place):
            yield bytes.fromhex(text), Place(place)
