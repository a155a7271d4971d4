"""A recording that is being written to a volume, in large aligned pieces.

All its bytes are reserved when it is opened. So a full volume is an error before the first byte,
and later files cannot take the room. The file has its full length from then on; only the progress
record says how much of it is written.

Writes bypass the page cache (O_DIRECT), one buffer at a time. Measured on ext4 over virtio, 1 GiB
with an fsync for each 64 MiB: 0.8 to 1.6 GB/s direct, for pieces of 1 to 8 MiB alike; 0.3 to 2.1
GB/s buffered with early write-back. The buffered rate varied from run to run, and buffered writes
evict data from the cache that readers use. File systems without O_DIRECT get the same writes
through the cache.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from contracts.errors import UnavailableError
from contracts.runtime.files import disk_errors, make_directory, sync_directory
from storage.disk import FILE_MODE, opened, read_at, start_writeback

ALIGNMENT: Final = 4096
"""A multiple of every common logical block size of drives and file systems."""
WRITE_BYTES: Final = 2 << 20


class PartFile:
    """A part, open for appending and for reading back.

    Methods may be called from any thread. Calls wait for each other, so that no file is closed
    while another thread uses it.

    Args:
        path: Its file; created if missing.
        final: Its name once it is published.
        size: Bytes of the whole recording.
        offset: How many of them are written and durable.
        belongs: Called with the open file before anything is written; raises if the file is not on
            the expected volume.

    Attributes:
        offset: Where the next byte goes.

    Raises:
        UnavailableError: The medium failed, or has no room for all of it (ENOSPC); then a new part
            is deleted again.
    """

    def __init__(
        self,
        path: Path,
        final: Path,
        size: int,
        offset: int,
        belongs: Callable[[int], None],
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
            # The final directory needs room too, and the disk may be full later.
            make_directory(final.parent)
            with disk_errors(f"reserve {size} bytes for", path):
                if size:
                    os.posix_fallocate(self._descriptor, 0, size)
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
        """Append the next bytes; they are durable only after `sync`.

        Raises:
            UnavailableError: The medium failed; how much was written is unknown.
        """
        view = memoryview(data)
        with self._lock, disk_errors(f"write {len(view)} bytes at {self.offset} to", self._path):
            self._check_open()
            if not self._filled:
                view = view[self._write_through(view) :]
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
        action = f"read {length} bytes at {start} of"
        with (
            self._lock,
            disk_errors(action, self._path),
            opened(self._path, os.O_RDONLY) as descriptor,
        ):
            return read_at(descriptor, start, length)

    def sync(self) -> None:
        """Return once everything appended so far is durable.

        Raises:
            UnavailableError: The medium failed. Open the part again at the offset of the last
                successful sync.
        """
        with self._lock, disk_errors(f"sync {self.offset} bytes of", self._path):
            self._check_open()
            self._flush()
            if self.offset == self._size:
                os.ftruncate(self._descriptor, self._size)  # cut the padding of the last block
            os.fdatasync(self._descriptor)

    def publish(self) -> None:
        """Give the part its final name durably; call `sync` first."""
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

    def _write_through(self, view: memoryview) -> int:
        """Write the whole blocks of aligned memory without a copy; return their bytes, or 0."""
        length = len(view) // ALIGNMENT * ALIGNMENT
        if not length or view.readonly or _address(view) % ALIGNMENT:
            return 0
        self._write(view[:length])
        self._start += length
        self.offset += length
        return length

    def _load(self) -> None:
        """Read the beginning of the block into which the next byte goes."""
        self._start = self.offset // ALIGNMENT * ALIGNMENT
        self._filled = self.offset - self._start
        self._buffer[: self._filled] = read_at(self._descriptor, self._start, self._filled)

    def _flush(self) -> None:
        """Write the buffer, with its last block padded with zeros; keep that block for more bytes.

        Writing that block again later is safe, because its first bytes stay the same.
        """
        if not self._filled:
            return
        length = -(-self._filled // ALIGNMENT) * ALIGNMENT
        self._buffer[self._filled : length] = bytes(length - self._filled)
        with memoryview(self._buffer) as buffer, buffer[:length] as data:
            self._write(data)
        whole = self._filled // ALIGNMENT * ALIGNMENT
        self._filled -= whole
        self._buffer.move(0, whole, self._filled)
        self._start += whole

    def _write(self, data: memoryview) -> None:
        """Write whole blocks at `_start`."""
        written = 0
        while written < len(data):
            try:
                with data[written:] as rest:  # released, or `close` could not free the buffer
                    written += os.pwrite(self._descriptor, rest, self._start + written)
            except OSError as error:
                if error.errno != errno.EINVAL or not self._direct:
                    raise
                self._set_direct(direct=False)  # the file system's blocks are larger than ALIGNMENT
        if not self._direct:
            start_writeback(self._descriptor, self._start, len(data))

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


def _address(view: memoryview) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(view))
