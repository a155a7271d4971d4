"""Writes one backup. Bytes that the backup before has too are shared with it by a hard link."""

import hashlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO, Final

from contracts.backup import shelf
from contracts.backup.manifest import FILE, PERMISSIONS, Manifest, StoredFile
from contracts.errors import RejectedError
from contracts.records.clock import now_ms
from contracts.runtime.files import (
    OWNER_ONLY,
    PART_PREFIX,
    create,
    disk_errors,
    give_to_owner_of,
    locked,
    make_directory,
    sync_directory,
)

LOCK: Final = "lock"
READ_BYTES: Final = 1 << 20
ELSEWHERE: Final = "elsewhere"
DATA: Final = "data"
_OWNER_ONLY_DIRECTORY: Final = 0o700


class Writing:
    """A backup that is being written.

    Attributes:
        folder: Where its files are put.
        before: The newest backup before it, with its manifest, if any.
        files: What was stored so far.
        left_out: What could not be stored, with the reason.
    """

    def __init__(self, folder: Path, before: tuple[Path, Manifest] | None) -> None:
        self.folder = folder
        self.before = before
        self.files: list[StoredFile] = []
        self.left_out: dict[str, str] = {}
        known = () if before is None else before[1].files
        self._known = {each.path: each for each in known}

    def store(self, source: Path, target: str) -> None:
        """Store a file that its writers replace as a whole; one that is gone by now is left out.

        Args:
            source: The file.
            target: Where it belongs: below the data directory, or an absolute path.

        Raises:
            UnavailableError: It cannot be read, or not be written.
        """
        stored = f"{ELSEWHERE}{target}" if target.startswith("/") else f"{DATA}/{target}"
        with disk_errors("copy", source):
            try:
                file = source.open("rb")
            except FileNotFoundError:  # a running process replaces and removes files
                return
            with file:
                status = os.fstat(file.fileno())
                mode, size = status.st_mode & PERMISSIONS, status.st_size
                self.piece(file, stored, target, 0, size, mode=mode)

    def made(self, make: Callable[[Path], None], target: str) -> None:
        """Store a file below the data directory that `make` writes to the path that it is given."""
        stored = f"{DATA}/{target}"
        path = self._place(stored)
        make(path)
        with disk_errors("write", path), path.open("rb") as file:
            size, digest = _hashed(file, 0, path.stat().st_size)
            self._keep(StoredFile(stored, target, 0, size, digest, OWNER_ONLY), path)

    def piece(
        self, file: BinaryIO, stored: str, target: str, offset: int, size: int, *, mode: int
    ) -> None:
        """Store `size` bytes of an open file from `offset` on.

        Raises:
            OSError: They cannot be read or written.
        """
        known = self._known.get(stored)
        if known is not None and known.size == size:
            found, digest = _hashed(file, offset, size)
            one = StoredFile(stored, target, offset, found, digest, mode)
            if digest == known.sha256 and self._linked(one):
                return
        path = self._place(stored)
        with path.open("xb") as copy:
            found, digest = _hashed(file, offset, size, copy)
        self._keep(StoredFile(stored, target, offset, found, digest, mode), path)

    def shared(self, file: StoredFile) -> bool:
        """Store a file of the backup before without reading it; return whether that has it whole.

        Args:
            file: Where it is stored, and its size; its digest is taken from that backup.
        """
        known = self._known.get(file.path)
        return known is not None and known.size == file.size and self._linked(known)

    def _linked(self, file: StoredFile) -> bool:
        if self.before is None:
            return False
        old = self.before[0] / file.path
        path = self._place(file.path)
        try:
            if old.stat().st_size != file.size:
                return False
            path.hardlink_to(old)
        except OSError:  # it is gone, or the file system has no links
            return False
        self.files.append(file)
        return True

    def _place(self, stored: str) -> Path:
        path = self.folder / stored
        make_directory(path.parent)
        return path

    def _keep(self, file: StoredFile, path: Path) -> None:
        """Make a stored file durable and note it."""
        with path.open("rb") as opened:
            os.fchmod(opened.fileno(), OWNER_ONLY)
            give_to_owner_of(path.parent, opened.fileno())
            os.fsync(opened.fileno())
        self.files.append(file)


@contextmanager
def writing(directory: Path, of: str, name: str) -> Iterator["Unfinished"]:
    """Write a backup into `directory`; it appears when the block calls `finish`.

    What root writes belongs to the owner of `directory`, and a directory that root makes to the
    owner of the data: the service's own timer goes on there.

    Raises:
        RejectedError: The directory has backups of another gateway or node.
        UnavailableError: Another backup is being made there, or the disk is full or failed.
    """
    is_new = not directory.exists()
    make_directory(directory)
    with locked(directory / LOCK, f"another backup is being made in {directory}"):
        shelf.drop_parts(directory)
        shelf.check_owner(directory, of, name)
        try:
            yield Unfinished(directory, of, name, is_new=is_new)
        finally:
            with suppress(Exception):  # the error that ended the backup is the one to tell
                shelf.drop_parts(directory)


class Unfinished:
    """A backup before its manifest is written.

    Attributes:
        files: Takes its files.
    """

    def __init__(self, directory: Path, of: str, name: str, *, is_new: bool) -> None:
        self._is_new = is_new
        self._directory, self._of, self._name = directory, of, name
        self._made_ms = now_ms()
        before = shelf.newest(directory, of)
        if before is not None:  # a clock that was set back must not put the new one first
            self._made_ms = max(self._made_ms, before[1].made_ms + 1)
        self.path = directory / shelf.name_of(of, self._made_ms)
        part = self.path.with_name(PART_PREFIX + self.path.name)
        make_directory(part)
        with disk_errors("make private", part):
            part.chmod(_OWNER_ONLY_DIRECTORY)
        self.files = Writing(part, before)

    def finish(
        self, data: Path, *, keys: Mapping[str, str], ledger: Mapping[str, Any]
    ) -> tuple[Path, Manifest]:
        """Write the manifest, and let the backup appear.

        Raises:
            RejectedError: Nothing was stored.
            UnavailableError: The disk is full or failed.
        """
        if not self.files.files:
            raise RejectedError(f"{data} has nothing to copy: expected the data of a {self._of}")
        manifest = Manifest(
            of=self._of,
            name=self._name,
            host=socket.gethostname(),
            data=str(data.absolute()),
            version=_own_version(),
            made_ms=self._made_ms,
            keys=dict(keys),
            ledger=dict(ledger),
            files=tuple(self.files.files),
            left_out=dict(self.files.left_out),
        )
        part = self.files.folder
        create(part / FILE, [manifest.encode()])
        with disk_errors("write", self.path):
            for each in (self._directory, self._directory / LOCK) if self._is_new else ():
                give_to_owner_of(data, each)
            for folder, _, names in os.walk(part):
                for each in (Path(folder), *(Path(folder, name) for name in names)):
                    give_to_owner_of(self._directory, each)
                sync_directory(Path(folder))
            part.rename(self.path)
            sync_directory(self._directory)
        return self.path, manifest


def _hashed(
    file: BinaryIO, offset: int, size: int, copy: BinaryIO | None = None
) -> tuple[int, str]:
    """Read up to `size` bytes from `offset` on, into `copy` if given; return count and digest."""
    digest, left = hashlib.sha256(), size
    file.seek(offset)
    while left and (data := file.read(min(READ_BYTES, left))):
        digest.update(data)
        if copy is not None:
            copy.write(data)
        left -= len(data)
    return size - left, digest.hexdigest()


def _own_version() -> str:
    try:
        return version("wayseal")
    except PackageNotFoundError:
        return "of a checkout"
