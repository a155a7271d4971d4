"""Adapter: BlobStore in plain files.

    root/ab/cd/abcd…/00000000    32 bytes leaf hash, then the data
    root/ab/cd/abcd…/manifest    marks the recording as whole
    root/tmp/                    files being written, directories being deleted

Two levels of directories by id prefix keep each of them small. A blob gets its name only after its
bytes are durable, so every named file is complete. One process at a time owns a root: `tmp` is
emptied when it starts.

A marker at the root tells the directory from an empty mount point: there, all blobs would seem
lost, and new ones would go where no gateway looks once the drive is mounted again.
"""

import os
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.chunktree import BLOB_BYTES, HASH_BYTES
from contracts.copies import FSYNC
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.runtime.files import (
    disk_errors,
    make_directory,
    remove_file,
    sync_directory,
    write_all,
    write_file,
)
from storage.blobs.port import Blob, OpenDeletions, Replica, Returned
from storage.disk import FILE_MODE, drop_cache, opened, read_at, read_file, start_writeback
from storage.volumes.marker import Identity

_INDEX_DIGITS: Final = 8
_MANIFEST: Final = "manifest"
REMEMBERED_MAX: Final = 16
"""Recordings whose blobs were put lately: more than are uploaded at once."""


class FileBlobs:
    """Keeps each blob in its own file.

    Args:
        root: Directory for this store alone; created if it was never seen.
        identity: Knows the directory again. If it was seen before and is another one now, or is not
            there, the store is out until a `check` finds it. None takes any directory.

    Raises:
        UnavailableError: The directory cannot be created or emptied of leftovers.
    """

    def __init__(self, root: Path, identity: Identity | None = None) -> None:
        self._root = root
        self._identity = identity
        self._put = _PutLately()
        self._tmp = root / "tmp"
        self._out: str | None = None
        try:
            self._begin()
        except UnavailableError as error:
            if identity is None or not identity.known:
                raise
            self._out = str(error)

    def _begin(self) -> None:
        """Take the directory into use."""
        if self._identity is None or not self._identity.known:
            make_directory(self._root)
        if self._identity is not None:
            self._identity.check()
        make_directory(self._tmp)
        with disk_errors("sweep", self._tmp):
            for leftover in self._tmp.iterdir():
                _remove(leftover)

    @property
    def name(self) -> str:
        """See `BlobStore.name`."""
        return "files"

    @property
    def durability(self) -> str:
        """See `BlobStore.durability`."""
        return FSYNC

    def check(self) -> None:
        """See `BlobStore.check`."""
        try:
            if self._out is not None:
                self._begin()
            elif self._identity is not None:
                self._identity.look()
            with disk_errors("look into", self._tmp):
                self._tmp.stat()
        except UnavailableError as error:
            if self._identity is not None:
                self._out = str(error)
            raise
        self._out = None

    def put(self, recording_id: bytes, blob: Blob) -> None:
        """See `BlobStore.put`."""
        self.put_many(recording_id, [blob])

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """See `BlobStore.put_many`.

        All files are written before the first fsync, and one fsync of the directory makes all names
        durable.
        """
        home = self._home(recording_id)
        temporary = [self._tmp / uuid.uuid4().hex for _ in blobs]
        make_directory(home)
        with disk_errors(f"write {sum(len(blob.data) for blob in blobs)} bytes to", home):
            try:
                _write_synced(temporary, blobs)
                for path, blob in zip(temporary, blobs, strict=True):
                    path.replace(home / _file_name(blob.index))
            except OSError:
                for path in temporary:
                    path.unlink(missing_ok=True)
                raise
            sync_directory(home)
        self._put.note(recording_id, blobs)

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        """See `BlobStore.get`."""
        path = self._home(recording_id) / _file_name(index)
        with disk_errors("read", path):
            try:
                with opened(path, os.O_RDONLY) as descriptor:
                    if fresh:
                        drop_cache(descriptor)
                    stored = read_at(descriptor, 0, HASH_BYTES + BLOB_BYTES + 1)
            except FileNotFoundError:
                return None
        if not HASH_BYTES < len(stored) <= HASH_BYTES + BLOB_BYTES:
            raise RejectedError(
                f"blob file {path}: expected {HASH_BYTES + 1}..{HASH_BYTES + BLOB_BYTES} bytes, "
                f"got {'more' if len(stored) > BLOB_BYTES else len(stored)}"
            )
        return Blob(index, stored[HASH_BYTES:], stored[:HASH_BYTES])

    def replicas(self, recording_id: bytes, index: int) -> Iterator[Replica]:
        """See `BlobStore.replicas`."""
        try:
            yield Replica(self.name, self.get(recording_id, index, fresh=True))
        except WaysealError as error:
            yield Replica(self.name, None, error)

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        """See `BlobStore.leaves`: of blobs that were put lately, only the names are looked up.

        Opening every file of a recording again would read it from the medium at the end of each
        upload, with as much behind each head as the kernel reads ahead.
        """
        home = self._home(recording_id)
        known = self._put.heads(recording_id)
        with disk_errors("list", home):
            try:
                names = [path.name for path in home.iterdir()]
            except FileNotFoundError:
                return {}
            there = {int(name): name for name in names if _is_file_name(name)}
            heads = {index: known.get(index) or _head(home / there[index]) for index in there}
        return {index: head for index, head in heads.items() if len(head) == HASH_BYTES}

    def put_manifest(self, recording_id: bytes, manifest: bytes) -> None:
        """See `BlobStore.put_manifest`."""
        home = self._home(recording_id)
        make_directory(home)
        temporary = self._tmp / uuid.uuid4().hex
        write_file(home / _MANIFEST, manifest, temporary=temporary, mode=FILE_MODE)

    def delete_manifest(self, recording_id: bytes) -> None:
        """See `BlobStore.delete_manifest`."""
        remove_file(self._home(recording_id) / _MANIFEST)

    def manifest(self, recording_id: bytes) -> bytes | None:
        """See `BlobStore.manifest`."""
        return read_file(self._home(recording_id) / _MANIFEST)

    def recordings(self) -> Iterator[bytes]:
        """See `BlobStore.recordings`."""
        self._check_in()
        with disk_errors("list", self._root):
            homes = list(self._root.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*"))
        for home in homes:
            with suppress(ValueError):  # a directory that this store did not name
                yield bytes.fromhex(home.name)

    def delete(self, recording_id: bytes) -> None:
        """See `BlobStore.delete`.

        The directory is first moved away as a whole: a kill leaves all blobs or none, and the next
        start deletes the rest.
        """
        home, grave = self._home(recording_id), self._tmp / uuid.uuid4().hex
        self._put.forget(recording_id)
        with disk_errors("remove", home):
            try:
                home.rename(grave)
            except FileNotFoundError:
                return
            sync_directory(home.parent)
            _remove(grave)

    def repeat_deletions(self, stop: Callable[[], bool]) -> OpenDeletions:
        """See `BlobStore.repeat_deletions`: there is one replica, and `delete` waits for it."""
        del stop
        return OpenDeletions()

    def returned(self, stop: Callable[[], bool]) -> Iterator[Returned]:
        """See `BlobStore.returned`: nothing does."""
        del stop
        yield from ()

    def close(self) -> None:
        """See `BlobStore.close`: nothing is open."""

    def _check_in(self) -> None:
        if self._out is not None:
            raise UnavailableError(self._out)

    def _home(self, recording_id: bytes) -> Path:
        self._check_in()
        text = recording_id.hex()
        return self._root / text[:2] / text[2:4] / text


class _PutLately:
    """The leaf hashes of the blobs that were put lately; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heads: dict[bytes, dict[int, bytes]] = {}

    def note(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """Remember blobs that are durable now; the recording that rested longest is forgotten."""
        with self._lock:
            heads = self._heads.pop(recording_id, {})
            heads.update((blob.index, blob.leaf_hash) for blob in blobs)
            self._heads[recording_id] = heads
            if len(self._heads) > REMEMBERED_MAX:
                del self._heads[next(iter(self._heads))]

    def heads(self, recording_id: bytes) -> Mapping[int, bytes]:
        """Return the leaf hashes by index."""
        with self._lock:
            return dict(self._heads.get(recording_id, {}))

    def forget(self, recording_id: bytes) -> None:
        """Forget a recording whose blobs are deleted."""
        with self._lock:
            self._heads.pop(recording_id, None)


def _file_name(index: int) -> str:
    return f"{index:0{_INDEX_DIGITS}d}"


def _is_file_name(name: str) -> bool:
    return name.isascii() and name.isdigit() and name == _file_name(int(name))


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HASH_BYTES)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write_synced(paths: Sequence[Path], blobs: Sequence[Blob]) -> None:
    descriptors: list[int] = []
    try:
        for path, blob in zip(paths, blobs, strict=True):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
            descriptors.append(descriptor)
            write_all(descriptor, [blob.leaf_hash, blob.data])
            start_writeback(descriptor, 0, 0)
        for descriptor in descriptors:
            os.fsync(descriptor)
            # No blob is read soon, and the next blobs are then copied into the same few pages,
            # which the CPU still has in its caches. Measured on ext4 in a virtual machine, 512 MiB
            # in groups of 8, three times each: 2.1 to 2.4 s with 0.4 to 0.5 s of CPU; without it,
            # 4.5 to 6.9 s with 1.5 to 1.8.
            drop_cache(descriptor)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
