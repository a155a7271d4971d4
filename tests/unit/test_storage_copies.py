"""Copies come and go: adopted, mended, filled, given up, and left alone while out."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.files import FileBlobs
from storage.recordings.splitter import GROUP_BLOBS
from storage.volumes.volume import VolumePlace
from support.storage.stores import blob_file, flip, open_store, put, volume_file
from support.storage.two_volumes import BLOBS, MAIN, Site, content


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


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


def test_a_whole_file_that_is_gone_is_made_again(site: Site) -> None:
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
    with pytest.raises(RejectedError, match="has copies only in blobs"):
        site.store.drop(recording_id, BLOBS)
    site.store.delete(recording_id)
    assert put(site.store, data) == recording_id
    assert site.copies(recording_id) == (MAIN, BLOBS)


def test_what_is_on_a_volume_that_is_out_goes_when_it_is_back(site: Site) -> None:
    dropped, deleted = content(9), content(9, seed=1)
    first, second = put(site.store, dropped), put(site.store, deleted)
    site.take_away("main")
    with pytest.raises(UnavailableError, match="is not deleted everywhere: volume main is out"):
        site.store.drop(first, MAIN)
    with pytest.raises(UnavailableError, match="is not deleted everywhere: volume main is out"):
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
