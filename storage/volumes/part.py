"""A recording on its way onto a volume: reserved whole, written in large aligned pieces.

Its whole size is reserved when it is opened, so a volume that cannot hold it says
so before the first byte, and nothing that comes later takes the room. Hence the
length of the file says nothing of how far it has come; the progress record does.

It is written past the page cache (O_DIRECT), a buffer at a time. Measured on ext4
over virtio, 1 GiB with an fsync for each 64 MiB: 0.8 to 1.6 GB/s direct, whatever
the pieces from 1 to 8 MiB; 0.3 to 2.1 GB/s buffered with early write-back, which
changed from run to run, and which throws out of the cache what readers use. File
systems without O_DIRECT get the same writes through the cache.
"""

import errno
import fcntl
import mmap
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from contracts.errors import UnavailableError
from contracts.files import disk_errors, make_directory, sync_directory
from storage.disk import FILE_MODE, read_at, start_writeback

ALIGNMENT: Final = 4096
"""Fits every logical block size of drives and file systems in use."""
WRITE_BYTES: Final = 2 << 20


class PartFile:
    """A part, open for appending and for reading back.

    Each method may be called from another thread than the one before; one that meets another at
    work waits for it, so that none is left with a file that is closed under it.

    Args:
        path: Its file; made where it is missing.
        final: The name that it gets in the end.
        size: Bytes that it will have.
        offset: How many of them are there and good.
        belongs: Called with the open file before anything is written; raises if it is not on
            the volume that it should be on.

    Attributes:
        offset: Where the next byte goes.

    Raises:
        UnavailableError: The medium failed, or has no room for all of it (ENOSPC); a new part
            leaves nothing behind then.
    """

    def __init__(
        self,
        path: Path,
        final: Path,
        size: int,
        offset: int,
        belongs: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._path = path
        self._final = final
        self._size = size
        self._lock = threading.Lock()
        self._buffer = mmap.mmap(-1, WRITE_BYTES)
        self._direct = False
        with disk_errors("open", path):
            is_new = not path.exists()
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            with disk_errors("look at", path):
                belongs(self._descriptor)
                self.offset = min(offset, os.fstat(self._descriptor).st_size)
            # Its final directory is part of the room: a disk that is full by then has none left.
            make_directory(final.parent)
            with disk_errors(f"reserve {size} bytes for", path):
                self._reserve()
            with disk_errors("open", path):
                self._load()
                self._set_direct(direct=True)
                sync_directory(path.parent)
        except BaseException:
            self.close()
            if is_new:
                path.unlink(missing_ok=True)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, data: bytes | bytearray | memoryview) -> None:
        """Take the next bytes; not durable before `sync`.

        Raises:
            UnavailableError: The medium failed; how much was written is unknown.
        """
        view = memoryview(data)
        with self._lock, disk_errors(f"write {len(view)} bytes at {self.offset} to", self._path):
            self._check_open()
            while view:
                taken = view[: WRITE_BYTES - self._filled]
                self._buffer[self._filled : self._filled + len(taken)] = taken
                self._filled += len(taken)
                self.offset += len(taken)
                view = view[len(taken) :]
                if self._filled == WRITE_BYTES:
                    self._flush()

    def read(self, start: int, length: int) -> bytes:
        """Return synced bytes from `start`, fewer than `length` only at the file's end."""
        with self._lock, disk_errors(f"read {length} bytes at {start} of", self._path):
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return read_at(descriptor, start, length)
            finally:
                os.close(descriptor)

    def sync(self) -> None:
        """Return once everything appended so far is durable.

        Raises:
            UnavailableError: The medium failed. The part must be opened anew at an offset that
                an earlier sync vouches for.
        """
        with self._lock, disk_errors(f"sync {self.offset} bytes of", self._path):
            self._check_open()
            self._flush()
            if self.offset == self._size:
                os.ftruncate(self._descriptor, self._size)  # off goes what filled the last block
            os.fdatasync(self._descriptor)

    def publish(self) -> None:
        """Give the part its final name, durably; call `sync` before."""
        with self._lock:
            self._check_open()
            with disk_errors("publish", self._final):
                self._path.replace(self._final)
                sync_directory(self._final.parent)

    def close(self) -> None:
        """Release the file; closing twice is harmless."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
                self._buffer.close()

    def _reserve(self) -> None:
        if self._size:
            os.posix_fallocate(self._descriptor, 0, self._size)

    def _load(self) -> None:
        """Fetch the beginning of the block in which the next byte goes."""
        self._start = self.offset // ALIGNMENT * ALIGNMENT
        self._filled = self.offset - self._start
        self._buffer[: self._filled] = read_at(self._descriptor, self._start, self._filled)

    def _flush(self) -> None:
        """Write the buffer, its last block filled up with zeros; keep that block for more bytes.

        Writing that block again later is safe: it says the same of the bytes before.
        """
        if not self._filled:
            return
        length = -(-self._filled // ALIGNMENT) * ALIGNMENT
        self._buffer[self._filled : length] = bytes(length - self._filled)
        self._write(length)
        whole = self._filled // ALIGNMENT * ALIGNMENT
        self._filled -= whole
        self._buffer.move(0, whole, self._filled)
        self._start += whole

    def _write(self, length: int) -> None:
        written = 0
        while written < length:
            try:
                with memoryview(self._buffer) as view:
                    written += os.pwrite(
                        self._descriptor, view[written:length], self._start + written
                    )
            except OSError as error:
                if error.errno != errno.EINVAL or not self._direct:
                    raise
                self._set_direct(direct=False)  # its blocks are larger than any that we know
        if not self._direct:
            start_writeback(self._descriptor, self._start, length)

    def _set_direct(self, *, direct: bool) -> None:
        flags = fcntl.fcntl(self._descriptor, fcntl.F_GETFL) & ~os.O_DIRECT
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_SETFL, flags | (os.O_DIRECT if direct else 0))
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            direct = False
        self._direct = direct

    def _check_open(self) -> None:
        if self._descriptor < 0:
            raise UnavailableError(f"part {self._path} is closed: begin again")
