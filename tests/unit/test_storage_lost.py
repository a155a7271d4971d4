"""Lost entries of the catalogue are made again by what the signed digest proves."""

import shutil
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import Place
from storage.blobs.files import FileBlobs
from storage.recordings.lost import KnownRecording
from storage.recordings.store import RecordingStore
from support.storage.faulty_blobs import FaultyBlobs
from support.storage.stores import blob_file, flip, open_store, put, volume_file

DATA = bytes(range(256)) * (BLOB_BYTES // 128 + 7)


def entry(root: Path, recording_id: bytes) -> Path:
    return root / "c" / "whole" / recording_id.hex()[:2] / recording_id.hex()


def wanted(store: RecordingStore, recording_id: bytes, *given_up: Place) -> KnownRecording:
    manifest = store.manifest(recording_id)
    assert manifest is not None
    return KnownRecording(recording_id, [(manifest.size, manifest.tree_root)], given_up)


@pytest.mark.parametrize("without", ["entry", "manifest", "blobs", "whole file"])
def test_what_is_left_brings_the_entry_back(tmp_path: Path, without: str) -> None:
    with open_store(tmp_path) as store:
        ours = put(store, DATA)
        asked = wanted(store, ours)
        entry(tmp_path, ours).unlink()
        blobs = blob_file(tmp_path, ours, 0).parent
        if without == "manifest":
            (blobs / "manifest").unlink()
        elif without == "blobs":
            shutil.rmtree(blobs)
        elif without == "whole file":
            volume_file(tmp_path, ours).unlink()
        (found,) = store.lost.remake([asked], lambda: False)
        assert (found.recording_id, found.kind, found.repaired) == (ours, "missing", True)
        assert b"".join(store.read(ours)) == DATA
        assert list(store.lost.remake([asked], lambda: False)) == []
        assert store.fill(ours)
        store.lost.read_unread(lambda: False)
        assert not store.lost.is_unread(ours)
        assert store.verify(ours).holds


def test_it_is_unread_until_every_byte_was_read_and_mended(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        ours = put(store, DATA)
        asked = wanted(store, ours)
        entry(tmp_path, ours).unlink()
        flip(blob_file(tmp_path, ours, 1), 77)
        assert b"".join(store.read(ours)) == DATA, "before it is made again"
        assert len(list(store.lost.remake([asked], lambda: False))) == 1
        assert store.lost.is_unread(ours)
        store.lost.read_unread(lambda: False)
        assert not store.lost.is_unread(ours)
        assert store.verify(ours).holds


def test_a_copy_that_was_given_up_stays_so(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        ours = put(store, DATA)
        asked = wanted(store, ours, Place.VOLUME)
        entry(tmp_path, ours).unlink()
        volume_file(tmp_path, ours).unlink()
        assert len(list(store.lost.remake([asked], lambda: False))) == 1
        assert list(store.backlog()) == []


def test_of_contradicting_digests_the_bytes_decide(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        ours = put(store, DATA)
        right = next(iter(wanted(store, ours).claims))
        entry(tmp_path, ours).unlink()
        false = (7, bytes(32))
        assert list(store.lost.remake([KnownRecording(ours, [false])], lambda: False)) == []
        assert not entry(tmp_path, ours).exists()
        assert list(store.lost.remake([KnownRecording(ours, [false, right])], lambda: False))
        assert not store.lost.is_unread(ours), "all bytes were read"


def test_a_deleted_recording_does_not_come_back(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        ours = put(store, DATA)
        asked = wanted(store, ours)
        store.delete(ours)
        assert list(store.lost.remake([asked], lambda: False)) == []
        assert store.find(ours) is None


def test_what_is_rotten_in_every_copy_can_be_brought_again(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        ours = put(store, DATA)
        asked = wanted(store, ours)
        entry(tmp_path, ours).unlink()
        flip(blob_file(tmp_path, ours, 1), 77)
        flip(volume_file(tmp_path, ours), BLOB_BYTES + 5)
        assert len(list(store.lost.remake([asked], lambda: False))) == 1
        store.lost.read_unread(lambda: False)
        assert not store.lost.is_unread(ours)
        assert store.places.catalogue.is_damaged(ours)
        assert store.manifest(ours) is None
        assert store.adopt(ours, len(DATA)) is None, "a truck is asked for it"
        assert list(store.backlog()) == []
        assert list(store.lost.remake([asked], lambda: False)) == []
        assert put(store, DATA) == ours
        assert store.verify(ours).holds
        assert not store.places.catalogue.is_damaged(ours)


def test_what_did_not_answer_is_read_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = FaultyBlobs(FileBlobs(tmp_path / "b"))
    with open_store(tmp_path, blobs) as store:
        ours = put(store, DATA)
        asked = wanted(store, ours)
        entry(tmp_path, ours).unlink()
        assert len(list(store.lost.remake([asked], lambda: False))) == 1
        blobs.down = True
        store.lost.read_unread(lambda: False)
        blobs.down = False
        store.lost.read_unread(lambda: False)
        assert store.lost.is_unread(ours), "not at once"
        monkeypatch.setattr("storage.recordings.lost.READ_AGAIN_S", 0.0)
        store.lost.read_unread(lambda: False)
        assert not store.lost.is_unread(ours)
        assert store.verify(ours).holds
