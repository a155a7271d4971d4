"""Before a whole copy goes, every blob that remains is read, and mended while that can be done."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError
from storage.recordings.store import RecordingStore
from support.stores import blob_file, flip, open_store, put, volume_file

DATA = os.urandom(2 * BLOB_BYTES + 7)


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


def test_told_to_stop_it_proves_nothing(store: RecordingStore) -> None:
    one = put(store, DATA)
    assert not store.prove_blobs(one, lambda: True)
    assert store.prove_blobs(one)


def test_what_is_not_here_cannot_be_proved(store: RecordingStore) -> None:
    with pytest.raises(RejectedError, match="not whole here"):
        store.prove_blobs(bytes(32))
