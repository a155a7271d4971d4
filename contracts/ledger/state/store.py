"""Tables of values computed from the blocks, for quick finding: LMDB and sorted files.

A block's entries go into memory at once. A thread of its own writes them to
disk, durably, every some ten thousand entries. So committing a block costs no
sync here; after a power cut the engine replays the blocks since the last write.
Readers ask the newest layer first.

Most entries say where a transaction is. Their keys are hashes: in LMDB each
would change its own page, 4 KiB for 23 bytes once the table is large. So
they are in sorted files (`runs`), and LMDB has what is found by ascending
numbers. A write is durable as a whole: LMDB's transaction names the files.

Every record has a checksum, which covers its table and key too.
"""

import logging
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import lmdb

from contracts.errors import UnavailableError
from contracts.ledger.state.run import DamagedIndexError
from contracts.ledger.state.runs import ListedRun, Runs, packed
from contracts.runtime.files import make_directory

_LOG = logging.getLogger(__name__)

MAP_BYTES: Final = 1 << 40
"""Address space, not disk: LMDB files grow as they are written."""
MAP_BYTES_MIN: Final = 1 << 32
"""Some machines give less: arm64 with addresses of 39 bits gives a process 512 GiB."""
LAYER_ENTRIES: Final = 20_000
"""A layer with so many entries is written to disk."""
LAYER_BYTES: Final = 16 << 20
"""A layer with values of so many bytes is written too."""
RETRY_S: Final = 1.0
"""Pause, seconds, after the disk refused a layer, for example because it is full."""
MERGE_RETRY_S: Final = 60.0
"""The same after it refused the merging of files, which can wait."""
FORMAT: Final = b"2"
CHECKSUM_BYTES: Final = 4
_FORMAT_KEY: Final = b"format"
_FILES: Final = "files"
"""LMDB table with the list of sorted files."""
_FILES_KEY: Final = b"list"


class NoRoomError(UnavailableError):
    """The disk is full; nothing was written, and the same call may succeed later."""


class OldIndexError(UnavailableError):
    """The index was written by an earlier version and must be built again."""


Entries = Mapping[bytes, bytes | None]
"""New values by key; None deletes."""
Layer = dict[str, dict[bytes, bytes | None]]
"""New entries by table."""


class Store:
    """Open tables.

    Args:
        path: Directory; made when missing.
        tables: Names of the tables, in the order in which entries become visible.
        hashed: The one whose keys are hashes, of `KEY_BYTES`; its values have `VALUE_BYTES`. A key
            is put once and never deleted.

    Raises:
        OldIndexError: The index is of an earlier version.
        DamagedIndexError: Something in it is not what was written.
        UnavailableError: LMDB cannot read what is there.
    """

    def __init__(self, path: Path, tables: Sequence[str], hashed: str) -> None:
        self._path, self._names, self._hashed = path, tables, hashed
        self._env = _open(path, len(tables))
        try:
            self._tables = {
                table: self._env.open_db(table.encode())
                for table in (*tables, _FILES)
                if table != hashed
            }
            listed = self._read(_FILES, _FILES_KEY)
            if listed is None:
                raise self.damaged("the list of its files is missing")
            self._runs = Runs(path, listed)
        except lmdb.Error as error:
            self._env.close()
            raise UnavailableError(f"index {path}: {error}") from error
        except UnavailableError:
            self._env.close()
            raise
        self._top = self._layer()
        self._top_bytes = 0
        self._layers: tuple[Layer, ...] = (self._top,)
        self._changed = threading.Condition()
        self._listing = threading.Lock()  # holds the list of files, in LMDB and here, together
        self._error: Exception | None = None
        self._closing = False
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for work, name in ((self._write_layers, "index"), (self._merge_files, "index-merge"))
        ]
        for thread in self._threads:
            thread.start()

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return the newest value at `key`.

        Raises:
            DamagedIndexError: The record is not what was written.
            UnavailableError: LMDB cannot be read.
        """
        for layer in self._layers:
            if key in layer[table]:
                return layer[table][key]
        return self._runs.find(key) if table == self._hashed else self._read(table, key)

    def put(self, entries: Mapping[str, Entries]) -> None:
        """Make entries visible, table after table; call `make_room` before."""
        for table in self._names:
            news = entries.get(table, {})
            self._top[table].update(news)
            self._top_bytes += sum(len(value) for value in news.values() if value is not None)

    def make_room(self) -> None:
        """Let the newest layer grow; wait while the disk is a whole layer behind.

        Raises:
            NoRoomError: The disk refused the previous layer, for example because it is full.
        """
        if sum(map(len, self._top.values())) < LAYER_ENTRIES and self._top_bytes < LAYER_BYTES:
            return
        with self._changed:
            self._changed.wait_for(lambda: len(self._layers) == 1 or self._error is not None)
            if self._error is not None:
                raise NoRoomError(f"index: {self._error}")
            self._top, self._top_bytes = self._layer(), 0
            self._layers = (self._top, *self._layers)
            self._changed.notify_all()

    def close(self) -> None:
        """Write everything to disk and release it."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        try:
            self._write(self._layers)
        except (lmdb.Error, OSError) as error:
            _LOG.warning("index is behind the log, which will be replayed: %s", error)
        self._env.close()

    def damaged(self, what: str) -> DamagedIndexError:
        """Return the error that something in this index is not what was written."""
        return DamagedIndexError(self._path, what)

    def _read(self, table: str, key: bytes) -> bytes | None:
        try:
            with self._env.begin(db=self._tables[table]) as view:
                found: bytes | None = view.get(key)
        except lmdb.Error as error:
            raise UnavailableError(f"index, table {table}: {error}") from error
        if found is None:
            return None
        value = found[:-CHECKSUM_BYTES]
        if found != value + _checksum(table, key, value):
            raise self.damaged(f"table {table}: the record at key {key.hex()} is damaged")
        return value

    def _write_layers(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: len(self._layers) > 1 or self._closing)
                if self._closing:
                    return
                sealed = self._layers[1:]
            try:
                self._write(sealed)
            except (lmdb.Error, OSError) as error:
                _LOG.warning("index not written, trying again in %s s: %s", RETRY_S, error)
                with self._changed:
                    self._error = error
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._closing, RETRY_S)
                continue
            with self._changed:
                self._error = None
                self._layers = (self._top,)
                self._changed.notify_all()

    def _write(self, layers: Sequence[Layer]) -> None:
        """Write layers, the newest first, as a whole."""
        found = {key: value for layer in layers for key, value in layer[self._hashed].items()}
        records = sorted(key + value for key, value in found.items() if value is not None)
        with self._listing:
            self._commit(layers, self._runs.with_new(records))

    def _commit(self, layers: Sequence[Layer], listed: tuple[ListedRun, ...]) -> None:
        try:
            self._write_lmdb(layers, listed)
        except lmdb.Error:
            self._runs.drop(listed)
            raise
        self._runs.take(listed)

    def _write_lmdb(self, layers: Sequence[Layer], listed: Sequence[ListedRun]) -> None:
        with self._env.begin(write=True) as view:
            for layer in reversed(layers):
                for table, entries in layer.items():
                    if table != self._hashed:
                        self._write_table(view, table, entries)
            self._write_table(view, _FILES, {_FILES_KEY: packed(listed)})

    def _write_table(self, view: lmdb.Transaction, table: str, entries: Entries) -> None:
        """Write in key order: neighbours share a page."""
        database = self._tables[table]
        for key, value in sorted(entries.items()):
            if value is None:
                view.delete(key, db=database)
            else:
                view.put(key, value + _checksum(table, key, value), db=database)

    def _merge_files(self) -> None:
        """Merge files whenever a level has too many."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or bool(self._runs.due()))
                if self._closing:
                    return
            try:
                self._merge(self._runs.due())
            except (lmdb.Error, OSError, UnavailableError) as error:
                _LOG.warning("files of the index not merged, later again: %s", error)
                with self._changed:
                    self._changed.wait_for(lambda: self._closing, MERGE_RETRY_S)

    def _merge(self, sources: Sequence[ListedRun]) -> None:
        level = sources[0].level
        new = self._runs.merged(sources, lambda: self._goes_on(level))
        if new is not None:
            with self._listing:
                self._commit((), self._runs.without(sources, new))

    def _goes_on(self, level: int) -> bool:
        """Say whether to go on merging; first merge what became due on a level below.

        The merging of a high level may take minutes. Without this, every new layer would add a
        file that each search asks.
        """
        while not self._closing:
            below = self._runs.due()
            if not below or below[0].level >= level:
                return True
            self._merge(below)
        return False

    def _layer(self) -> Layer:
        return {table: {} for table in self._names}


def _open(path: Path, tables: int) -> lmdb.Environment:
    """Open the LMDB environment of an index with so many tables; mark a new one with its format.

    Raises:
        OldIndexError: It is of an earlier version.
        UnavailableError: LMDB cannot read it.
    """
    make_directory(path)
    try:
        env = _mapped(path, tables)
        with env.begin(write=True) as view:
            if not env.stat()["entries"]:
                files = env.open_db(_FILES.encode(), txn=view)
                view.put(_FILES_KEY, _checksum(_FILES, _FILES_KEY, b""), db=files)
                view.put(_FORMAT_KEY, FORMAT)
            found = view.get(_FORMAT_KEY)
    except lmdb.Error as error:
        raise UnavailableError(f"index {path}: {error}") from error
    if found != FORMAT:
        env.close()
        raise OldIndexError(f"index {path} is of an earlier format than {FORMAT.decode()}")
    return env


def _mapped(path: Path, tables: int) -> lmdb.Environment:
    """Open the environment in as much address space as this machine gives, at most `MAP_BYTES`.

    Raises:
        UnavailableError: It does not give `MAP_BYTES_MIN`.
        lmdb.Error: LMDB cannot read it.
    """
    size = MAP_BYTES
    while True:
        try:
            env = lmdb.open(
                str(path), map_size=size, max_dbs=tables, max_readers=512, readahead=False
            )
        except lmdb.MemoryError as error:
            if size <= MAP_BYTES_MIN:
                raise UnavailableError(
                    f"index {path}: expected address space for {size >> 30} GiB at least: {error}"
                ) from error
            size >>= 2
        else:
            break
    if size < MAP_BYTES:
        _LOG.warning(
            "index %s: at most %d GiB, for want of address space on this machine", path, size >> 30
        )
    return env


def _checksum(table: str, key: bytes, value: bytes) -> bytes:
    """Return the CRC-32 of a record."""
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(table.encode()))).to_bytes(4, "big")
