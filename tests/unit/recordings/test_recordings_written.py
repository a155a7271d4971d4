"""Recordings are written once, whole or not at all."""

import hashlib
import os
from collections.abc import Callable

import pytest

from contracts.chunktree import BLOB_BYTES, EMPTY_ROOT
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.splitter import GROUP_BLOBS
from storage.recordings.writer import DigestError
from support.storage.house import House, content, expected
from support.storage.stores import flip

SIZES = [
    0,
    1,
    BLOB_BYTES - 1,
    BLOB_BYTES,
    BLOB_BYTES + 1,
    GROUP_BLOBS * BLOB_BYTES,
    3 * GROUP_BLOBS * BLOB_BYTES + 77,
]


@pytest.mark.parametrize("size", SIZES)
def test_a_recording_comes_back_from_both_copies(house: House, size: int) -> None:
    data = content(size)
    recording_id = house.put(data)
    house.restart()
    assert house.store.manifest(recording_id) == expected(data)
    assert b"".join(house.store.read(recording_id)) == data
    assert house.whole_file(recording_id).read_bytes() == data
    assert house.store.verify(recording_id).holds
    assert house.damage == []
    house.whole_file(recording_id).unlink()
    assert b"".join(house.store.read(recording_id)) == data
    assert list(house.store.recordings()) == [recording_id]
    assert list(house.store.partial()) == []


def test_the_empty_recording_is_defined(house: House) -> None:
    recording_id = house.put(b"")
    manifest = house.store.manifest(recording_id)
    assert manifest is not None
    assert (manifest.size, manifest.tree_root, manifest.leaves) == (0, EMPTY_ROOT, ())
    assert list(house.store.read(recording_id)) == []


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 0), (0, 1), (BLOB_BYTES - 1, BLOB_BYTES + 1), (BLOB_BYTES, 2 * BLOB_BYTES), (5, None)],
)
def test_a_range_is_exactly_that(house: House, start: int, stop: int | None) -> None:
    data = content(2 * BLOB_BYTES + 9)
    assert b"".join(house.store.read(house.put(data), start, stop)) == data[start:stop]


@pytest.mark.parametrize(("start", "stop"), [(-1, 1), (2, 1), (0, 11), (11, None)])
def test_a_range_outside_is_refused(house: House, start: int, stop: int | None) -> None:
    recording_id = house.put(content(10))
    with pytest.raises(RejectedError, match=r"expected a range within 0\.\.10, got"):
        house.store.read(recording_id, start, stop)


@pytest.mark.parametrize("kept", [0, 1, BLOB_BYTES, BLOB_BYTES + 5, 5 * BLOB_BYTES])
def test_what_was_synced_is_resumed(house: House, kept: int) -> None:
    data = content(5 * BLOB_BYTES)
    recording_id = hashlib.sha256(data).digest()
    with house.store.begin(recording_id, len(data)) as writer:
        writer.write(data[:kept])
        assert writer.sync() == kept
        writer.write(data[kept : kept + 100])
    house.restart()
    progress = house.store.progress(recording_id)
    assert progress is not None
    assert (progress.offset, progress.size) == (kept, len(data))
    assert list(house.store.partial()) == [progress]
    with pytest.raises(RejectedError, match=f"partial, {kept} of {len(data)} bytes"):
        house.store.read(recording_id)
    with house.store.begin(recording_id, len(data)) as writer:
        assert writer.offset == kept
        writer.write(data[kept:])
        assert writer.finish() == writer.finish() == expected(data)
    assert b"".join(house.store.read(recording_id)) == data
    assert house.store.verify(recording_id).holds


Damage = Callable[[House, bytes], None]


def _cut_part(house: House, recording_id: bytes) -> None:
    os.truncate(house.part_file(recording_id), BLOB_BYTES + 33)


def _lengthen_part(house: House, recording_id: bytes) -> None:
    with house.part_file(recording_id).open("ab") as file:
        file.write(bytes(BLOB_BYTES))


def _lose_part(house: House, recording_id: bytes) -> None:
    house.part_file(recording_id).unlink()


def _lose_blob(house: House, recording_id: bytes) -> None:
    house.blob_file(recording_id, 1).unlink()


def _cut_blob_head(house: House, recording_id: bytes) -> None:
    os.truncate(house.blob_file(recording_id, 1), 7)


def _damage_progress(house: House, recording_id: bytes) -> None:
    flip(house.root / "c" / "partial" / recording_id.hex(), 50)


def _publish_without_manifest(house: House, recording_id: bytes) -> None:
    house.part_file(recording_id).rename(house.whole_file(recording_id))


@pytest.mark.parametrize(
    "damage",
    [
        _cut_part,
        _lengthen_part,
        _lose_part,
        _lose_blob,
        _cut_blob_head,
        _damage_progress,
        _publish_without_manifest,
    ],
)
def test_a_kill_at_any_step_ends_in_the_same_recording(house: House, damage: Damage) -> None:
    data = content(GROUP_BLOBS * BLOB_BYTES + 5)
    recording_id = hashlib.sha256(data).digest()
    with house.store.begin(recording_id, len(data)) as writer:
        writer.write(data)
        writer.sync()  # and closing waits for the group of blobs that is under way
    damage(house, recording_id)
    house.restart()
    for progress in house.store.partial():
        assert progress.offset <= house.length(recording_id)
    with house.store.begin(recording_id, len(data)) as writer:
        writer.write(data[writer.offset :])
        assert writer.finish() == expected(data)
    assert house.store.verify(recording_id).holds
    assert house.files() == {
        f"c/whole/{recording_id.hex()[:2]}/{recording_id.hex()}",
        str(house.whole_file(recording_id).relative_to(house.root)),
        str(house.blob_file(recording_id, 0).with_name("manifest").relative_to(house.root)),
        *(
            str(house.blob_file(recording_id, index).relative_to(house.root))
            for index in range(GROUP_BLOBS + 1)
        ),
    }


def test_foreign_bytes_are_not_kept(house: House) -> None:
    data, other = content(2 * BLOB_BYTES), content(2 * BLOB_BYTES, seed=1)
    recording_id = hashlib.sha256(data).digest()
    with house.store.begin(recording_id, len(data)) as writer:
        writer.write(other)
        with pytest.raises(DigestError) as caught:
            writer.finish()
    assert recording_id.hex() in str(caught.value)
    assert hashlib.sha256(other).hexdigest() in str(caught.value)
    assert house.files() == {f"c/partial/{recording_id.hex()}"}
    with house.store.begin(recording_id, len(data)) as writer:
        assert writer.offset == 0
        writer.write(data)
        writer.finish()
    assert b"".join(house.store.read(recording_id)) == data


def test_an_early_finish_changes_nothing(house: House) -> None:
    data = content(10)
    with house.store.begin(hashlib.sha256(data).digest(), 10) as writer:
        writer.write(data[:4])
        with pytest.raises(RejectedError, match="has 10 bytes, 4 were received"):
            writer.finish()
        with pytest.raises(RejectedError, match="got 7 more at 4"):
            writer.write(bytes(7))
        writer.write(data[4:])
        assert writer.finish() == expected(data)


def test_one_writer_one_size_once(house: House) -> None:
    data = content(10)
    recording_id = hashlib.sha256(data).digest()
    with house.store.begin(recording_id, 10):
        with pytest.raises(UnavailableError, match="is being written"):
            house.store.begin(recording_id, 10)
        with pytest.raises(UnavailableError, match="is being written"):
            house.store.delete(recording_id)
    with pytest.raises(RejectedError, match="begun with 10 bytes, got 11"):
        house.store.begin(recording_id, 11)
    house.put(data)
    with pytest.raises(RejectedError, match="is whole"):
        house.store.begin(recording_id, 10)
    for wrong_id, size in ((b"short", 1), (recording_id, -1), (recording_id, 1 << 60)):
        with pytest.raises(RejectedError, match=r"got -?\d+"):
            house.store.begin(wrong_id, size)
