"""Two sites over one blob store: neither takes away, nor writes over, what the other put there."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, leaf_hash, root_hash
from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError
from storage.blobs.both import MirroredBlobs
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.recordings.strays import find_damaged
from storage.recordings.writer import DigestError
from storage.volumes.volumes import Volumes
from support.faulty import FaultyBlobs
from support.stores import blob_file, flip, open_store, open_volumes, put, volume_file

DATA = os.urandom(2 * BLOB_BYTES + 77)
WRONG = bytes(len(DATA))
ID = sha256(DATA).digest()


@dataclass
class Sites:
    """Two stores over one blob store; `here` has all but it for itself."""

    here: RecordingStore
    there: RecordingStore
    volumes: Volumes
    blobs: FileBlobs


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[Sites]:
    blobs = FileBlobs(tmp_path / "b")
    with ExitStack() as stack:
        volumes = stack.enter_context(open_volumes(tmp_path / "here"))
        here = stack.enter_context(open_store(tmp_path / "here", blobs, volumes=volumes))
        there = stack.enter_context(open_store(tmp_path / "there", blobs))
        yield Sites(here, there, volumes, blobs)


def without_volume(sites: Sites) -> None:
    """Take the volume out; its next probe, which would take it in again, is seconds away."""
    for volume in sites.volumes:
        volume.take_out("pulled")


def test_an_upload_that_is_deleted_takes_nothing_from_another_site(sites: Sites) -> None:
    with sites.here.begin(ID, len(DATA)) as writer:
        writer.write(DATA[:BLOB_BYTES])
        writer.sync()
    put(sites.there, DATA)

    sites.here.delete(ID)

    assert sites.here.progress(ID) is None
    assert sites.there.verify(ID).holds


def test_what_was_never_here_is_not_deleted_elsewhere(sites: Sites) -> None:
    put(sites.there, DATA)
    sites.here.delete(ID)
    assert sites.there.verify(ID).holds


def test_an_upload_of_another_size_takes_nothing_from_another_site(sites: Sites) -> None:
    """Anyone may announce the hash of anything."""
    put(sites.there, DATA)
    assert sites.here.adopt(ID, len(DATA) + 1) is None
    with sites.here.begin(ID, len(DATA) + 1) as writer:
        writer.write(WRONG + b"!")
        with pytest.raises(DigestError):
            writer.finish()
    assert sites.there.verify(ID).holds


def rot(blobs: FileBlobs, index: int) -> None:
    """Let a blob carry the right hash over wrong data."""
    piece = DATA[index * BLOB_BYTES : (index + 1) * BLOB_BYTES]
    blobs.put(ID, Blob(index, WRONG[: len(piece)], leaf_hash(piece)))


def test_what_was_there_before_is_read_before_it_counts(sites: Sites) -> None:
    rot(sites.blobs, 0)
    rot(sites.blobs, 2)
    put(sites.here, DATA)
    assert sites.here.verify(ID).holds


def test_what_was_there_before_and_holds_is_not_put_again(sites: Sites, tmp_path: Path) -> None:
    sites.blobs.put(ID, Blob(0, DATA[:BLOB_BYTES], leaf_hash(DATA[:BLOB_BYTES])))
    before = blob_file(tmp_path, ID, 0)
    stamp = before.stat().st_ino
    put(sites.here, DATA)
    assert before.stat().st_ino == stamp


def test_right_bytes_replace_what_rotted_under_another_sites_seal(sites: Sites) -> None:
    put(sites.there, DATA)
    rot(sites.blobs, 1)
    put(sites.here, DATA)
    assert list(sites.here.backlog()) == []
    assert sites.there.verify(ID).holds


def test_what_follows_later_is_read_too_before_it_counts(sites: Sites) -> None:
    put(sites.here, DATA)
    manifest = sites.here.manifest(ID)
    assert manifest is not None
    on_volume = tuple(copy for copy in manifest.copies if copy.place is Place.VOLUME)
    sites.here.shelves.catalogue.replace(replace(manifest, copies=on_volume))
    rot(sites.blobs, 1)
    assert sites.here.fill(ID)
    assert sites.here.verify(ID).holds


def test_an_adopted_recording_has_no_copy_until_it_was_read(sites: Sites) -> None:
    put(sites.there, DATA)
    adopted = sites.here.adopt(ID, len(DATA))
    assert adopted is not None
    assert adopted.copies == ()
    rot(sites.blobs, 1)
    assert sites.there.prove_blobs(ID)
    assert sites.here.fill(ID)
    assert sites.here.verify(ID).holds


def test_an_adopted_recording_that_holds_nowhere_is_damaged_until_it_is_brought(
    sites: Sites, tmp_path: Path
) -> None:
    put(sites.there, DATA)
    assert sites.here.adopt(ID, len(DATA)) is not None
    rot(sites.blobs, 1)
    with pytest.raises(RejectedError, match="no copy holds"):
        sites.here.fill(ID)
    assert (sites.here.shelves.catalogue.is_damaged(ID), sites.here.manifest(ID)) == (True, None)
    assert list(sites.here.recordings()) == []
    assert list(sites.here.backlog()) == []
    sites.here.tidy()
    assert sites.here.adopt(ID, len(DATA)) is None
    (found,) = find_damaged(sites.here.shelves)
    assert (found.recording_id, found.copy) == (ID, "blobs:files")
    with open_store(tmp_path / "here", sites.blobs, volumes=sites.volumes) as restarted:
        assert restarted.shelves.catalogue.is_damaged(ID)
    put(sites.here, DATA)
    assert not sites.here.shelves.catalogue.is_damaged(ID)
    assert list(find_damaged(sites.here.shelves)) == []
    assert sites.here.verify(ID).holds
    assert sites.there.verify(ID).holds


def test_what_is_damaged_and_sealed_no_more_is_forgotten(sites: Sites) -> None:
    forge(sites.blobs)
    assert sites.here.adopt(ID, len(WRONG)) is not None
    with pytest.raises(RejectedError, match="together have SHA-256"):
        sites.here.fill(ID)
    assert sites.here.shelves.catalogue.is_damaged(ID)
    faulty = FaultyBlobs(sites.blobs)
    faulty.down = True
    assert len(list(find_damaged(replace(sites.here.shelves, blobs=faulty)))) == 1
    sites.blobs.delete(ID)
    assert list(find_damaged(sites.here.shelves)) == []
    assert not sites.here.shelves.catalogue.is_damaged(ID)


def test_what_was_read_here_once_is_not_put_aside_for_rot(sites: Sites, tmp_path: Path) -> None:
    put(sites.here, DATA)
    sites.blobs.delete(ID)
    manifest = sites.here.manifest(ID)
    assert manifest is not None
    on_volume = tuple(copy for copy in manifest.copies if copy.place is Place.VOLUME)
    sites.here.shelves.catalogue.replace(replace(manifest, copies=on_volume))
    flip(volume_file(tmp_path / "here", ID), 5)
    with pytest.raises(RejectedError, match="no copy holds"):
        sites.here.fill(ID)
    assert not sites.here.shelves.catalogue.is_damaged(ID)
    assert list(sites.here.recordings()) == [ID]


def test_without_a_volume_the_blobs_of_an_adopted_recording_are_read_too(sites: Sites) -> None:
    put(sites.there, DATA)
    assert sites.here.adopt(ID, len(DATA)) is not None
    without_volume(sites)
    with pytest.raises(UnavailableError, match="is out"):
        sites.here.fill(ID)
    manifest = sites.here.manifest(ID)
    assert manifest is not None
    assert [copy.place for copy in manifest.copies] == [Place.BLOBS]


def test_without_a_volume_a_forged_recording_gets_no_copy(sites: Sites) -> None:
    forge(sites.blobs)
    assert sites.here.adopt(ID, len(WRONG)) is not None
    without_volume(sites)
    with pytest.raises(RejectedError, match="together have SHA-256"):
        sites.here.fill(ID)
    assert sites.here.manifest(ID) is None


class DeletedMeanwhile(FileBlobs):
    """Loses a recording right before the manifest: another site looked for one before that.

    Attributes:
        deletions: How often that still happens.
        unlisted: How often no list comes after that.
    """

    deletions = 1
    unlisted = 0

    def put_manifest(self, recording_id: bytes, manifest: bytes) -> None:
        if self.deletions:
            self.deletions -= 1
            self.delete(recording_id)
        super().put_manifest(recording_id, manifest)

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        if self.manifest(recording_id) is not None and self.unlisted:
            self.unlisted -= 1
            raise UnavailableError("no list now")
        return super().leaves(recording_id)


def test_what_another_site_deleted_before_the_manifest_came_is_no_copy(tmp_path: Path) -> None:
    blobs = DeletedMeanwhile(tmp_path / "b")
    with open_store(tmp_path, blobs) as store:
        put(store, DATA)
        manifest = store.manifest(ID)
        assert manifest is not None
        assert [copy.place for copy in manifest.copies] == [Place.VOLUME]
        assert [each.lacks for each in store.backlog()] == [(Place.BLOBS,)]
        assert blobs.manifest(ID) is None
        assert store.fill(ID)
        assert store.verify(ID).holds
        assert blobs.manifest(ID) is not None


class SealedMeanwhile(FileBlobs):
    """Gets its manifest back right behind a deletion, and its blobs if `again` says so."""

    again = False

    def delete(self, recording_id: bytes) -> None:
        manifest = self.manifest(recording_id)
        kept = [blob for index in range(3) if (blob := self.get(recording_id, index))]
        super().delete(recording_id)
        if self.again:
            self.put_many(recording_id, kept)
        if manifest is not None:
            self.put_manifest(recording_id, manifest)


@pytest.mark.parametrize("again", [False, True])
def test_what_another_site_sealed_while_it_was_deleted_is_whole_or_not_called_so(
    tmp_path: Path,
    again: bool,  # noqa: FBT001
) -> None:
    blobs = SealedMeanwhile(tmp_path / "b")
    blobs.again = again
    with open_store(tmp_path, blobs) as store:
        put(store, DATA)
        store.delete(ID)
        assert (blobs.manifest(ID) is not None) == again
        assert (store.find(ID) is not None) == again


@pytest.mark.parametrize("deletions", [0, 1])
@pytest.mark.parametrize("unlisted", [0, 1])
def test_without_a_volume_an_upload_whose_end_failed_comes_to_its_end(
    tmp_path: Path, deletions: int, unlisted: int
) -> None:
    """Its own manifest, whose blobs a deletion took, keeps the sender's bytes from nowhere."""
    blobs = DeletedMeanwhile(tmp_path / "b")
    blobs.deletions, blobs.unlisted = deletions, unlisted
    with open_volumes(tmp_path) as volumes, open_store(tmp_path, blobs, volumes=volumes) as store:
        for volume in volumes:
            volume.take_out("pulled")
        with store.begin(ID, len(DATA)) as writer:
            writer.write(DATA)
            if deletions or unlisted:
                with pytest.raises(UnavailableError):
                    writer.finish()
        put(store, DATA)
        assert store.verify(ID).holds
        assert blobs.manifest(ID) is not None


def test_wrong_bytes_are_not_written_over_what_became_whole_meanwhile(sites: Sites) -> None:
    with sites.here.begin(ID, len(DATA)) as writer:
        put(sites.there, DATA)
        writer.write(WRONG)
        with pytest.raises(DigestError):
            writer.finish()
    assert sites.there.verify(ID).holds


def test_without_a_volume_such_an_upload_is_refused(sites: Sites) -> None:
    put(sites.there, DATA)
    without_volume(sites)
    with sites.here.begin(ID, len(DATA)) as writer:
        writer.write(WRONG)
        with pytest.raises(UnavailableError, match="whole in files"):
            writer.finish()
    assert sites.there.verify(ID).holds


def test_right_bytes_mend_what_is_wrong_in_the_shared_store(sites: Sites) -> None:
    put(sites.there, DATA)
    wrong = WRONG[:BLOB_BYTES]
    sites.blobs.put(ID, Blob(1, wrong, leaf_hash(wrong)))

    put(sites.here, DATA)
    assert sites.here.fill(ID)

    assert sites.here.verify(ID).holds
    assert sites.there.verify(ID).holds


def test_a_blob_that_was_there_and_was_shortened_is_put_again(sites: Sites) -> None:
    """The beginning of a blob, made durable, replaces the whole blob of an earlier request."""
    whole = DATA[:BLOB_BYTES]
    sites.blobs.put(ID, Blob(0, whole, leaf_hash(whole)))
    without_volume(sites)
    with sites.here.begin(ID, len(DATA)) as writer:
        writer.write(DATA[:1000])
        writer.sync()
        writer.write(DATA[1000 : BLOB_BYTES + 500])
        offset = writer.sync()
    without_volume(sites)
    with sites.here.begin(ID, len(DATA)) as writer:
        assert writer.offset == offset


def test_a_mirror_takes_nothing_from_another_site_either(tmp_path: Path) -> None:
    shared = FileBlobs(tmp_path / "shared")
    near, other = FileBlobs(tmp_path / "near"), FileBlobs(tmp_path / "other")
    with ExitStack() as stack:
        mirror = stack.enter_context(closing(MirroredBlobs(near, shared)))
        mirror_there = stack.enter_context(closing(MirroredBlobs(other, shared)))
        here = stack.enter_context(open_store(tmp_path / "here", mirror))
        there = stack.enter_context(open_store(tmp_path / "there", mirror_there))
        with here.begin(ID, len(DATA)) as writer:
            writer.write(DATA[:BLOB_BYTES])
            writer.sync()
        put(there, DATA)
        here.delete(ID)
        assert there.verify(ID).holds
        assert there.blobs_hold(ID)
        with here.begin(ID, len(DATA)) as writer:
            writer.write(WRONG)
            with pytest.raises(DigestError):
                writer.finish()
        assert there.verify(ID).holds
        put(here, DATA)
        assert here.fill(ID)
        assert here.blobs_hold(ID)
        assert here.verify(ID).holds


@dataclass
class Mirrored:
    """A store over a mirror.

    Attributes:
        store: The store.
        far: What the mirror reads last.
    """

    store: RecordingStore
    far: FileBlobs

    def whole_in_far(self) -> bool:
        pieces = [self.far.get(ID, index) for index in range(3)]
        return b"".join(piece.data for piece in pieces if piece) == DATA


@pytest.fixture
def mirrored(tmp_path: Path) -> Iterator[Mirrored]:
    near, far = FileBlobs(tmp_path / "near"), FileBlobs(tmp_path / "far")
    with (
        closing(MirroredBlobs(near, far)) as both,
        open_store(tmp_path / "here", both) as store,
    ):
        yield Mirrored(store, far)


def test_what_rotted_in_the_far_one_is_put_again_by_an_upload(mirrored: Mirrored) -> None:
    piece = DATA[:BLOB_BYTES]
    mirrored.store.shelves.blobs.put(ID, Blob(0, piece, leaf_hash(piece)))
    rot(mirrored.far, 0)
    put(mirrored.store, DATA)
    assert mirrored.whole_in_far()


def test_what_rotted_in_the_far_one_is_put_again_by_a_fill(mirrored: Mirrored) -> None:
    put(mirrored.store, DATA)
    manifest = mirrored.store.manifest(ID)
    assert manifest is not None
    on_volume = tuple(copy for copy in manifest.copies if copy.place is Place.VOLUME)
    mirrored.store.shelves.catalogue.replace(replace(manifest, copies=on_volume))
    rot(mirrored.far, 1)
    assert mirrored.store.fill(ID)
    assert mirrored.whole_in_far()


def test_what_rotted_in_the_far_one_is_found_before_a_whole_file_goes(mirrored: Mirrored) -> None:
    put(mirrored.store, DATA)
    rot(mirrored.far, 1)
    assert not mirrored.store.verify(ID).holds
    assert mirrored.store.prove_blobs(ID)
    assert mirrored.whole_in_far()
    assert mirrored.store.verify(ID).holds


def forge(blobs: FileBlobs) -> None:
    """Put a manifest and blobs under the id that fit each other, and are another recording's."""
    pieces = [WRONG[at : at + BLOB_BYTES] for at in range(0, len(WRONG), BLOB_BYTES)]
    leaves = tuple(map(leaf_hash, pieces))
    for index, piece in enumerate(pieces):
        blobs.put(ID, Blob(index, piece, leaves[index]))
    manifest = StoredRecording(ID, len(WRONG), root_hash(leaves), leaves, ())
    blobs.put_manifest(ID, manifest.encode())


def manifest_file(tmp_path: Path) -> Path:
    return tmp_path / "here" / "c" / "whole" / ID.hex()[:2] / ID.hex()


def test_a_false_manifest_does_not_take_the_place_of_a_damaged_one(
    sites: Sites, tmp_path: Path
) -> None:
    put(sites.here, DATA)
    forge(sites.blobs)
    flip(manifest_file(tmp_path), 60)

    assert sites.here.restore_manifest(ID)
    assert sites.here.fill(ID)

    assert volume_file(tmp_path / "here", ID).read_bytes() == DATA
    assert sites.here.verify(ID).holds


@pytest.mark.parametrize("from_blobs", [True, False])
def test_told_to_stop_it_restores_no_manifest(
    sites: Sites,
    tmp_path: Path,
    from_blobs: bool,  # noqa: FBT001
) -> None:
    put(sites.here, DATA)
    damaged = manifest_file(tmp_path)
    flip(damaged, 60)
    before = damaged.read_bytes()
    if from_blobs:
        volume_file(tmp_path / "here", ID).unlink()
    pieces = iter(range(2))
    assert not sites.here.restore_manifest(ID, lambda: next(pieces) == 1)
    assert damaged.read_bytes() == before
    assert sites.here.restore_manifest(ID)


def test_without_a_copy_that_holds_no_manifest_is_restored(sites: Sites, tmp_path: Path) -> None:
    put(sites.here, DATA)
    forge(sites.blobs)
    flip(manifest_file(tmp_path), 60)
    flip(volume_file(tmp_path / "here", ID), 5)
    with pytest.raises(RejectedError, match="not its bytes"):
        sites.here.restore_manifest(ID)


def test_a_damaged_manifest_of_a_recording_on_its_volume_alone_is_restored(
    sites: Sites, tmp_path: Path
) -> None:
    put(sites.here, DATA)
    sites.blobs.delete(ID)
    flip(manifest_file(tmp_path), 60)
    assert sites.here.restore_manifest(ID)
    assert sites.here.fill(ID)
    assert sites.here.verify(ID).holds


def test_a_copy_that_is_given_up_is_not_what_a_manifest_is_restored_from(
    sites: Sites, tmp_path: Path
) -> None:
    put(sites.here, DATA)
    catalogue = sites.here.shelves.catalogue
    catalogue.start_dropping(ID, Place.VOLUME)
    flip(manifest_file(tmp_path), 60)
    assert sites.here.restore_manifest(ID)
    manifest = sites.here.manifest(ID)
    assert manifest is not None
    assert [copy.place for copy in manifest.copies] == [Place.BLOBS]
    sites.here.tidy()
    assert sites.here.verify(ID).holds
