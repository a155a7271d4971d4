"""Recordings that another site sealed in a shared blob store are adopted; manifests are rebuilt."""

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.copies import Place
from contracts.errors import RejectedError, UnavailableError
from storage.recordings.orphans import find_damaged
from support.storage.faulty_blobs import FaultyBlobs
from support.storage.shared_stores import (
    DATA,
    ID,
    WRONG,
    Sites,
    forge,
    forget_blobs,
    rot,
    without_volume,
)
from support.storage.stores import flip, open_store, put, volume_file


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
    assert (sites.here.places.catalogue.is_damaged(ID), sites.here.manifest(ID)) == (True, None)
    assert list(sites.here.recordings()) == []
    assert list(sites.here.backlog()) == []
    sites.here.tidy()
    assert sites.here.adopt(ID, len(DATA)) is None
    (found,) = find_damaged(sites.here.places)
    assert (found.recording_id, found.copy) == (ID, "blobs:files")
    with open_store(tmp_path / "here", sites.blobs, volumes=sites.volumes) as restarted:
        assert restarted.places.catalogue.is_damaged(ID)
    put(sites.here, DATA)
    assert not sites.here.places.catalogue.is_damaged(ID)
    assert list(find_damaged(sites.here.places)) == []
    assert sites.here.verify(ID).holds
    assert sites.there.verify(ID).holds


def test_what_is_damaged_and_sealed_no_more_is_forgotten(sites: Sites) -> None:
    forge(sites.blobs)
    assert sites.here.adopt(ID, len(WRONG)) is not None
    with pytest.raises(RejectedError, match="together have SHA-256"):
        sites.here.fill(ID)
    assert sites.here.places.catalogue.is_damaged(ID)
    faulty = FaultyBlobs(sites.blobs)
    faulty.down = True
    assert len(list(find_damaged(replace(sites.here.places, blobs=faulty)))) == 1
    sites.blobs.delete(ID)
    assert list(find_damaged(sites.here.places)) == []
    assert not sites.here.places.catalogue.is_damaged(ID)


def test_what_was_read_here_once_is_not_put_aside_for_rot(sites: Sites, tmp_path: Path) -> None:
    put(sites.here, DATA)
    sites.blobs.delete(ID)
    forget_blobs(sites.here)
    flip(volume_file(tmp_path / "here", ID), 5)
    with pytest.raises(RejectedError, match="no copy holds"):
        sites.here.fill(ID)
    assert not sites.here.places.catalogue.is_damaged(ID)
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
    with pytest.raises(RejectedError, match="have another SHA-256"):
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
    catalogue = sites.here.places.catalogue
    catalogue.start_dropping(ID, Place.VOLUME)
    flip(manifest_file(tmp_path), 60)
    assert sites.here.restore_manifest(ID)
    manifest = sites.here.manifest(ID)
    assert manifest is not None
    assert [copy.place for copy in manifest.copies] == [Place.BLOBS]
    sites.here.tidy()
    assert sites.here.verify(ID).holds
