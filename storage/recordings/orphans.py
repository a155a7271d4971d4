"""Finds bytes that belong to no recording known here, or to a damaged one."""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts.copies import Place
from contracts.errors import UnavailableError
from storage.blobs.port import BlobStore
from storage.recordings.catalogue import Catalogue
from storage.recordings.places import Places


@dataclass(frozen=True, slots=True)
class Orphan:
    """Bytes that belong to no known recording, or to a damaged one.

    Attributes:
        recording_id: The id under which they are stored, 32 bytes.
        copy: Where they are.
        detail: What is there, in words.
    """

    recording_id: bytes
    copy: str
    detail: str


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A place that cannot be listed now.

    Attributes:
        copy: Which place.
        detail: Why not.
    """

    copy: str
    detail: str


def find_orphans(places: Places) -> Iterator[Orphan | Unlisted]:
    """Yield what the volumes in use and the blob store have and the catalogue does not know.

    Raises:
        UnavailableError: The catalogue's disk failed.
    """
    for volume in places.volumes.usable():
        try:
            held = volume.call(lambda directory: dict(directory.holdings()))
        except UnavailableError:
            continue  # it is out now, which is reported elsewhere
        for recording_id, size in held.items():
            if not _is_known(places.catalogue, recording_id):
                detail = f"a file of {size} bytes without manifest or upload"
                yield Orphan(recording_id, f"{Place.VOLUME}:{volume.name}", detail)
    yield from _in_blobs(places)


def _in_blobs(places: Places) -> Iterator[Orphan | Unlisted]:
    copy = f"{Place.BLOBS}:{places.blobs.name}"
    try:
        held = list(places.blobs.recordings())
    except UnavailableError as error:
        yield Unlisted(copy, str(error))
        return
    for recording_id in held:
        if _is_known(places.catalogue, recording_id):
            continue
        try:
            count = _leftover(places.blobs, recording_id)
        except UnavailableError as error:
            yield Unlisted(copy, str(error))
            return
        if count is not None and not _is_known(places.catalogue, recording_id):
            yield Orphan(recording_id, copy, f"{count} blobs of no whole recording and no upload")


def _leftover(blobs: BlobStore, recording_id: bytes) -> int | None:
    """Return the number of blobs; None if the recording is whole there, put by any site."""
    if blobs.manifest(recording_id) is not None:
        return None
    return len(blobs.leaves(recording_id))


def find_damaged(places: Places) -> Iterator[Orphan]:
    """Yield the recordings that are whole in the blob store and were found damaged when read here.

    Once the blob store no longer calls a recording whole, it is no longer noted as damaged.

    Raises:
        UnavailableError: The catalogue's disk failed.
    """
    for recording_id in places.catalogue.damaged():
        if not _is_sealed(places.blobs, recording_id):
            places.catalogue.forget_damaged(recording_id)
            continue
        detail = "another site's blobs were found damaged when they were read here"
        yield Orphan(recording_id, f"{Place.BLOBS}:{places.blobs.name}", detail)


def _is_sealed(blobs: BlobStore, recording_id: bytes) -> bool:
    """Return whether the blob store has a manifest; True too if it does not answer."""
    try:
        return blobs.manifest(recording_id) is not None
    except UnavailableError:
        return True


def _is_known(catalogue: Catalogue, recording_id: bytes) -> bool:
    """Return whether the catalogue has any record of a recording.

    It looks in the order in which uploads become whole and recordings are deleted, so that one that
    changes its state during the search is found.
    """
    return (
        catalogue.progress(recording_id) is not None
        or catalogue.is_whole(recording_id)
        or catalogue.is_leaving(recording_id)
    )
