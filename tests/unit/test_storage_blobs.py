"""The suite of the BlobStore port against files, and what only files have."""

import os
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, HASH_BYTES, leaf_hash
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.files import FileBlobs
from storage.volumes.marker import MARKER, Identity
from support.storage.blobsuite import SUITE, Case, blob

ONE = bytes(range(32))


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case.__name__)
def test_files_keep_the_port(case: Case, tmp_path: Path) -> None:
    case(FileBlobs(tmp_path / "blobs"), case.__name__)


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


def is_cached(path: Path) -> bool:
    """Say whether the beginning of a file can be read without meeting the medium."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return bool(os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT))
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def test_blobs_that_are_durable_take_no_memory(tmp_path: Path) -> None:
    control = tmp_path / "control"
    control.write_bytes(bytes(BLOB_BYTES))
    assert is_cached(control)
    with control.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if is_cached(control):
        pytest.skip("this file system keeps all it has in memory")
    FileBlobs(tmp_path / "blobs").put_many(ONE, [blob(at, bytes(BLOB_BYTES)) for at in range(8)])
    cached = [
        is_cached(tmp_path / "blobs" / "00" / "01" / ONE.hex() / f"{at:08x}") for at in range(8)
    ]
    # To drop pages is a request: the kernel keeps one that it is busy with.
    assert sum(cached) <= len(cached) // 2, cached


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


def known(root: Path) -> FileBlobs:
    """Open a store as a gateway does, which remembers the directory beside it."""
    memory = root.parent / "memory"
    memory.mkdir(exist_ok=True)
    return FileBlobs(root, Identity(root, memory / "blobs"))


def test_a_directory_that_is_gone_at_the_start_is_not_made_again(tmp_path: Path) -> None:
    root, away = tmp_path / "blobs", tmp_path / "away"
    known(root).put(ONE, blob(0, b"kept"))
    root.rename(away)
    blobs = known(root)
    assert not root.exists()
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"its marker .* is missing: it is not mounted"):
            blobs.check()
    with pytest.raises(UnavailableError, match="is missing"):
        blobs.get(ONE, 0)
    with pytest.raises(UnavailableError, match="is missing"):
        blobs.put(ONE, blob(1, b"new"))
    with pytest.raises(UnavailableError, match="is missing"):
        list(blobs.recordings())
    away.rename(root)
    blobs.check()
    assert blobs.get(ONE, 0) == blob(0, b"kept")


def test_an_empty_mount_point_or_another_directory_is_out_at_once(tmp_path: Path) -> None:
    root = tmp_path / "blobs"
    blobs = known(root)
    root.rename(tmp_path / "away")
    FileBlobs(root)
    with pytest.raises(UnavailableError, match="is missing"):
        blobs.check()
    with pytest.raises(UnavailableError, match="is missing"):
        blobs.put(ONE, blob(0, b"lost"))
    assert list(FileBlobs(root).recordings()) == []


def test_a_new_directory_is_taken_once_the_old_one_is_forgotten(tmp_path: Path) -> None:
    root = tmp_path / "blobs"
    known(root)
    root.rename(tmp_path / "away")
    (tmp_path / "memory" / "blobs").unlink()
    blobs = known(root)
    blobs.put(ONE, blob(0, b"new"))
    known(root).check()


def test_blobs_of_an_earlier_version_get_a_marker(tmp_path: Path) -> None:
    FileBlobs(tmp_path / "blobs").put(ONE, blob(0, b"kept"))
    assert known(tmp_path / "blobs").get(ONE, 0) == blob(0, b"kept")
    assert (tmp_path / "blobs" / MARKER).exists()
