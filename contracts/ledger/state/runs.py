"""The sorted files of an index: which there are, finding in them, and merging them.

A new file comes with every layer that is written. Whenever a level has
`FANOUT` files, they become one file of the next level. So a record is written
once for each level, and the number of files grows with the logarithm of the
number of records. The list of files is in LMDB: a file counts once the list
names it, and other files in the directory are removed when it is opened.
"""

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from contracts.ledger.state.run import (
    PREFIX_BYTES,
    DamagedIndexError,
    Run,
    RunWriter,
    bits_for,
)
from contracts.runtime.files import sync_directory

FANOUT: Final = 4
SUFFIX: Final = ".sorted"
PART_SUFFIX: Final = ".part"
BREATH_RECORDS: Final = 2_000
"""A merge pauses after so many records, about half a millisecond: it holds the interpreter's lock,
and the ledger goes first."""
BREATH_S: Final = 0.0005
_LISTED: Final = struct.Struct(">QBQ")


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A file in the list.

    Attributes:
        number: Its name; newer files have higher numbers.
        level: How often its records were merged.
        run: The open file.
    """

    number: int
    level: int
    run: Run


class _StoppedError(Exception):
    """The index is being closed."""


class Runs:
    """The open files of an index.

    Args:
        directory: Of the index.
        listed: The list as `packed` returned it.

    Raises:
        DamagedIndexError: A file is missing or damaged.
        UnavailableError: A file cannot be read.

    Attributes:
        listed: The files that count, the newest first.
    """

    def __init__(self, directory: Path, listed: bytes) -> None:
        self._directory = directory
        self.listed: tuple[ListedRun, ...] = ()
        if len(listed) % _LISTED.size:
            raise DamagedIndexError(directory, f"its list of files has {len(listed)} bytes")
        for number, level, records in _LISTED.iter_unpack(listed):
            run = Run.open(self._path(number))
            if run.count != records:
                raise DamagedIndexError(
                    directory,
                    f"file {run.path.name} has {run.count} records, its list says {records}",
                )
            self.listed += (ListedRun(number, level, run),)
        self._numbers = count(max((each.number for each in self.listed), default=0) + 1)
        self._remove_unlisted()

    def find(self, key: bytes) -> bytes | None:
        """Return the value at `key`; safe in any thread.

        Raises:
            DamagedIndexError: A record that may be the one is damaged.
        """
        prefix = int.from_bytes(key[:PREFIX_BYTES], "big")
        for each in self.listed:
            run = each.run
            slot = prefix >> run.slot_shift
            if run.slots[slot >> 3] >> (slot & 7) & 1:
                found = run.find(key, prefix)
                if found is not None:
                    return found
        return None

    def with_new(self, records: Sequence[bytes]) -> tuple[ListedRun, ...]:
        """Write sorted records to a new file; return a list with it, which does not count yet.

        Raises:
            OSError: The file system refuses.
        """
        if not records:
            return self.listed
        new = self._write(0, len(records), 0, [records])
        return (new, *self.listed)

    def due(self) -> tuple[ListedRun, ...]:
        """Return the files of the lowest level that has too many; nothing if no level has."""
        for level in sorted({each.level for each in self.listed}):
            found = tuple(each for each in self.listed if each.level == level)
            if len(found) >= FANOUT:
                return found
        return ()

    def merged(
        self, sources: Sequence[ListedRun], going_on: Callable[[], bool]
    ) -> ListedRun | None:
        """Write the records of several files to a new one; None if `going_on` said no.

        Raises:
            DamagedIndexError: A record is damaged.
            OSError: The file system refuses.
        """
        runs = [each.run for each in sources]
        total = sum(run.count for run in runs)
        bits = min(run.bits for run in runs)
        try:
            return self._write(sources[0].level + 1, total, bits, _merge(runs, bits, going_on))
        except _StoppedError:
            return None

    def without(self, sources: Sequence[ListedRun], new: ListedRun) -> tuple[ListedRun, ...]:
        """Return a list with `new` in the place of `sources`, which does not count yet."""
        at = min(self.listed.index(each) for each in sources)
        rest = [each for each in self.listed if each not in sources]
        return (*rest[:at], new, *rest[at:])

    def take(self, listed: tuple[ListedRun, ...]) -> None:
        """Make a list that is durable in LMDB the one that counts."""
        gone = [each for each in self.listed if each not in listed]
        self.listed = listed
        for each in gone:  # readers that are in it keep it until they are done
            each.run.path.unlink(missing_ok=True)

    def drop(self, listed: Sequence[ListedRun]) -> None:
        """Remove the new files of a list that did not become durable."""
        for each in listed:
            if each not in self.listed:
                each.run.path.unlink(missing_ok=True)

    def _write(
        self, level: int, total: int, bits: int, parts: Iterable[Sequence[bytes]]
    ) -> ListedRun:
        number = next(self._numbers)  # in any thread
        path = self._path(number)
        with _new_file(path) as part, part.open("xb", buffering=1 << 20) as file:
            writer = RunWriter(file, total, bits_for(total))
            for records in parts:
                writer.add(records, bits)
            writer.end()
        return ListedRun(number, level, Run.open(path))

    def _path(self, number: int) -> Path:
        return self._directory / f"{number:08d}{SUFFIX}"

    def _remove_unlisted(self) -> None:
        listed = {each.run.path for each in self.listed}
        for pattern in (f"*{SUFFIX}", f"*{PART_SUFFIX}"):
            for path in self._directory.glob(pattern):
                if path not in listed:
                    path.unlink()


def packed(listed: Sequence[ListedRun]) -> bytes:
    """Return a list as LMDB keeps it."""
    return b"".join(_LISTED.pack(each.number, each.level, each.run.count) for each in listed)


def _merge(
    runs: Sequence[Run], bits: int, going_on: Callable[[], bool]
) -> Iterator[Sequence[bytes]]:
    """Yield the records of all files, in order, in parts by the first `bits` bits of their keys.

    Raises:
        _StoppedError: `going_on` said no.
    """
    since = 0
    for number in range(1 << bits):
        records = [record for run in runs for record in run.records(number, bits)]
        records.sort()
        since += len(records)
        if since >= BREATH_RECORDS:
            since = 0
            time.sleep(BREATH_S)
            if not going_on():
                raise _StoppedError
        yield records


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; after the block the file stands durably at `path`."""
    part = path.with_suffix(PART_SUFFIX)
    try:
        yield part
        part.replace(path)
        sync_directory(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
