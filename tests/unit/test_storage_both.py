"""Two stores as one: the suite, and what happens when one of them misses, fails or lies."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.blobs.both import MirroredBlobs
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from support.storage.blobsuite import SUITE, Case, blob, recording

ONE = recording("one")


class Far(FileBlobs):
    """Files that pass as a cluster, and may be out of reach.

    Attributes:
        mended: Blobs that were put one by one, which mends every replica of a cluster.
    """

    down = False

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.mended: list[Blob] = []

    @property
    def name(self) -> str:
        return "far"

    @property
    def durability(self) -> str:
        return "QUORUM"

    def put(self, recording_id: bytes, blob: Blob) -> None:
        self.mended.append(blob)
        super().put(recording_id, blob)

    def put_many(self, recording_id: bytes, blobs: object) -> None:
        self.check()
        super().put_many(recording_id, blobs)  # type: ignore[arg-type] # as it came

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        self.check()
        return super().get(recording_id, index, fresh=fresh)

    def delete(self, recording_id: bytes) -> None:
        self.check()
        super().delete(recording_id)

    def check(self) -> None:
        if self.down:
            raise UnavailableError("far is down")
        super().check()


@pytest.fixture
def near(tmp_path: Path) -> FileBlobs:
    return FileBlobs(tmp_path / "near")


@pytest.fixture
def far(tmp_path: Path) -> Far:
    return Far(tmp_path / "far")


@pytest.fixture
def both(near: FileBlobs, far: Far) -> MirroredBlobs:
    return MirroredBlobs(near, far)


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case.__name__)
def test_both_keep_the_port(case: Case, both: MirroredBlobs) -> None:
    case(both, case.__name__)
    both.close()


def test_the_word_of_both_is_that_of_each(both: MirroredBlobs) -> None:
    assert (both.name, both.durability) == ("both", "fsync+QUORUM")


def test_a_put_is_in_both(near: FileBlobs, far: Far, both: MirroredBlobs) -> None:
    both.put(ONE, blob(0, b"data"))
    assert near.get(ONE, 0) == far.get(ONE, 0) == blob(0, b"data")
    assert [each.name for each in both.replicas(ONE, 0)] == ["files", "far"]


def test_a_put_mends_every_replica_of_each(far: Far, both: MirroredBlobs) -> None:
    """A cluster's `put_many` returns once enough replicas have the blob; a repair needs all."""
    both.put(ONE, blob(3, b"data"))
    assert far.mended == [blob(3, b"data")]


def test_a_put_that_one_refuses_is_no_put(near: FileBlobs, far: Far, both: MirroredBlobs) -> None:
    far.down = True
    with pytest.raises(UnavailableError, match="far is down"):
        both.put(ONE, blob(0, b"data"))
    with pytest.raises(UnavailableError, match="far is down"):
        both.check()
    assert near.get(ONE, 0) == blob(0, b"data")  # which a later put replaces
    assert dict(both.leaves(ONE)) == {}


def test_what_the_near_one_misses_or_spoiled_comes_from_the_far_one(
    near: FileBlobs, far: Far, both: MirroredBlobs
) -> None:
    far.put(ONE, blob(0, b"data"))
    assert both.get(ONE, 0) == blob(0, b"data")
    near.put(ONE, Blob(0, b"rot!", blob(0, b"data").leaf_hash))
    assert both.get(ONE, 0) == blob(0, b"data")
    spoil(near, b"no form")
    assert both.get(ONE, 0) == blob(0, b"data")


def test_who_vouches_for_a_blob_reads_both(near: FileBlobs, far: Far, both: MirroredBlobs) -> None:
    both.put(ONE, blob(0, b"data"))
    assert both.get(ONE, 0, fresh=True) == blob(0, b"data")
    rotten = Blob(0, b"rot!", blob(0, b"data").leaf_hash)
    for store in (near, far):
        store.put(ONE, rotten)
        with pytest.raises(RejectedError, match="not the same in files and far"):
            both.get(ONE, 0, fresh=True)
        both.put(ONE, blob(0, b"data"))
        store.delete(ONE)
        assert both.get(ONE, 0, fresh=True) is None
        both.put(ONE, blob(0, b"data"))
    far.down = True
    with pytest.raises(UnavailableError, match="far is down"):
        both.get(ONE, 0, fresh=True)


def test_when_neither_is_right_the_caller_sees_what_there_is(
    near: FileBlobs, far: Far, both: MirroredBlobs
) -> None:
    rotten = Blob(0, b"rot!", blob(0, b"data").leaf_hash)
    near.put(ONE, rotten)
    assert both.get(ONE, 0) == rotten  # the far one has nothing
    far.down = True
    assert both.get(ONE, 0) == rotten
    near.delete(ONE)
    with pytest.raises(UnavailableError, match="far is down"):
        both.get(ONE, 0)  # it may be there
    far.down = False
    assert both.get(ONE, 0) is None
    near.put(ONE, rotten)
    spoil(near, b"no form")
    with pytest.raises(RejectedError, match="expected 33"):
        both.get(ONE, 0)


def test_blobs_are_there_when_in_both_and_a_manifest_when_in_either(
    near: FileBlobs, far: Far, both: MirroredBlobs
) -> None:
    both.put(ONE, blob(0, b"data"))
    near.put(ONE, blob(1, b"near only"))
    far.put(ONE, blob(2, b"far only"))
    near.put(ONE, blob(3, b"one"))
    far.put(ONE, blob(3, b"other"))
    assert dict(both.leaves(ONE)) == {0: blob(0, b"data").leaf_hash}
    near.put_manifest(ONE, b"whole")
    assert both.manifest(ONE) == b"whole"
    near.delete(ONE)
    assert both.manifest(ONE) is None
    far.put_manifest(ONE, b"whole")
    assert both.manifest(ONE) == b"whole"


def test_a_delete_goes_on_when_one_is_down(near: FileBlobs, far: Far, both: MirroredBlobs) -> None:
    both.put(ONE, blob(0, b"data"))
    far.down = True
    with pytest.raises(UnavailableError, match="far is down"):
        both.delete(ONE)
    assert near.get(ONE, 0) is None
    far.down = False
    assert list(both.recordings()) == [ONE]  # so that the delete is repeated
    both.delete(ONE)
    assert list(both.recordings()) == []


def spoil(files: FileBlobs, content: bytes) -> None:
    """Leave something in the place of blob 0 that is no blob."""
    (path,) = files._root.glob("*/*/*/00000000")  # noqa: SLF001 - the medium below the store
    path.write_bytes(content)
