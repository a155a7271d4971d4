"""Two sites over one blob store: neither takes away, nor writes over, what the other put there."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES, leaf_hash
from contracts.copies import Place
from contracts.errors import UnavailableError
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.writer import DigestError
from support.storage.shared_stores import (
    DATA,
    ID,
    WRONG,
    Sites,
    forget_blobs,
    rot,
    without_volume,
)
from support.storage.stores import blob_file, open_store, open_volumes, put


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
    forget_blobs(sites.here)
    rot(sites.blobs, 1)
    assert sites.here.fill(ID)
    assert sites.here.verify(ID).holds


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
