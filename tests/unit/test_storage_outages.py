"""Uploads go on with the places that work, and what is missing is made later."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.copies import Place
from contracts.errors import UnavailableError
from storage.recordings.splitter import GROUP_BLOBS
from storage.recordings.store import RecordingStore
from storage.recordings.writer import DigestError
from storage.volumes.volume import VolumePlace
from support.storage.stores import open_store, put, volume_file
from support.storage.two_volumes import BLOBS, COLD, MAIN, Site, content

SIZES = [0, 1, BLOB_BYTES, BLOB_BYTES + 5, 2 * GROUP_BLOBS * BLOB_BYTES + 77]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


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
        with pytest.raises(UnavailableError, match="60 bytes do not fit, 180 of its quota of 200"):
            store.begin(bytes(32), 60)
