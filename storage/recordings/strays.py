"""Finds bytes that belong to no recording known here, or to one that does not hold."""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts.copies import Place
from contracts.errors import UnavailableError
from storage.blobs.port import BlobStore
from storage.recordings.catalogue import Catalogue
from storage.recordings.shelves import Shelves


@dataclass(frozen=True, slots=True)
class Stray:
    """Bytes that belong to nothing, or to nothing that holds.

    Attributes:
        recording_id: What they are called by, 32 bytes.
        copy: Where they are.
        detail: What is there.
    """

    recording_id: bytes
    copy: str
    detail: str


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A place that does not tell now what is there.

    Attributes:
        copy: Which.
        detail: Why.
    """

    copy: str
    detail: str


def find_strays(shelves: Shelves) -> Iterator[Stray | Unlisted]:
    """Yield what is on the volumes in use and in the blob store, and unknown to the catalogue.

    Raises:
        UnavailableError: The catalogue's disk failed.
    """
    for volume in shelves.volumes.usable():
        try:
            held = volume.call(lambda directory: dict(directory.holdings()))
        except UnavailableError:
            continue  # it is out by now, and said to be
        for recording_id, size in held.items():
            if not _is_known(shelves.catalogue, recording_id):
                detail = f"a file of {size} bytes without manifest or upload"
                yield Stray(recording_id, f"{Place.VOLUME}:{volume.name}", detail)
    yield from _in_blobs(shelves)


def _in_blobs(shelves: Shelves) -> Iterator[Stray | Unlisted]:
    copy = f"{Place.BLOBS}:{shelves.blobs.name}"
    try:
        held = list(shelves.blobs.recordings())
    except UnavailableError as error:
        yield Unlisted(copy, str(error))
        return
    for recording_id in held:
        if _is_known(shelves.catalogue, recording_id):
            continue
        try:
            count = _leftover(shelves.blobs, recording_id)
        except UnavailableError as error:
            yield Unlisted(copy, str(error))
            return
        if count is not None and not _is_known(shelves.catalogue, recording_id):
            yield Stray(recording_id, copy, f"{count} blobs of no whole recording and no upload")


def _leftover(blobs: BlobStore, recording_id: bytes) -> int | None:
    """Return how many blobs there are; None for what is whole, by whichever site put it there."""
    if blobs.manifest(recording_id) is not None:
        return None
    return len(blobs.leaves(recording_id))


def find_damaged(shelves: Shelves) -> Iterator[Stray]:
    """Yield what is sealed in the blob store, and did not hold when it was read here.

    What is sealed there no more is forgotten, once the blob store says so.

    Raises:
        UnavailableError: The catalogue's disk failed.
    """
    for recording_id in shelves.catalogue.damaged():
        if not _is_sealed(shelves.blobs, recording_id):
            shelves.catalogue.forget_damaged(recording_id)
            continue
        detail = "another site's blobs did not hold when they were read here"
        yield Stray(recording_id, f"{Place.BLOBS}:{shelves.blobs.name}", detail)


def _is_sealed(blobs: BlobStore, recording_id: bytes) -> bool:
    """Say whether there is a manifest, or may be for all that can be heard now."""
    try:
        return blobs.manifest(recording_id) is not None
    except UnavailableError:
        return True


def _is_known(catalogue: Catalogue, recording_id: bytes) -> bool:
    """Say whether the catalogue has a word on it.

    In the order in which an upload moves on and a recording leaves, so that none is missed that
    moves while it is looked for.
    """
    return (
        catalogue.progress(recording_id) is not None
        or catalogue.is_whole(recording_id)
        or catalogue.is_leaving(recording_id)
    )
