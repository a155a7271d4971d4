"""The block log: one append-only file that is the truth of the whole node.

File: 16 byte magic, 16 byte random salt, then records:

    u32  magic
    u64  length of the body, bytes
    32   SHA-256 of the body
    16   BLAKE2b, keyed with the salt, over u64 offset of the record, length and hash
    n    body

The keyed part keeps anyone from planting a "record" inside a payload. A
record is synced before the next one is written, so only the last
can be torn; opening the log cuts it off. Damage anywhere else is rot, and is
refused rather than cut, since what follows was once reported as committed.
"""

import errno
import hashlib
import logging
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError
from contracts.files import write_file

_LOG = logging.getLogger(__name__)

FILE_MAGIC: Final = b"wayseal chain 1\n"
SALT_BYTES: Final = 16
START: Final = len(FILE_MAGIC) + SALT_BYTES
RECORD_BYTES_MAX: Final = 256 << 20
FILE_MODE: Final = 0o644
_HEAD: Final = struct.Struct(">IQ32s16s")
_SEALED: Final = struct.Struct(">QQ32s")
_SEAL_BYTES: Final = 16
_MAGIC: Final = 0x57534231
_MAGIC_BYTES: Final = _MAGIC.to_bytes(4, "big")
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class NoRoomError(UnavailableError):
    """The disk is full; nothing was written, and the same append may succeed later."""


class BlockLog:
    """An open log.

    Attributes:
        salt: 16 random bytes, made with the file.
        end: Offset behind the last whole record, bytes.
    """

    def __init__(self, descriptor: int, path: Path, salt: bytes) -> None:
        self._descriptor = descriptor
        self._path = path
        self.salt = salt
        self.end = START

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the log at `path`, or make an empty one; call `recover` before appending.

        Raises:
            RejectedError: The file is no block log.
            UnavailableError: The file system refuses.
        """
        try:
            if not path.exists():
                _create(path)
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            head = os.pread(descriptor, START, 0)
        except OSError as error:
            raise UnavailableError(f"block log {path}: {error.strerror}") from error
        if len(head) != START or not head.startswith(FILE_MAGIC):
            os.close(descriptor)
            raise RejectedError(f"{path} is no block log of version 1: begins with {head[:16]!r}")
        return cls(descriptor, path, head[len(FILE_MAGIC) :])

    def recover(self, known: int) -> Iterator[tuple[int, bytes]]:
        """Yield offset and body of every record from offset `known` on; cut off a torn last one.

        Raises:
            RejectedError: A record is damaged and whole ones follow it.
        """
        size = self.size()
        self.end = known
        while self.end < size:
            body = self._body(self.end)
            if body is None:
                self._cut(size)
                return
            offset, self.end = self.end, self.end + _HEAD.size + len(body)
            yield offset, body

    def size(self) -> int:
        """Return the length of the file, bytes."""
        return os.fstat(self._descriptor).st_size

    def append(self, body: bytes) -> int:
        """Write one record, sync it, and return its offset.

        Raises:
            NoRoomError: The disk is full; the log is as it was.
            UnavailableError: Writing or syncing failed; only reopening finds out what is there.
        """
        if len(body) > RECORD_BYTES_MAX:
            raise RejectedError(f"record of {len(body)} bytes, at most {RECORD_BYTES_MAX} allowed")
        offset = self.end
        digest = hashlib.sha256(body).digest()
        seal = self._seal(offset, len(body), digest)
        record = _HEAD.pack(_MAGIC, len(body), digest, seal) + body
        try:
            _write_all(self._descriptor, record, offset)
            os.fdatasync(self._descriptor)
        except OSError as error:
            self._take_back(offset, error)
        self.end = offset + len(record)
        return offset

    def read(self, offset: int) -> bytes:
        """Return the body of the record at `offset`.

        Raises:
            UnavailableError: The record does not match its checksum.
        """
        body = self._body(offset)
        if body is None:
            message = f"block log {self._path}: record at byte {offset} is damaged"
            _LOG.error("%s; restore the file from a copy", message)
            raise UnavailableError(message)
        return body

    def close(self) -> None:
        """Release the file."""
        os.close(self._descriptor)

    def _take_back(self, offset: int, error: OSError) -> None:
        message = f"block log {self._path}: {error.strerror}"
        if error.errno not in _NO_ROOM:
            raise UnavailableError(message) from error
        try:
            os.ftruncate(self._descriptor, offset)
            os.fsync(self._descriptor)
        except OSError as second:
            raise UnavailableError(f"{message}, then {second.strerror}") from second
        raise NoRoomError(message) from error

    def _body(self, offset: int) -> bytes | None:
        """Return the body of the record at `offset`, or None when it is damaged or not whole."""
        head = os.pread(self._descriptor, _HEAD.size, offset)
        if len(head) != _HEAD.size:
            return None
        magic, length, digest, seal = _HEAD.unpack(head)
        if magic != _MAGIC or seal != self._seal(offset, length, digest):
            return None
        body = os.pread(self._descriptor, length, offset + _HEAD.size)
        if len(body) != length or hashlib.sha256(body).digest() != digest:
            return None
        return body

    def _seal(self, offset: int, length: int, digest: bytes) -> bytes:
        sealed = _SEALED.pack(offset, length, digest)
        return hashlib.blake2b(sealed, digest_size=_SEAL_BYTES, key=self.salt).digest()

    def _cut(self, size: int) -> None:
        """Cut off what follows `end`, unless a whole record is among it."""
        tail = os.pread(self._descriptor, min(size - self.end, 2 * RECORD_BYTES_MAX), self.end)
        place = tail.find(_MAGIC_BYTES, 1)
        while place >= 0:
            if self._body(self.end + place) is not None:
                raise RejectedError(
                    f"block log {self._path}: record at byte {self.end} is damaged, yet a whole "
                    f"one follows at {self.end + place}; restore the file from a copy"
                )
            place = tail.find(_MAGIC_BYTES, place + 1)
        _LOG.warning("cut a torn record of %d bytes at byte %d", size - self.end, self.end)
        os.ftruncate(self._descriptor, self.end)
        os.fsync(self._descriptor)


def _create(path: Path) -> None:
    """Make an empty log that is either whole or absent after a power cut."""
    head = FILE_MAGIC + os.urandom(SALT_BYTES)
    write_file(path, head, temporary=path.with_suffix(".new"), mode=FILE_MODE)


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
