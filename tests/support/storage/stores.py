"""Stores of recordings over directories, as tests want them."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from storage.blobs.files import FileBlobs
from storage.blobs.port import BlobStore
from storage.recordings.store import RecordingStore
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes


def open_volumes(root: Path, places: Mapping[str, VolumePlace] | None = None) -> Volumes:
    """Return the one volume in `v`, or others; what is remembered of them is in `m`."""
    return Volumes(places or {"volume": VolumePlace(root / "v")}, root / "m")


@contextmanager
def open_store(
    root: Path,
    blobs: BlobStore | None = None,
    places: Mapping[str, VolumePlace] | None = None,
    *,
    volumes: Volumes | None = None,
    without_volume: bool = True,
) -> Iterator[RecordingStore]:
    """Open a store: catalogue in `c`, blobs in `b` and volumes as above unless given."""
    with ExitStack() as stack:
        blobs = blobs or FileBlobs(root / "b")
        volumes = volumes or stack.enter_context(open_volumes(root, places))
        yield stack.enter_context(
            RecordingStore(root / "c", blobs, volumes, without_volume=without_volume)
        )


def put(store: RecordingStore, data: bytes) -> bytes:
    """Store a recording, or the rest of it, and return its id."""
    recording_id = hashlib.sha256(data).digest()
    with store.begin(recording_id, len(data)) as writer:
        writer.write(data[writer.offset :])
        writer.finish()
    return recording_id


def volume_file(root: Path, recording_id: bytes, volume: str = "v") -> Path:
    """Return the whole file on a volume."""
    return root / volume / recording_id.hex()[:2] / recording_id.hex()


def blob_file(root: Path, recording_id: bytes, index: int) -> Path:
    """Return the file of one blob."""
    text = recording_id.hex()
    return root / "b" / text[:2] / text[2:4] / text / f"{index:08d}"


def flip(path: Path, place: int) -> None:
    """Flip a bit of a file."""
    wire = bytearray(path.read_bytes())
    wire[place] ^= 1
    path.write_bytes(wire)
