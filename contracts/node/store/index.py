"""What can be computed from the block log, kept for quick finding: LMDB behind memory.

A block's entries go into memory at once and into LMDB, durably, every some
ten thousand entries, by a thread of its own. So committing a block costs the
one sync of the log, and a power cut costs no more than replaying the log's
tail. Readers ask the newest layer first.
"""

import logging
import threading
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

import lmdb

from contracts.errors import UnavailableError
from contracts.files import make_directory
from contracts.node.store.log import NoRoomError

_LOG = logging.getLogger(__name__)

MAP_BYTES: Final = 1 << 40
"""Address space, not disk: LMDB files grow as they are written."""
LAYER_ENTRIES: Final = 20_000
"""A layer with so many entries is written to LMDB."""
LAYER_BYTES: Final = 16 << 20
"""Or with values of so many bytes."""
RETRY_S: Final = 1.0
"""Pause, seconds, after LMDB refused a layer, as it does on a full disk."""


class Table(Enum):
    """Kinds of entries, in the order in which they become visible."""

    NODE = "node"
    ROOT = "root"
    BLOCK = "block"
    BLOCK_ID = "block_id"
    TRANSACTION = "transaction"
    BATCH = "batch"
    META = "meta"


Entries = Mapping[bytes, bytes | None]
"""New values by key; None deletes."""
Layer = dict[Table, dict[bytes, bytes | None]]


class Index:
    """An open index.

    Args:
        path: Directory of the LMDB environment; made when missing.
    """

    def __init__(self, path: Path) -> None:
        make_directory(path)
        try:
            self._env = lmdb.open(
                str(path), map_size=MAP_BYTES, max_dbs=len(Table), max_readers=512
            )
            self._tables = {table: self._env.open_db(table.value.encode()) for table in Table}
        except lmdb.Error as error:
            raise UnavailableError(f"index {path}: {error}") from error
        self._top: Layer = _layer()
        self._top_bytes = 0
        self._layers: tuple[Layer, ...] = (self._top,)
        self._changed = threading.Condition()
        self._error: lmdb.Error | None = None
        self._closing = False
        self._writer = threading.Thread(target=self._write_layers, name="index", daemon=True)
        self._writer.start()

    def get(self, table: Table, key: bytes) -> bytes | None:
        """Return the newest value at `key`.

        Raises:
            UnavailableError: LMDB cannot be read.
        """
        for layer in self._layers:
            if key in layer[table]:
                return layer[table][key]
        try:
            with self._env.begin(db=self._tables[table]) as view:
                found: bytes | None = view.get(key)
        except lmdb.Error as error:
            raise UnavailableError(f"index, table {table.value}: {error}") from error
        return found

    def put(self, entries: Mapping[Table, Entries]) -> None:
        """Make entries visible, table after table; call `make_room` before."""
        for table in Table:
            news = entries.get(table, {})
            self._top[table].update(news)
            self._top_bytes += sum(len(value) for value in news.values() if value is not None)

    def make_room(self) -> None:
        """Let the newest layer grow; wait while LMDB is a whole layer behind.

        Raises:
            NoRoomError: LMDB refuses the layer before, as it does on a full disk.
        """
        if sum(map(len, self._top.values())) < LAYER_ENTRIES and self._top_bytes < LAYER_BYTES:
            return
        with self._changed:
            self._changed.wait_for(lambda: len(self._layers) == 1 or self._error is not None)
            if self._error is not None:
                raise NoRoomError(f"index: {self._error}")
            self._top, self._top_bytes = _layer(), 0
            self._layers = (self._top, *self._layers)
            self._changed.notify_all()

    def close(self) -> None:
        """Write everything to LMDB and release it."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._writer.join()
        try:
            self._write(self._layers)
        except lmdb.Error as error:
            _LOG.warning("index stays behind the log, which will be replayed: %s", error)
        self._env.close()

    def _write_layers(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: len(self._layers) > 1 or self._closing)
                if self._closing:
                    return
                sealed = self._layers[1:]
            try:
                self._write(sealed)
            except lmdb.Error as error:
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

    def _write(self, layers: Iterable[Layer]) -> None:
        with self._env.begin(write=True) as view:
            for layer in reversed(tuple(layers)):
                for table, entries in layer.items():
                    self._write_table(view, table, entries)

    def _write_table(self, view: lmdb.Transaction, table: Table, entries: Entries) -> None:
        """Write in key order, so that neighbours share a page."""
        database = self._tables[table]
        for key, value in sorted(entries.items()):
            if value is None:
                view.delete(key, db=database)
            else:
                view.put(key, value, db=database)


def _layer() -> Layer:
    return {table: {} for table in Table}
