"""One file with the validators' signatures for the blocks that came from a snapshot.

The engine of such a validator has only the heights after the snapshot. Evidence of an older block
needs the header that names it, and the headers at which the validators changed.

    16   magic
    n    SealedHeader, one after the other, by rising height
    then per header: u64 its height, u64 where it begins, bytes
    then per header that names other validators for the next height: u64 its height
    u64  number of headers
    u64  number of changes
"""

import os
import struct
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Self

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.runtime.files import created, disk_errors

SEALS: Final = "history.seals"
"""In the data directory of a validator that began with a snapshot."""
_MAGIC: Final = b"wayseal seals 1\n"
_ENTRY: Final = struct.Struct(">QQ")
_HEIGHT: Final = struct.Struct(">Q")


class History:
    """An open file of seals; any thread reads."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        size = os.fstat(descriptor).st_size
        end = size - _ENTRY.size
        self._count, changes = _ENTRY.unpack(self._read(_ENTRY.size, max(end, 0)))
        self._end = end - _HEIGHT.size * changes - _ENTRY.size * self._count
        if self._read(len(_MAGIC), 0) != _MAGIC or self._end < len(_MAGIC) or not self._count:
            raise RejectedError(f"{path} is not a file of seals of version 1, or is cut short")
        wire = self._read(_HEIGHT.size * changes, end - _HEIGHT.size * changes)
        self.changes = [each[0] for each in _HEIGHT.iter_unpack(wire)]
        """Heights of the headers that name other validators for the next height."""

    @classmethod
    def open(cls, directory: Path) -> Self | None:
        """Open the file in a data directory; return None if that directory has no such file.

        Raises:
            RejectedError: It is damaged.
            UnavailableError: It cannot be read.
        """
        path = directory / SEALS
        with disk_errors("read", path):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
        try:
            return cls(path, descriptor)
        except RejectedError:
            os.close(descriptor)
            raise

    @property
    def newest(self) -> int:
        """Return the height of the newest header."""
        return self._entry(self._count - 1)[0]

    def at(self, height: int) -> SealedHeader | None:
        """Return the header of a height; None if no block of ours is before it.

        Raises:
            RejectedError: The file is damaged.
            UnavailableError: It cannot be read.
        """
        number = bisect_left(range(self._count), height, key=lambda each: self._entry(each)[0])
        if number == self._count:
            return None
        found, begin = self._entry(number)
        if found != height:
            return None
        end = self._entry(number + 1)[1] if number + 1 < self._count else self._end
        return parse(SealedHeader, self._read(end - begin, begin))

    def close(self) -> None:
        """Release the file."""
        os.close(self._descriptor)

    def _entry(self, number: int) -> tuple[int, int]:
        height, begin = _ENTRY.unpack(self._read(_ENTRY.size, self._end + number * _ENTRY.size))
        return height, begin

    def _read(self, size: int, at: int) -> bytes:
        with disk_errors("read", self._path):
            wire = os.pread(self._descriptor, size, at)
        if len(wire) != size:
            raise RejectedError(f"{self._path} is cut short at byte {at}")
        return wire


def write_history(directory: Path, seals: Iterable[bytes]) -> None:
    """Write the seals of a chain, by rising height; the file appears once it is whole.

    Raises:
        UnavailableError: The disk is full or failed.
    """
    entries, changes, offset = bytearray(), bytearray(), len(_MAGIC)
    path = directory / SEALS
    with disk_errors("remove", path):
        path.unlink(missing_ok=True)
    with created(path) as part, part.open("wb") as file:
        file.write(_MAGIC)
        for wire in seals:
            header = parse(SealedHeader, wire).header
            entries += _ENTRY.pack(header.height, offset)
            if header.validators_hash != header.next_validators_hash:
                changes += _HEIGHT.pack(header.height)
            file.write(wire)
            offset += len(wire)
        file.write(entries + changes)
        counts = len(entries) // _ENTRY.size, len(changes) // _HEIGHT.size
        file.write(_ENTRY.pack(*counts))
