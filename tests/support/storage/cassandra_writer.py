"""A writer of blobs that goes on while servers die, and remembers what was acknowledged."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from contracts.chunktree import BLOB_BYTES
from contracts.errors import WaysealError
from storage.blobs.cassandra.store import CassandraBlobs
from support.storage.blobsuite import blob, recording
from support.storage.cassandras import HEALED_S
from support.trucks.rogue import until

if TYPE_CHECKING:
    from storage.blobs.port import Blob

SOME: Final = 24
"""Groups of blobs that are written before something happens, and again after it."""


class Writer:
    """Puts blobs, group after group, and remembers those that were acknowledged."""

    def __init__(self, store: CassandraBlobs, seed: str) -> None:
        self.recording_id = recording(seed)
        self.kept: list[Blob] = []
        self.failed: list[WaysealError] = []
        self._store = store
        self._end = threading.Event()
        self._data = os.urandom(BLOB_BYTES // 4)
        self._thread = threading.Thread(target=self._run)

    @contextmanager
    def writing(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._end.set()
            self._thread.join()

    def wait_for_more(self, blobs: int = SOME) -> None:
        goal = len(self.kept) + blobs
        until("more blobs", lambda: len(self.kept) >= goal or bool(self.failed), HEALED_S)

    def _run(self) -> None:
        while not self._end.is_set():
            first = len(self.kept)
            group = [blob(first + n, b"%d" % (first + n) + self._data) for n in range(4)]
            try:
                self._store.put_many(self.recording_id, group)
            except WaysealError as error:
                self.failed.append(error)
                return
            self.kept += group


def check_kept(store: CassandraBlobs, writer: Writer) -> None:
    """Check that everything acknowledged is there and right."""
    assert [store.get(writer.recording_id, each.index) for each in writer.kept] == writer.kept
    leaves = store.leaves(writer.recording_id)
    assert {each.index: each.leaf_hash for each in writer.kept}.items() <= leaves.items()
