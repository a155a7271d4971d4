"""The block log: one append-only file from which everything else can be computed.

File: 16 byte magic, 16 byte random salt, then records:

    u32  magic
    u64  length of the body, bytes
    32   SHA-256 of the body
    16   BLAKE2b, keyed with the salt, over u64 offset of the record, length and hash
    n    body

The keyed part keeps senders from planting a "record" inside a payload. A
record is synced before the next one is written, so only the last one can be
torn. It is torn if the file ends before the record does, or if a sector of the
file, as far as it belongs to the record, holds zeros only: a file system gives
back what was written, or zeros, and a compressed record has no such sector.
Opening the log cuts a torn record off. All other damage is rot. The log is
then refused and not cut off: the damaged block may have been reported as
committed, and blocks before a whole record surely were.
"""

import errno
import hashlib
import logging
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.state.store import NoRoomError
from contracts.runtime.files import disk_errors, sync_directory, write_file

_LOG = logging.getLogger(__name__)

FILE_MAGIC: Final = b"wayseal chain 1\n"
SALT_BYTES: Final = 16
START: Final = len(FILE_MAGIC) + SALT_BYTES
RECORD_BYTES_MAX: Final = 256 << 20
SECTOR_BYTES: Final = 512
"""No file system writes less at once, nor does a drive."""
FILE_MODE: Final = 0o600
_HEAD: Final = struct.Struct(">IQ32s16s")
_SEALED: Final = struct.Struct(">QQ32s")
_SEAL_BYTES: Final = 16
_MAGIC: Final = 0x57534231
_MAGIC_BYTES: Final = _MAGIC.to_bytes(4, "big")
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Records:
    """The records of a log, wherever its bytes come from.

    Args:
        pread: Returns as many bytes of the log from an offset on, fewer at its end.
        salt: The log's.
    """

    def __init__(self, pread: Callable[[int, int], bytes], salt: bytes) -> None:
        self._pread = pread
        self._salt = salt

    def bytes_at(self, size: int, offset: int) -> bytes:
        """Return bytes of the log as they are."""
        return self._pread(size, offset)

    def body(self, offset: int) -> bytes | None:
        """Return the body of the record at `offset`; None if it is damaged or torn."""
        head = self.head(offset)
        if head is None:
            return None
        length, digest = head
        body = self._pread(length, offset + _HEAD.size)
        return body if hashlib.sha256(body).digest() == digest else None

    def head(self, offset: int) -> tuple[int, bytes] | None:
        """Return length and hash of the body at `offset`; None if the head is damaged or torn."""
        head = self._pread(_HEAD.size, offset)
        if len(head) != _HEAD.size:
            return None
        magic, length, digest, seal = _HEAD.unpack(head)
        if magic != _MAGIC or seal != self.seal(offset, length, digest):
            return None
        return length, digest

    def seal(self, offset: int, length: int, digest: bytes) -> bytes:
        """Return the keyed part of a record's head."""
        sealed = _SEALED.pack(offset, length, digest)
        return hashlib.blake2b(sealed, digest_size=_SEAL_BYTES, key=self._salt).digest()

    def whole(self, offset: int) -> Iterator[tuple[int, int, bytes]]:
        """Yield offset, end and body of each record from `offset` on, up to the first bad one."""
        while (body := self.body(offset)) is not None:
            end = offset + _HEAD.size + len(body)
            yield offset, end, body
            offset = end


def salt_of(path: Path, head: bytes) -> bytes:
    """Return the salt that the first bytes of a log hold.

    Raises:
        RejectedError: They are not those of a log.
    """
    if len(head) != START or not head.startswith(FILE_MAGIC):
        raise RejectedError(f"{path} is not a block log of version 1: begins with {head[:16]!r}")
    return head[len(FILE_MAGIC) :]


def check_last(path: Path, records: Records, end: int, tail: bytes) -> None:
    """Check that no whole record follows the bad one at `end`: a power cut spoils only the last.

    Args:
        path: The log, for the message.
        records: Its records.
        end: Where the bad record begins.
        tail: The bytes from there on.

    Raises:
        RejectedError: A whole one follows, so the bad one is damaged.
    """
    place = tail.find(_MAGIC_BYTES, 1)
    while place >= 0:
        if records.body(end + place) is not None:
            raise RejectedError(
                f"block log {path}: record at byte {end} is damaged, but a whole "
                f"one follows at byte {end + place}; restore the file from a copy"
            )
        place = tail.find(_MAGIC_BYTES, place + 1)


class BlockLog:
    """An open log.

    Attributes:
        salt: 16 random bytes, made with the file.
        end: Offset after the last whole record, bytes.
    """

    def __init__(self, descriptor: int, path: Path, salt: bytes) -> None:
        self._descriptor = descriptor
        self._path = path
        self.salt = salt
        self.end = START
        self._records = Records(lambda size, offset: os.pread(descriptor, size, offset), salt)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the log at `path`, or make an empty one; call `recover` before appending.

        Raises:
            RejectedError: The file is not a block log.
            UnavailableError: The file system refuses.
        """
        try:
            if not path.exists():
                _create(path)
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            head = os.pread(descriptor, START, 0)
        except OSError as error:
            raise UnavailableError(f"block log {path}: {error.strerror}") from error
        try:
            salt = salt_of(path, head)
        except RejectedError:
            os.close(descriptor)
            raise
        return cls(descriptor, path, salt)

    def recover(self, known: int) -> Iterator[tuple[int, bytes]]:
        """Yield offset and body of every record from offset `known` on; cut off a torn last record.

        Yielded records are durable: the process before may have died between writing and syncing.

        Raises:
            RejectedError: A record is damaged.
            UnavailableError: The file system refuses to sync.
        """
        with disk_errors("sync", self._path):
            os.fsync(self._descriptor)
            sync_directory(self._path.parent)
        size = self.size()
        self.end = known
        while self.end < size:
            body = self._records.body(self.end)
            if body is None:
                self._cut(size)
                return
            offset, self.end = self.end, self.end + _HEAD.size + len(body)
            yield offset, body

    def count(self, offset: int) -> int:
        """Return the number of records from `offset` on; heads are checked, bodies are not."""
        found = 0
        while (head := self._records.head(offset)) is not None:
            found, offset = found + 1, offset + _HEAD.size + head[0]
        return found

    def size(self) -> int:
        """Return the length of the file, bytes."""
        return os.fstat(self._descriptor).st_size

    def length(self, offset: int) -> int:
        """Return the length of the body of the record at `offset`, bytes; it is not read.

        Raises:
            UnavailableError: The record's head is damaged.
        """
        head = self._records.head(offset)
        if head is None:
            raise UnavailableError(f"block log {self._path}: record at byte {offset} is damaged")
        return head[0]

    def append(self, body: bytes, *, sync: bool = True) -> int:
        """Write one record, sync it, and return its offset.

        Args:
            body: Of the record.
            sync: False leaves it to a later `sync`, for a log that a power cut makes worthless.

        Raises:
            NoRoomError: The disk is full; the log is as it was.
            UnavailableError: Writing or syncing failed; reopen the log to find out what it holds.
        """
        if len(body) > RECORD_BYTES_MAX:
            raise RejectedError(f"record of {len(body)} bytes, at most {RECORD_BYTES_MAX} allowed")
        offset = self.end
        digest = hashlib.sha256(body).digest()
        seal = self._records.seal(offset, len(body), digest)
        record = _HEAD.pack(_MAGIC, len(body), digest, seal) + body
        try:
            _write_all(self._descriptor, record, offset)
            if sync:
                os.fdatasync(self._descriptor)
        except OSError as error:
            self._take_back(offset, error)
        self.end = offset + len(record)
        return offset

    def sync(self) -> None:
        """Make all records durable.

        Raises:
            UnavailableError: The disk failed.
        """
        with disk_errors("sync", self._path):
            os.fdatasync(self._descriptor)

    def read(self, offset: int) -> bytes:
        """Return the body of the record at `offset`.

        Raises:
            UnavailableError: The record does not match its checksum.
        """
        body = self._records.body(offset)
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

    def _cut(self, size: int) -> None:
        """Cut off a torn record after `end`.

        Raises:
            RejectedError: It is damaged, or a whole record follows.
        """
        tail = os.pread(self._descriptor, min(size - self.end, 2 * RECORD_BYTES_MAX), self.end)
        check_last(self._path, self._records, self.end, tail)
        self._check_torn(tail, size)
        _LOG.warning("cut a torn record of %d bytes at byte %d", size - self.end, self.end)
        os.ftruncate(self._descriptor, self.end)
        os.fsync(self._descriptor)

    def _check_torn(self, tail: bytes, size: int) -> None:
        head = self._records.head(self.end)
        length = len(tail) if head is None else _HEAD.size + head[0]
        short = len(tail) < max(length, _HEAD.size)
        if short or _has_zero_sector(tail[:length], self.end):
            return
        raise RejectedError(
            f"block log {self._path}: the last record, {size - self.end} bytes from byte "
            f"{self.end}, is damaged. A power cut leaves zeros or a shorter file, so its block may "
            "have been reported as committed. Restore the file from a copy, or give the block up: "
            f"truncate -s {self.end} {self._path}"
        )


def _has_zero_sector(data: bytes, offset: int) -> bool:
    """Say whether a sector of the file holds zeros only, as far as it is in `data` at `offset`."""
    padded = bytes(offset % SECTOR_BYTES) + data
    sectors = range(0, len(padded), SECTOR_BYTES)
    return any(not any(padded[start : start + SECTOR_BYTES]) for start in sectors)


def _create(path: Path) -> None:
    """Create an empty log, which is whole or missing after a power cut."""
    head = FILE_MAGIC + os.urandom(SALT_BYTES)
    write_file(path, head, temporary=path.with_suffix(".new"), mode=FILE_MODE)


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
