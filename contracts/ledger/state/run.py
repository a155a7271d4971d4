"""One sorted, immutable file of records of one size, found by hashed keys.

File, integers little-endian:

    16   magic
    u64  number of records
    u8   bits: the first `bits` of a key are the number of its bucket
    u32  CRC-32 of the above
    per bucket, in order: its records (key, value), sorted; u32 CRC-32 of them, which
         starts from the bucket's number
    u32  per bucket and one more: how many records all buckets before it hold
    32   per bucket, as bits: which of its 256 slots, by the next 8 bits of the key, have records
    u32  CRC-32 of these bits

A reader checks the bucket that it reads, so a changed or missing record shows,
and so does a change of the numbers that lead to a bucket. The slots are checked
once and stay in memory, 1 to 2 bytes for a record: nine of ten searches for a
key that is not here end there. Keys are hashes, so buckets are about equal.
"""

import mmap
import os
import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final, Self

from contracts.errors import UnavailableError

MAGIC: Final = b"wayseal sorted 1"
KEY_BYTES: Final = 12
VALUE_BYTES: Final = 11
RECORD_BYTES: Final = KEY_BYTES + VALUE_BYTES
BUCKET_RECORDS: Final = 16
"""A bucket holds so many records on average, up to twice as many."""
SYNC_BYTES: Final = 4 << 20
"""A file is synced after every so many bytes: the log's own sync must not wait for all of it."""
PREFIX_BYTES: Final = 8
PREFIX_BITS: Final = 8 * PREFIX_BYTES
_SLOT_BITS: Final = 8
_SLOT_MASK: Final = (1 << _SLOT_BITS) - 1
_SLOT_BYTES: Final = (1 << _SLOT_BITS) // 8
_HEAD: Final = struct.Struct("<16sQB")
_CHECKSUM: Final = struct.Struct("<I")
_BOUNDS: Final = struct.Struct("<II")
_START: Final = _HEAD.size + _CHECKSUM.size


class DamagedIndexError(UnavailableError):
    """Something in the index is not what was written; the message says what, and the remedy."""

    def __init__(self, index: Path, what: str) -> None:
        super().__init__(
            f"index {index}: {what}. Stop the node, delete {index} and start it again: the node "
            "builds the index from the block log"
        )


class Run:
    """An open file.

    Attributes:
        path: The file.
        count: Its number of records.
        bits: A key's first bits are the number of its bucket.
        slots: A bit for each slot of each bucket: whether a record is there.
        slot_shift: Shifts the first 8 bytes of a key to the number of its bit in `slots`.
    """

    def __init__(self, path: Path, content: mmap.mmap, count: int, bits: int) -> None:
        self.path = path
        self.count = count
        self.bits = bits
        self._content = content
        self._bounds = _START + count * RECORD_BYTES + (_CHECKSUM.size << bits)
        place = self._bounds + (_CHECKSUM.size << bits) + _CHECKSUM.size
        self._end = place + (_SLOT_BYTES << bits) + _CHECKSUM.size
        self.slots = content[place : self._end - _CHECKSUM.size]
        self.slot_shift = PREFIX_BITS - bits - _SLOT_BITS

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file.

        Raises:
            DamagedIndexError: It is missing, cut short, or its head is damaged.
            UnavailableError: It cannot be read.
        """
        try:
            with path.open("rb") as file:
                head = file.read(_START)
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (FileNotFoundError, ValueError) as error:  # ValueError: the file is empty
            raise DamagedIndexError(path.parent, f"file {path.name} is missing") from error
        except OSError as error:
            raise UnavailableError(f"index file {path}: {error.strerror}") from error
        if len(head) == _START and head == _head(*(found := _HEAD.unpack_from(head))[1:]):
            run = cls(path, content, found[1], found[2])
            if run.is_whole():
                content.madvise(mmap.MADV_WILLNEED)
                return run
        raise DamagedIndexError(path.parent, f"file {path.name} is cut short or damaged")

    def is_whole(self) -> bool:
        """Say whether the file has its length, and the slots match their checksum."""
        expected = _CHECKSUM.pack(zlib.crc32(self.slots))
        return (
            len(self._content) == self._end
            and self._content[self._end - _CHECKSUM.size :] == expected
        )

    def find(self, key: bytes, prefix: int) -> bytes | None:
        """Return the value at `key`, whose first 8 bytes are `prefix` as a number.

        Raises:
            DamagedIndexError: The bucket of the key is damaged.
        """
        bucket = self.bucket(prefix >> PREFIX_BITS - self.bits)
        place = bucket.find(key)
        while place % RECORD_BYTES and place >= 0:  # in the middle of a record
            place = bucket.find(key, place + 1)
        return None if place < 0 else bucket[place + KEY_BYTES : place + RECORD_BYTES]

    def bucket(self, number: int) -> bytes:
        """Return the records of a bucket.

        Raises:
            DamagedIndexError: They do not match their checksum.
        """
        content = self._content
        first, last = _BOUNDS.unpack_from(content, self._bounds + _CHECKSUM.size * number)
        place = _START + _CHECKSUM.size * number
        end = place + RECORD_BYTES * last
        records = content[place + RECORD_BYTES * first : end]
        if content[end : end + _CHECKSUM.size] != _CHECKSUM.pack(zlib.crc32(records, number)):
            raise DamagedIndexError(
                self.path.parent, f"file {self.path.name}: bucket {number} is damaged"
            )
        return records

    def records(self, number: int, bits: int) -> list[bytes]:
        """Return the records whose keys begin with the `bits` bits of `number`, in order.

        Args:
            number: The bits.
            bits: At most those of this file.
        """
        more = self.bits - bits
        found: list[bytes] = []
        for each in range(number << more, (number + 1) << more):
            bucket = self.bucket(each)
            found += [
                bucket[place : place + RECORD_BYTES]
                for place in range(0, len(bucket), RECORD_BYTES)
            ]
        return found


def bits_for(count: int) -> int:
    """Return the bits for a file of `count` records."""
    return max(0, (count // BUCKET_RECORDS).bit_length() - 1)


class RunWriter:
    """Writes one file; its name is durable once the directory is synced.

    Args:
        file: New and empty.
        count: How many records will come.
        bits: What `bits_for` returns, or less.
    """

    def __init__(self, file: BinaryIO, count: int, bits: int) -> None:
        self._file = file
        self._bits = bits
        self._bounds = array("I", [0])
        self._slots = bytearray()
        self._unsynced = 0
        file.write(_head(count, bits))

    def add(self, records: Sequence[bytes], bits: int) -> None:
        """Write the next records, sorted: those whose keys begin with the next `bits` bits."""
        first, low = len(self._bounds) - 1, 0
        last = first + (1 << (self._bits - bits))
        for number in range(first, last):
            high = len(records)
            if number + 1 < last:
                bound = (number + 1) << (PREFIX_BITS - self._bits)
                high = bisect_left(records, bound.to_bytes(PREFIX_BYTES, "big"), low)
            bucket = b"".join(records[low:high])
            self._file.write(bucket + _CHECKSUM.pack(zlib.crc32(bucket, number)))
            self._slots += self._slots_of(records[low:high])
            self._bounds.append(self._bounds[-1] + high - low)
            low = high
        self._unsynced += RECORD_BYTES * len(records)
        if self._unsynced >= SYNC_BYTES:
            self._sync()

    def end(self) -> None:
        """Write what leads to the buckets, and make the file durable."""
        if sys.byteorder == "big":
            self._bounds.byteswap()
        self._file.write(self._bounds.tobytes())
        self._file.write(self._slots + _CHECKSUM.pack(zlib.crc32(self._slots)))
        self._sync()

    def _slots_of(self, records: Sequence[bytes]) -> bytes:
        shift, found = PREFIX_BITS - self._bits - _SLOT_BITS, 0
        for record in records:
            prefix = int.from_bytes(record[:PREFIX_BYTES], "big")
            found |= 1 << (prefix >> shift & _SLOT_MASK)
        return found.to_bytes(_SLOT_BYTES, "little")

    def _sync(self) -> None:
        self._file.flush()
        os.fdatasync(self._file.fileno())
        self._unsynced = 0


def _head(count: int, bits: int) -> bytes:
    head = _HEAD.pack(MAGIC, count, bits)
    return head + _CHECKSUM.pack(zlib.crc32(head))
