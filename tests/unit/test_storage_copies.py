"""Copies come and go: uploads go on with what works, and what is missing is made later."""

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.files import FileBlobs
from storage.recordings.examining import Finding, survey_blob
from storage.recordings.splitter import GROUP_BLOBS
from storage.recordings.store import RecordingStore
from storage.recordings.writer import DigestError
from storage.volumes.marker import MARKER
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes
from support.faulty import FaultyBlobs
from support.stores import blob_file, flip, open_store, open_volumes, put, volume_file

MAIN, COLD = Copy(Place.VOLUME, "main", FSYNC), Copy(Place.VOLUME, "cold", FSYNC)
BLOBS = Copy(Place.BLOBS, "files", FSYNC)
SIZES = [0, 1, BLOB_BYTES, BLOB_BYTES + 5, 2 * GROUP_BLOBS * BLOB_BYTES + 77]


class Site:
    """Two volumes that can vanish, a blob store that can fail, and what is over them."""

    def __init__(self, root: Path, *, without_volume: bool = True) -> None:
        self.root = root
        self.without_volume = without_volume
        self.blobs = FaultyBlobs(FileBlobs(root / "b"))
        self.volumes: Volumes = self._volumes()
        self.store = self._store()

    def _volumes(self) -> Volumes:
        names = ("main", "cold")
        return open_volumes(self.root, {name: VolumePlace(self.root / name) for name in names})

    def _store(self) -> RecordingStore:
        return RecordingStore(
            self.root / "c", self.blobs, self.volumes, without_volume=self.without_volume
        )

    def close(self) -> None:
        self.store.close()
        self.volumes.close()

    def restart(self) -> None:
        self.close()
        self.volumes = self._volumes()
        self.store = self._store()

    def take_away(self, *names: str) -> None:
        """Let volumes vanish: their marker does, as it does with an unmounted file system."""
        for name in names:
            (self.root / name / MARKER).rename(self.root / f"{name}.marker")
        self._probe()

    def bring_back(self, *names: str) -> None:
        for name in names:
            (self.root / f"{name}.marker").rename(self.root / name / MARKER)
        self._probe()

    def _probe(self) -> None:
        for volume in self.volumes:
            volume.probe()

    def copies(self, recording_id: bytes) -> tuple[Copy, ...]:
        manifest = self.store.manifest(recording_id)
        assert manifest is not None
        return manifest.copies

    def survey(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        manifest = self.store.manifest(recording_id)
        assert manifest is not None
        return survey_blob(self.store.shelves, manifest, index).findings

    def backlog(self) -> list[tuple[bytes, tuple[Place, ...]]]:
        return [(each.recording_id, each.lacks) for each in self.store.backlog()]

    def holds(self, data: bytes) -> None:
        """Make sure that a recording is all that it should be, in every copy that it names."""
        recording_id = hashlib.sha256(data).digest()
        assert b"".join(self.store.read(recording_id)) == data
        report = self.store.verify(recording_id)
        assert report.holds, report
        assert len(report.copies) == len(self.copies(recording_id))

    def parts(self) -> list[Path]:
        return [path for name in ("main", "cold") for path in (self.root / name).glob("parts/*")]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


def content(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize("size", SIZES)
def test_without_the_blob_store_it_is_on_the_volume_and_the_blobs_follow(
    site: Site, size: int
) -> None:
    data = content(size)
    site.blobs.down = True
    recording_id = put(site.store, data)
    assert site.copies(recording_id) == (MAIN,)
    assert site.backlog() == [(recording_id, (Place.BLOBS,))]
    site.holds(data)
    with pytest.raises(UnavailableError, match="is down"):
        site.store.fill(recording_id)
    site.restart()
    assert site.backlog() == [(recording_id, (Place.BLOBS,))]
    site.blobs.down = False
    assert site.store.fill(recording_id)
    assert (site.backlog(), site.copies(recording_id)) == ([], (MAIN, BLOBS))
    site.holds(data)


@pytest.mark.parametrize("puts", [0, 1, 2])
def test_a_blob_store_that_fails_midway_does_not_end_the_upload(site: Site, puts: int) -> None:
    data = content(4 * GROUP_BLOBS * BLOB_BYTES)
    site.blobs.puts_left = puts
    recording_id = put(site.store, data)
    assert site.copies(recording_id) == (MAIN,)
    assert site.blobs.manifest(recording_id) is None
    site.blobs.puts_left = 1
    with pytest.raises(UnavailableError, match="takes no more"):
        site.store.fill(recording_id)
    site.blobs.puts_left = None
    assert site.store.fill(recording_id)
    assert site.copies(recording_id) == (MAIN, BLOBS)
    site.holds(data)


@pytest.mark.parametrize("size", SIZES)
def test_without_volumes_it_is_in_the_blob_store_and_the_whole_file_follows(
    site: Site, size: int
) -> None:
    data = content(size)
    site.take_away("main", "cold")
    recording_id = hashlib.sha256(data).digest()
    for stop in (size // 3, size // 2, size):
        with site.store.begin(recording_id, size) as writer:
            writer.write(data[writer.offset : stop])
            assert writer.sync() == stop
            writer.write(data[stop : stop + 99])  # not synced: comes again
        site.restart()
        progress = site.store.progress(recording_id)
        assert progress is not None
        assert (progress.offset, progress.volume) == (stop, "")
    with site.store.begin(recording_id, size) as writer:
        assert writer.finish().copies == (BLOBS,)
    assert site.backlog() == [(recording_id, (Place.VOLUME,))]
    site.holds(data)
    with pytest.raises(UnavailableError, match="volume main is out"):
        site.store.fill(recording_id)
    site.bring_back("cold")
    assert site.store.fill(recording_id)
    assert (site.backlog(), site.copies(recording_id)) == ([], (BLOBS, COLD))
    assert volume_file(site.root, recording_id, "cold").read_bytes() == data
    site.holds(data)


def test_without_volumes_it_may_be_refused(tmp_path: Path) -> None:
    site = Site(tmp_path, without_volume=False)
    site.take_away("main", "cold")
    with pytest.raises(UnavailableError, match=r"no volume takes 9 bytes: volume main is out: .*"):
        site.store.begin(bytes(32), 9)
    site.close()


def test_the_next_volume_takes_what_the_first_cannot(site: Site) -> None:
    site.take_away("main")
    data = content(9)
    assert site.copies(put(site.store, data)) == (COLD, BLOBS)
    site.holds(data)


@pytest.mark.parametrize("to", ["another volume", "no volume"])
@pytest.mark.parametrize("blobs_down", [False, True])
def test_a_volume_that_vanishes_midway_ends_the_request_and_no_byte_is_asked_for_twice(
    site: Site, to: str, *, blobs_down: bool
) -> None:
    size, kept = 3 * GROUP_BLOBS * BLOB_BYTES + 9, 2 * GROUP_BLOBS * BLOB_BYTES + 4
    data = content(size)
    recording_id = hashlib.sha256(data).digest()
    with site.store.begin(recording_id, size) as writer:
        writer.write(data[:kept])
        assert writer.sync() == kept
        site.take_away(*(["main"] if to == "another volume" else ["main", "cold"]))
        with pytest.raises(UnavailableError, match="volume main is out"):
            writer.write(data[kept:])
    site.blobs.down = blobs_down
    if blobs_down and to == "no volume":
        with pytest.raises(UnavailableError, match="is down"):
            site.store.begin(recording_id, size)
        return
    with site.store.begin(recording_id, size) as writer:
        whole_groups = kept // (GROUP_BLOBS * BLOB_BYTES) * GROUP_BLOBS * BLOB_BYTES
        assert writer.offset == (0 if blobs_down else whole_groups)
        progress = site.store.progress(recording_id)
        assert progress is not None
        assert progress.offset == writer.offset, "what a sender is told is where it goes on"
        writer.write(data[writer.offset :])
        copies = {COLD if to == "another volume" else BLOBS, COLD if blobs_down else BLOBS}
        assert set(writer.finish().copies) == copies
    site.blobs.down = False
    site.bring_back(*(["main"] if to == "another volume" else ["main", "cold"]))
    site.store.tidy()
    assert site.store.fill(recording_id)
    assert site.backlog() == []
    assert site.parts() == [], "what was begun on the lost volume is swept"
    site.holds(data)


def test_bytes_that_failed_their_checksum_are_not_resumed_from_blobs(site: Site) -> None:
    data = content(2 * GROUP_BLOBS * BLOB_BYTES)
    recording_id, half = hashlib.sha256(data).digest(), GROUP_BLOBS * BLOB_BYTES
    site.take_away("main", "cold")
    with site.store.begin(recording_id, len(data)) as writer:
        writer.write(data[:half])
        writer.sync()
        writer.write(bytes(half))  # full blobs of a request that is then refused
    with site.store.begin(recording_id, len(data)) as writer:
        assert writer.offset == half
        writer.write(data[half:])
        writer.finish()
    site.holds(data)


@pytest.mark.parametrize("volumes", [True, False])
def test_foreign_bytes_are_kept_in_no_copy(site: Site, *, volumes: bool) -> None:
    data = content(BLOB_BYTES + 9)
    recording_id = hashlib.sha256(data).digest()
    if not volumes:
        site.take_away("main", "cold")
    with site.store.begin(recording_id, len(data)) as writer:
        writer.write(bytes(len(data)))
        with pytest.raises(DigestError):
            writer.finish()
    assert dict(site.blobs.leaves(recording_id)) == {}
    assert site.parts() == []
    assert put(site.store, data) == recording_id
    site.holds(data)


def test_blobs_that_are_not_there_after_all_are_not_called_whole(site: Site) -> None:
    """A store may forget what it acknowledged, as one does whose clock once ran ahead."""
    data = content(3 * BLOB_BYTES)
    site.blobs.forgotten = {1}
    recording_id = put(site.store, data)
    assert site.copies(recording_id) == (MAIN,)
    assert site.blobs.manifest(recording_id) is None
    with pytest.raises(UnavailableError, match="1 of 3 blobs, the first of them 1, are not in"):
        site.store.fill(recording_id)
    site.take_away("main", "cold")
    other = content(2 * BLOB_BYTES, seed=1)
    with pytest.raises(UnavailableError, match="are not in files"):
        put(site.store, other)
    assert site.store.manifest(hashlib.sha256(other).digest()) is None
    site.blobs.forgotten = set()
    put(site.store, other)
    site.bring_back("main", "cold")
    assert site.store.fill(recording_id)
    site.holds(data)
    site.holds(other)


def test_another_sites_recording_is_adopted_and_copied_here(tmp_path: Path) -> None:
    data = content(2 * BLOB_BYTES + 7)
    shared = FileBlobs(tmp_path / "shared")
    with open_store(tmp_path / "there", shared) as there:
        recording_id = put(there, data)
    with open_store(tmp_path / "here", shared) as here:
        assert here.manifest(recording_id) is None
        found = here.find(recording_id)
        assert found is not None
        assert found.copies == (BLOBS,)
        assert b"".join(here.read(recording_id, 5)) == data[5:]
        assert here.adopt(recording_id, len(data) + 1) is None
        assert here.adopt(bytes(32), 5) is None
        with here.begin(recording_id, len(data)) as writer:
            writer.write(data[:9])
            writer.sync()
        assert here.adopt(recording_id, len(data)) == replace(found, copies=())
        assert [each.lacks for each in here.backlog()] == [(Place.VOLUME, Place.BLOBS)]
        assert b"".join(here.read(recording_id, 5)) == data[5:]
        assert not here.verify(recording_id).holds
        assert here.fill(recording_id)
        assert volume_file(tmp_path / "here", recording_id).read_bytes() == data
        assert here.verify(recording_id).holds
        assert here.progress(recording_id) is None


def test_a_recording_that_another_site_lacks_blobs_of_is_not_adopted(tmp_path: Path) -> None:
    data = content(2 * BLOB_BYTES + 7)
    shared = FileBlobs(tmp_path / "b")
    with open_store(tmp_path / "there", shared) as there:
        recording_id = put(there, data)
    blob_file(tmp_path, recording_id, 1).unlink()
    with open_store(tmp_path / "here", shared) as here:
        with pytest.raises(UnavailableError, match="1 of 3 blobs, the first of them 1"):
            here.adopt(recording_id, len(data))
        assert put(here, data) == recording_id
        assert here.verify(recording_id).holds


@pytest.mark.parametrize("index", [0, 2])
def test_damage_is_found_and_mended_in_every_copy(site: Site, index: int) -> None:
    data = content(2 * BLOB_BYTES + 7)
    recording_id = put(site.store, data)
    assert site.survey(recording_id, index) == ()
    whole = volume_file(site.root, recording_id, "main")
    blob = blob_file(site.root, recording_id, index)
    for path, place, copy in (
        (whole, index * BLOB_BYTES, "volume:main"),
        (blob, 33, "blobs:files"),
        (blob, 3, "blobs:files"),
    ):
        flip(path, place)
        (found,) = site.survey(recording_id, index)
        assert (found.copy, found.kind, found.repaired) == (copy, "rotten", False)
        (mended,) = site.store.mend(recording_id, index)
        assert (mended.copy, mended.repaired) == (copy, True)
        site.holds(data)
    blob.unlink()
    (mended,) = site.store.mend(recording_id, index)
    assert (mended.kind, mended.repaired) == ("missing", True)
    site.holds(data)


def test_damage_in_every_copy_stays_and_is_told(site: Site) -> None:
    recording_id = put(site.store, content(9))
    flip(volume_file(site.root, recording_id, "main"), 0)
    flip(blob_file(site.root, recording_id, 0), 40)
    found = site.store.mend(recording_id, 0)
    assert [(each.copy, each.repaired) for each in found] == [
        ("volume:main", False),
        ("blobs:files", False),
    ]
    assert "no copy holds" in found[0].detail


def test_a_whole_file_that_is_gone_is_made_anew(site: Site) -> None:
    data = content(BLOB_BYTES + 7)
    recording_id = put(site.store, data)
    volume_file(site.root, recording_id, "main").unlink()
    (found,) = site.store.mend(recording_id, 0)
    assert (found.kind, found.repaired) == ("missing", False)
    assert site.copies(recording_id) == (BLOBS,)
    assert site.backlog() == [(recording_id, (Place.VOLUME,))]
    assert site.store.fill(recording_id)
    assert site.copies(recording_id) == (BLOBS, MAIN)
    site.holds(data)


def test_a_stopped_fill_goes_on(site: Site) -> None:
    data = content(3 * GROUP_BLOBS * BLOB_BYTES + 3)
    site.take_away("main", "cold")
    recording_id = put(site.store, data)
    site.bring_back("main", "cold")
    turns = iter([False] * 5 + [True])
    assert not site.store.fill(recording_id, lambda: next(turns))
    assert site.copies(recording_id) == (BLOBS,)
    site.restart()
    assert len(site.parts()) == 1, "it is gone on with"
    assert site.store.fill(recording_id)
    assert site.parts() == []
    site.holds(data)
    assert site.store.fill(recording_id)


@pytest.mark.parametrize("damaged", [False, True])
def test_a_file_that_is_there_already_becomes_the_copy(site: Site, *, damaged: bool) -> None:
    data = content(2 * BLOB_BYTES + 7)
    recording_id = put(site.store, data)
    whole = volume_file(site.root, recording_id, "main")
    inode = whole.stat().st_ino
    whole.rename(site.root / "aside")
    site.store.mend(recording_id, 0)
    assert site.copies(recording_id) == (BLOBS,)
    (site.root / "aside").rename(whole)
    if damaged:
        flip(whole, BLOB_BYTES + 5)
    assert site.store.fill(recording_id)
    assert whole.stat().st_ino == inode
    assert whole.read_bytes() == data
    site.holds(data)


def test_a_copy_that_is_given_up_is_not_made_again(site: Site) -> None:
    data = content(BLOB_BYTES + 7)
    recording_id = put(site.store, data)
    site.store.drop(recording_id, MAIN)
    site.store.drop(recording_id, MAIN)
    for _ in range(2):
        assert site.copies(recording_id) == (BLOBS,)
        assert site.backlog() == []
        assert not volume_file(site.root, recording_id, "main").exists()
        site.holds(data)
        site.restart()
    with pytest.raises(RejectedError, match="has no copy but in blobs"):
        site.store.drop(recording_id, BLOBS)
    site.store.delete(recording_id)
    assert put(site.store, data) == recording_id
    assert site.copies(recording_id) == (MAIN, BLOBS)


def test_what_is_on_a_volume_that_is_out_goes_when_it_is_back(site: Site) -> None:
    dropped, deleted = content(9), content(9, seed=1)
    first, second = put(site.store, dropped), put(site.store, deleted)
    site.take_away("main")
    with pytest.raises(UnavailableError, match="is not gone everywhere: volume main is out"):
        site.store.drop(first, MAIN)
    with pytest.raises(UnavailableError, match="is not gone everywhere: volume main is out"):
        site.store.delete(second)
    site.restart()
    assert site.store.manifest(second) is None
    assert site.copies(first) == (BLOBS,)
    with pytest.raises(UnavailableError, match="volume main is out"):
        site.store.begin(second, len(deleted))
    site.bring_back("main")
    assert volume_file(site.root, first, "main").exists()
    site.store.tidy()
    assert not volume_file(site.root, first, "main").exists()
    assert not volume_file(site.root, second, "main").exists()
    site.holds(dropped)
    assert put(site.store, deleted) == second
    site.holds(deleted)


def test_a_blob_store_that_is_down_holds_up_a_deletion_only(site: Site) -> None:
    data = content(9)
    recording_id = put(site.store, data)
    site.blobs.down = True
    with pytest.raises(UnavailableError, match="is down"):
        site.store.delete(recording_id)
    assert site.store.manifest(recording_id) is None
    site.restart()
    site.blobs.down = False
    site.store.tidy()
    assert dict(site.blobs.leaves(recording_id)) == {}


def test_another_blob_store_or_volume_makes_a_backlog(tmp_path: Path) -> None:
    data = content(BLOB_BYTES + 7)
    with open_store(tmp_path) as store:
        recording_id = put(store, data)
    other = {"new": VolumePlace(tmp_path / "new")}
    with open_store(tmp_path, places=other) as store:
        assert [each.lacks for each in store.backlog()] == [(Place.VOLUME,)]
        assert store.fill(recording_id)
        manifest = store.manifest(recording_id)
        assert manifest is not None
        assert set(manifest.copies) == {BLOBS, Copy(Place.VOLUME, "new", FSYNC)}
        assert store.verify(recording_id).holds
    assert volume_file(tmp_path, recording_id, "new").read_bytes() == data


def test_a_volume_that_is_out_is_skipped_and_is_no_backlog(site: Site) -> None:
    data = content(BLOB_BYTES + 7)
    recording_id = put(site.store, data)
    site.take_away("main")
    assert b"".join(site.store.read(recording_id)) == data
    assert site.backlog() == []
    site.blobs.down = True
    with pytest.raises(UnavailableError, match="volume main is out"):
        list(site.store.read(recording_id))
    site.bring_back("main")
    assert b"".join(site.store.read(recording_id)) == data


@contextmanager
def quota(root: Path, quota_bytes: int) -> Iterator[RecordingStore]:
    places = {
        "main": VolumePlace(root / "main", quota_bytes=quota_bytes),
        "cold": VolumePlace(root / "cold", quota_bytes=2 * quota_bytes),
    }
    with open_store(root, places=places) as store:
        yield store


def test_a_quota_passes_on_to_the_next_volume_and_then_refuses(tmp_path: Path) -> None:
    with quota(tmp_path, 100) as store:
        manifests = [store.manifest(put(store, content(60, seed=seed))) for seed in range(4)]
        assert [manifest.copies[0] for manifest in manifests if manifest] == [
            MAIN,
            COLD,
            COLD,
            COLD,
        ]
        with pytest.raises(UnavailableError, match="60 bytes needed, 180 of the quota's 200"):
            store.begin(bytes(32), 60)
