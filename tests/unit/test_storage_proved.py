"""Before a whole copy goes, every blob that remains is read, and mended while that can be done."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.store import RecordingStore
from support.storage.faulty_blobs import FaultyBlobs
from support.storage.stores import blob_file, flip, open_store, put, volume_file

DATA = os.urandom(2 * BLOB_BYTES + 7)


class Errs(FileBlobs):
    """Files of which one cannot be read until it is overwritten."""

    bad: int | None = None
    mendable = True

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        if index == self.bad:
            raise UnavailableError("a sector cannot be read")
        return super().get(recording_id, index, fresh=fresh)

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        super().put_many(recording_id, blobs)
        if self.mendable:
            self.bad = None


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordingStore]:
    with open_store(tmp_path) as opened:
        yield opened


def test_a_rotten_blob_is_mended_from_the_whole_copy(store: RecordingStore, tmp_path: Path) -> None:
    one = put(store, DATA)
    flip(blob_file(tmp_path, one, 1), 500)
    assert store.blobs_hold(one)
    assert store.prove_blobs(one)
    volume_file(tmp_path, one).unlink()
    assert b"".join(store.read(one)) == DATA


def test_what_cannot_be_mended_is_not_proved(store: RecordingStore, tmp_path: Path) -> None:
    one = put(store, DATA)
    flip(blob_file(tmp_path, one, 1), 500)
    flip(volume_file(tmp_path, one), BLOB_BYTES)
    assert not store.prove_blobs(one)


def test_a_manifest_that_the_blob_store_lost_is_put_there_again(
    store: RecordingStore, tmp_path: Path
) -> None:
    one = put(store, DATA)
    manifest = blob_file(tmp_path, one, 0).with_name("manifest")
    before = manifest.read_bytes()
    manifest.unlink()
    assert store.prove_blobs(one)
    assert manifest.read_bytes() == before


def test_told_to_stop_it_proves_nothing(store: RecordingStore) -> None:
    one = put(store, DATA)
    assert not store.prove_blobs(one, lambda: True)
    assert store.prove_blobs(one)


def test_what_is_not_here_cannot_be_proved(store: RecordingStore) -> None:
    with pytest.raises(RejectedError, match="not whole here"):
        store.prove_blobs(bytes(32))


@pytest.mark.parametrize("mendable", [True, False])
def test_a_blob_that_cannot_be_read_holds_up_nothing_else(
    tmp_path: Path,
    mendable: bool,  # noqa: FBT001
) -> None:
    blobs = Errs(tmp_path / "b")
    with open_store(tmp_path, blobs) as opened:
        one = put(opened, DATA)
        blobs.bad, blobs.mendable = 1, mendable
        assert opened.prove_blobs(one) is mendable


def test_a_blob_store_that_is_down_proves_nothing_against_its_blobs(tmp_path: Path) -> None:
    blobs = FaultyBlobs(FileBlobs(tmp_path / "b"))
    with open_store(tmp_path, blobs) as opened:
        one = put(opened, DATA)
        blobs.down = True
        with pytest.raises(UnavailableError, match="is down"):
            opened.prove_blobs(one)
