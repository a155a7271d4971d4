"""A blob store may ask its nearest replica alone: what is wrong there is asked again of more."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.blobcopies import stored_blob
from support.storage.stores import open_store, put

DATA = os.urandom(BLOB_BYTES + 7)


class NearestLies(FileBlobs):
    """Files whose nearest replica has other bytes than the rest."""

    all_lie = False

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        found = super().get(recording_id, index, fresh=fresh)
        if found is None or (fresh and not self.all_lie):
            return found
        return replace(found, data=bytes(len(found.data)))


def test_a_rotten_nearest_replica_is_not_the_last_word(tmp_path: Path) -> None:
    blobs = NearestLies(tmp_path / "b")
    with open_store(tmp_path, blobs) as store:
        manifest = store.manifest(put(store, DATA))
        assert manifest is not None
        assert stored_blob(store.places, manifest, 1) == DATA[BLOB_BYTES:]
        blobs.all_lie = True
        with pytest.raises(RejectedError, match="leaf hash"):
            stored_blob(store.places, manifest, 1)
