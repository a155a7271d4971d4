"""A store of recordings, and the places of its files."""

import hashlib
import random
from pathlib import Path

from contracts.chunktree import BLOB_BYTES, leaf_hash, root_hash
from contracts.copies import FSYNC, Copy, Place
from storage.blobs.files import FileBlobs
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.volumes.volumes import Volumes
from support.storage.stores import blob_file, open_volumes, put, volume_file

COPIES = (Copy(Place.VOLUME, "volume", FSYNC), Copy(Place.BLOBS, "files", FSYNC))


class House:
    """A store and the places of its files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.damage: list[tuple[bytes, int, str]] = []
        self.kept = b""
        self.store, self.volumes = self.open()

    def open(self) -> tuple[RecordingStore, Volumes]:
        """Open the store and its volume."""
        volumes = open_volumes(self.root)
        blobs = FileBlobs(self.root / "b")
        store = RecordingStore(
            self.root / "c", blobs, volumes, lambda *damage: self.damage.append(damage)
        )
        return store, volumes

    def close(self) -> None:
        """Close both."""
        self.store.close()
        self.volumes.close()

    def restart(self) -> None:
        """Close and open both, as a restarted gateway does."""
        self.close()
        self.store, self.volumes = self.open()

    def put(self, data: bytes) -> bytes:
        """Write a whole recording; return its id."""
        return put(self.store, data)

    def whole_file(self, recording_id: bytes) -> Path:
        """Return where a whole recording lies on the volume."""
        return volume_file(self.root, recording_id)

    def part_file(self, recording_id: bytes) -> Path:
        """Return where an unfinished one lies."""
        return self.root / "v" / "parts" / f"{recording_id.hex()}.part"

    def length(self, recording_id: bytes) -> int:
        """Return how long the part is, or the whole file."""
        found = [self.part_file(recording_id), self.whole_file(recording_id)]
        return max((path.stat().st_size for path in found if path.exists()), default=0)

    def blob_file(self, recording_id: bytes, index: int) -> Path:
        """Return where a blob lies."""
        return blob_file(self.root, recording_id, index)

    def files(self) -> set[str]:
        """Return the files that recordings have, by their paths."""
        places = (self.root / name for name in ("b", "c", "v"))
        files = (path for place in places for path in place.rglob("*") if path.is_file())
        return {str(path.relative_to(self.root)) for path in files if path.name[0] != "."}


def content(size: int, seed: int = 0) -> bytes:
    """Return bytes by chance, the same for the same seed."""
    return random.Random(seed).randbytes(size)


def expected(data: bytes) -> StoredRecording:
    """Return what the store must say of a recording."""
    leaves = tuple(leaf_hash(data[at : at + BLOB_BYTES]) for at in range(0, len(data), BLOB_BYTES))
    sha256 = hashlib.sha256(data).digest()
    return StoredRecording(sha256, len(data), root_hash(leaves), leaves, COPIES)
