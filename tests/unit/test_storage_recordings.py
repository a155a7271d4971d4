"""Recordings are written once, whole or not at all, and read from the nearest good copy."""

import hashlib
import os
import random
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, EMPTY_ROOT, leaf_hash, root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.files import FileBlobs
from storage.recordings.manifest import StoredRecording
from storage.recordings.splitter import GROUP_BLOBS
from storage.recordings.store import RecordingStore
from storage.recordings.writer import DigestError
from storage.volumes.volumes import Volumes
from support.storage.stores import blob_file, flip, open_volumes, put, volume_file

COPIES = (Copy(Place.VOLUME, "volume", FSYNC), Copy(Place.BLOBS, "files", FSYNC))
SIZES = [
    0,
    1,
    BLOB_BYTES - 1,
    BLOB_BYTES,
    BLOB_BYTES + 1,
    GROUP_BLOBS * BLOB_BYTES,
    3 * GROUP_BLOBS * BLOB_BYTES + 77,
]


class House:
    """A store and the places of its files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.damage: list[tuple[bytes, int, str]] = []
        self.kept = b""
        self.store, self.volumes = self.open()

    def open(self) -> tuple[RecordingStore, Volumes]:
        volumes = open_volumes(self.root)
        blobs = FileBlobs(self.root / "b")
        store = RecordingStore(
            self.root / "c", blobs, volumes, lambda *damage: self.damage.append(damage)
        )
        return store, volumes

    def close(self) -> None:
        self.store.close()
        self.volumes.close()

    def restart(self) -> None:
        self.close()
        self.store, self.volumes = self.open()

    def put(self, data: bytes) -> bytes:
        return put(self.store, data)

    def whole_file(self, recording_id: bytes) -> Path:
        return volume_file(self.root, recording_id)

    def part_file(self, recording_id: bytes) -> Path:
        return self.root / "v" / "parts" / f"{recording_id.hex()}.part"

    def length(self, recording_id: bytes) -> int:
        """Return how long the part is, or the whole file."""
        found = [self.part_file(recording_id), self.whole_file(recording_id)]
        return max((path.stat().st_size for path in found if path.exists()), default=0)

    def blob_file(self, recording_id: bytes, index: int) -> Path:
        return blob_file(self.root, recording_id, index)

    def files(self) -> set[str]:
        """Return what there is of recordings."""
        places = (self.root / name for name in ("b", "c", "v"))
        files = (path for place in places for path in place.rglob("*") if path.is_file())
        return {str(path.relative_to(self.root)) for path in files if path.name[0] != "."}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


def content(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def expected(data: bytes) -> StoredRecording:
    leaves = tuple(leaf_hash(data[at : at + BLOB_BYTES]) for at in range(0, len(data), BLOB_BYTES))
    sha256 = hashlib.sha256(data).digest()
    return StoredRecording(sha256, len(data), root_hash(leaves), leaves, COPIES)


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
