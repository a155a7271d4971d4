"""Recordings are read from the nearest good copy, and damage is named."""

import hashlib
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError, UnavailableError
from support.storage.house import House, content, expected
from support.storage.stores import flip


def _lose_catalogue(house: House) -> None:
    shutil.rmtree(house.root / "c")
    shutil.rmtree(house.root / "b")


def _restore_older_catalogue(house: House) -> None:
    """Have the progress record again that was there before the last byte came."""
    _lose_catalogue(house)
    (house.root / "c" / "partial").mkdir(parents=True)
    shutil.copy(house.root / "older", house.root / "c" / "partial" / house.kept.hex())


@pytest.mark.parametrize("lose", [_lose_catalogue, _restore_older_catalogue])
def test_a_whole_file_that_the_catalogue_lost_is_never_written_over(
    house: House, lose: Callable[[House], None]
) -> None:
    data = content(2 * BLOB_BYTES + 5)
    house.kept = hashlib.sha256(data).digest()
    with house.store.begin(house.kept, len(data)) as writer:
        writer.write(data[:BLOB_BYTES])
        writer.sync()
        shutil.copy(house.root / "c" / "partial" / house.kept.hex(), house.root / "older")
        writer.write(data[BLOB_BYTES:])
        writer.finish()
    house.close()
    lose(house)
    house.store, house.volumes = house.open()
    with pytest.raises(RejectedError, match=f" {len(data)} bytes, got {len(data) - 1}"):
        house.store.begin(house.kept, len(data) - 1)
    with (
        house.store.begin(house.kept, len(data)) as writer,
        pytest.raises(RejectedError, match="1 more at"),
    ):
        writer.write(bytes(1))
    assert house.length(house.kept) == len(data)
    house.restart()
    with house.store.begin(house.kept, len(data)) as writer:
        assert writer.finish() == expected(data)
    assert house.whole_file(house.kept).read_bytes() == data
    assert house.store.verify(house.kept).holds


def test_a_whole_file_of_wrong_bytes_is_replaced(house: House) -> None:
    data = content(BLOB_BYTES + 5)
    recording_id = house.put(data)
    house.close()
    _lose_catalogue(house)
    flip(house.whole_file(recording_id), BLOB_BYTES + 1)
    house.store, house.volumes = house.open()
    with house.store.begin(recording_id, len(data)) as writer:
        assert writer.offset == 0
        writer.write(data)
        assert writer.finish() == expected(data)
    assert house.whole_file(recording_id).read_bytes() == data


def test_a_rotten_chunk_on_the_volume_is_read_from_the_blobs(house: House) -> None:
    data = content(3 * BLOB_BYTES)
    recording_id = house.put(data)
    flip(house.whole_file(recording_id), BLOB_BYTES + 3)
    assert b"".join(house.store.read(recording_id)) == data
    assert house.damage == [(recording_id, 1, "volume:volume")]
    house.close()
    assert house.whole_file(recording_id).read_bytes() == data, "mended behind the reader"
    flip(house.whole_file(recording_id), BLOB_BYTES + 3)
    house.restart()
    report = house.store.verify(recording_id)
    assert not report.holds
    volume, blobs = report.copies
    assert (volume.rotten, volume.missing, volume.sha256_holds) == ((1,), (), False)
    assert blobs.holds


def test_two_rotten_copies_are_one_clear_error(house: House) -> None:
    data = content(3 * BLOB_BYTES)
    recording_id = house.put(data)
    flip(house.whole_file(recording_id), 2 * BLOB_BYTES)
    house.blob_file(recording_id, 2).unlink()
    came: list[bytes] = []
    with pytest.raises(RejectedError, match="blob 2: no copy holds") as caught:
        came.extend(house.store.read(recording_id))
    assert b"".join(came) == data[: 2 * BLOB_BYTES]
    for word in (recording_id.hex(), "copy volume:volume", "copy blobs:files", "is missing"):
        assert word in str(caught.value)
    assert house.store.verify(recording_id).copies[1].missing == (2,)
    assert b"".join(house.store.read(recording_id, 0, 5)) == data[:5]


def test_a_file_that_was_cut_or_goes_on_is_damage(house: House) -> None:
    data = content(2 * BLOB_BYTES)
    recording_id = house.put(data)
    for length in (2 * BLOB_BYTES + 1, 2 * BLOB_BYTES - 1, BLOB_BYTES):
        os.truncate(house.whole_file(recording_id), length)
        assert not house.store.verify(recording_id).copies[0].holds
        assert b"".join(house.store.read(recording_id)) == data
        house.restart()
        assert house.whole_file(recording_id).read_bytes() == data, "mended behind the reader"
    assert house.damage == [(recording_id, 1, "volume:volume")] * 3


def test_a_damaged_manifest_is_named_and_the_bytes_are_served(house: House) -> None:
    recording_id = house.put(content(10))
    flip(house.root / "c" / "whole" / recording_id.hex()[:2] / recording_id.hex(), 20)
    with pytest.raises(RejectedError, match="checksum"):
        house.store.manifest(recording_id)
    assert b"".join(house.store.read(recording_id)) == content(10)
    house.store.places.blobs.delete_manifest(recording_id)
    with pytest.raises(RejectedError, match="checksum"):
        house.store.read(recording_id)


def test_deleting_leaves_nothing_even_after_a_kill_in_between(house: House) -> None:
    data = content(BLOB_BYTES + 1)
    recording_id = house.put(data)
    catalogue = house.root / "c"
    manifest = catalogue / "whole" / recording_id.hex()[:2] / recording_id.hex()
    manifest.rename(catalogue / "leaving" / recording_id.hex())  # the kill is here
    assert house.store.manifest(recording_id) is None
    house.restart()
    assert house.files() == set()
    house.put(data)
    house.store.delete(recording_id)
    house.store.delete(recording_id)
    assert house.files() == set()
    with house.store.begin(recording_id, len(data)) as writer:
        writer.write(data[:5])
        writer.sync()
    house.store.delete(recording_id)
    assert house.files() == set()


@contextmanager
def largest_file(limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_medium_that_takes_no_more_loses_nothing(house: House) -> None:
    stored = house.put(content(100))
    data = content(4 * BLOB_BYTES, seed=2)
    recording_id = hashlib.sha256(data).digest()
    with largest_file(2 * BLOB_BYTES):
        with pytest.raises(UnavailableError, match=r"cannot reserve 4194304 bytes for .*\(EFBIG\)"):
            house.store.begin(recording_id, len(data))
        assert b"".join(house.store.read(stored)) == content(100)
    assert not house.part_file(recording_id).exists()
    assert [state.usable for state in house.volumes.states()] == [True]
    with house.store.begin(recording_id, len(data)) as writer:
        writer.write(data)
        assert writer.finish() == expected(data)
