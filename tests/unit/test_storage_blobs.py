"""One suite, run against every BlobStore that needs no peer."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, HASH_BYTES, leaf_hash
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob, BlobStore

ONE, TWO = bytes(range(32)), bytes(range(1, 33))


class MemoryBlobs:
    """Forgets everything when it goes."""

    def __init__(self) -> None:
        self.kept: dict[bytes, dict[int, Blob]] = {}

    @property
    def name(self) -> str:
        return "memory"

    def put(self, recording_id: bytes, blob: Blob) -> None:
        self.put_many(recording_id, [blob])

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        self.kept.setdefault(recording_id, {}).update({blob.index: blob for blob in blobs})

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        del fresh
        return self.kept.get(recording_id, {}).get(index)

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        blobs = self.kept.get(recording_id, {})
        return {index: blob.leaf_hash for index, blob in blobs.items()}

    def recordings(self) -> Iterator[bytes]:
        yield from list(self.kept)

    def delete(self, recording_id: bytes) -> None:
        self.kept.pop(recording_id, None)


@pytest.fixture(params=["memory", "files"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    return MemoryBlobs() if request.param == "memory" else FileBlobs(tmp_path / "blobs")


def blob(index: int, data: bytes) -> Blob:
    return Blob(index, data, leaf_hash(data))


def test_what_was_put_comes_back(blobs: BlobStore) -> None:
    whole = blob(3, bytes(BLOB_BYTES))
    blobs.put(ONE, whole)
    assert blobs.get(ONE, 3) == whole
    assert blobs.get(ONE, 3, fresh=True) == whole
    assert blobs.get(ONE, 2) is None
    assert blobs.get(TWO, 3) is None


def test_many_are_put_in_any_order(blobs: BlobStore) -> None:
    several = [blob(index, b"%d" % index) for index in (5, 0, 2)]
    blobs.put_many(ONE, several)
    blobs.put_many(ONE, [])
    assert dict(blobs.leaves(ONE)) == {each.index: each.leaf_hash for each in several}
    assert [blobs.get(ONE, each.index) for each in several] == several


def test_writing_twice_replaces(blobs: BlobStore) -> None:
    for data in (b"first", b"first", b"second"):
        blobs.put(ONE, blob(0, data))
    assert blobs.get(ONE, 0) == blob(0, b"second")
    assert len(blobs.leaves(ONE)) == 1


def test_deleting_takes_one_recording_and_may_be_repeated(blobs: BlobStore) -> None:
    blobs.put(ONE, blob(0, b"one"))
    blobs.put(TWO, blob(0, b"two"))
    assert set(blobs.recordings()) == {ONE, TWO}
    blobs.delete(ONE)
    blobs.delete(ONE)
    assert (blobs.get(ONE, 0), dict(blobs.leaves(ONE))) == (None, {})
    assert list(blobs.recordings()) == [TWO]
    assert blobs.get(TWO, 0) == blob(0, b"two")


@pytest.mark.parametrize(
    ("index", "size", "hash_bytes"), [(-1, 1, 32), (0, 0, 32), (0, BLOB_BYTES + 1, 32), (0, 1, 31)]
)
def test_no_blob_is_built_invalid(index: int, size: int, hash_bytes: int) -> None:
    with pytest.raises(RejectedError, match=r"got -?\d+"):
        Blob(index, bytes(size), bytes(hash_bytes))


def test_files_outlive_the_store_and_leftovers_do_not(tmp_path: Path) -> None:
    FileBlobs(tmp_path).put(ONE, blob(0, b"kept"))
    (tmp_path / "tmp" / "half").write_bytes(b"half of a blo")
    grave = tmp_path / "tmp" / "grave"
    grave.mkdir()
    (grave / "00000000").write_bytes(b"deleted")
    reopened = FileBlobs(tmp_path)
    assert reopened.get(ONE, 0) == blob(0, b"kept")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_file_carries_its_leaf_hash_before_its_data(tmp_path: Path) -> None:
    FileBlobs(tmp_path).put(ONE, blob(7, b"data"))
    path = tmp_path / "00" / "01" / ONE.hex() / "00000007"
    assert path.read_bytes() == leaf_hash(b"data") + b"data"


@pytest.mark.parametrize("length", [0, HASH_BYTES - 1, HASH_BYTES, HASH_BYTES + BLOB_BYTES + 1])
def test_a_file_without_the_form_of_a_blob_is_refused(tmp_path: Path, length: int) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put(ONE, blob(0, b"data"))
    (tmp_path / "00" / "01" / ONE.hex() / "00000000").write_bytes(bytes(length))
    with pytest.raises(RejectedError, match=r"expected 33\.\.1048608 bytes, got"):
        blobs.get(ONE, 0)


def test_a_medium_that_fails_is_named(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    (tmp_path / "00").write_bytes(b"in the way of the directory")
    with pytest.raises(UnavailableError, match=r"cannot make directory .*/00: File exists"):
        blobs.put(ONE, blob(0, b"data"))
    assert list((tmp_path / "tmp").iterdir()) == []
