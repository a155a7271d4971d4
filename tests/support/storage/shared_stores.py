"""Two sites over one blob store, and what may go wrong in it under their hands."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from contracts.chunktree import BLOB_BYTES, leaf_hash, root_hash
from contracts.copies import Place
from storage.blobs.files import FileBlobs
from storage.blobs.port import Blob
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.volumes.volumes import Volumes
from support.storage.stores import open_store, open_volumes

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


@contextmanager
def two_sites(tmp_path: Path) -> Iterator[Sites]:
    """Open them."""
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


def rot(blobs: FileBlobs, index: int) -> None:
    """Let a blob carry the right hash over wrong data."""
    piece = DATA[index * BLOB_BYTES : (index + 1) * BLOB_BYTES]
    blobs.put(ID, Blob(index, WRONG[: len(piece)], leaf_hash(piece)))


def forge(blobs: FileBlobs) -> None:
    """Put a manifest and blobs under the id that fit each other, and are another recording's."""
    pieces = [WRONG[at : at + BLOB_BYTES] for at in range(0, len(WRONG), BLOB_BYTES)]
    leaves = tuple(map(leaf_hash, pieces))
    for index, piece in enumerate(pieces):
        blobs.put(ID, Blob(index, piece, leaves[index]))
    manifest = StoredRecording(ID, len(WRONG), root_hash(leaves), leaves, ())
    blobs.put_manifest(ID, manifest.encode())


def forget_blobs(store: RecordingStore) -> None:
    """Let a recording's manifest say that its blobs are still to be put."""
    manifest = store.manifest(ID)
    assert manifest is not None
    on_volume = tuple(copy for copy in manifest.copies if copy.place is Place.VOLUME)
    store.places.catalogue.replace(replace(manifest, copies=on_volume))
