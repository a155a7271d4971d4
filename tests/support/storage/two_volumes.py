"""A store over two volumes that can vanish and a blob store that can fail."""

import hashlib
import random
from pathlib import Path

from contracts.copies import FSYNC, Copy, Place
from storage.blobs.files import FileBlobs
from storage.recordings.blobcopies import Finding, survey_blob
from storage.recordings.store import RecordingStore
from storage.volumes.marker import MARKER
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes
from support.storage.faulty_blobs import FaultyBlobs
from support.storage.stores import open_volumes

MAIN, COLD = Copy(Place.VOLUME, "main", FSYNC), Copy(Place.VOLUME, "cold", FSYNC)
BLOBS = Copy(Place.BLOBS, "files", FSYNC)


class Site:
    """Two volumes that can vanish, a blob store that can fail, and what is over them."""

    def __init__(self, root: Path, *, without_volume: bool = True) -> None:
        self.root = root
        self.without_volume = without_volume
        self.blobs = FaultyBlobs(FileBlobs(root / "b"))
        self.volumes: Volumes = self._volumes()
        self.store = self._store()

    def _volumes(self) -> Volumes:
        names = ("main", "cold")
        return open_volumes(self.root, {name: VolumePlace(self.root / name) for name in names})

    def _store(self) -> RecordingStore:
        return RecordingStore(
            self.root / "c", self.blobs, self.volumes, without_volume=self.without_volume
        )

    def close(self) -> None:
        self.store.close()
        self.volumes.close()

    def restart(self) -> None:
        self.close()
        self.volumes = self._volumes()
        self.store = self._store()

    def take_away(self, *names: str) -> None:
        """Let volumes vanish: their marker does, as it does with an unmounted file system."""
        for name in names:
            (self.root / name / MARKER).rename(self.root / f"{name}.marker")
        self._probe()

    def bring_back(self, *names: str) -> None:
        for name in names:
            (self.root / f"{name}.marker").rename(self.root / name / MARKER)
        self._probe()

    def _probe(self) -> None:
        for volume in self.volumes:
            volume.probe()

    def copies(self, recording_id: bytes) -> tuple[Copy, ...]:
        manifest = self.store.manifest(recording_id)
        assert manifest is not None
        return manifest.copies

    def survey(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        manifest = self.store.manifest(recording_id)
        assert manifest is not None
        return survey_blob(self.store.places, manifest, index).findings

    def backlog(self) -> list[tuple[bytes, tuple[Place, ...]]]:
        return [(each.recording_id, each.lacks) for each in self.store.backlog()]

    def holds(self, data: bytes) -> None:
        """Make sure that a recording is all that it should be, in every copy that it names."""
        recording_id = hashlib.sha256(data).digest()
        assert b"".join(self.store.read(recording_id)) == data
        report = self.store.verify(recording_id)
        assert report.holds, report
        assert len(report.copies) == len(self.copies(recording_id))

    def parts(self) -> list[Path]:
        return [path for name in ("main", "cold") for path in (self.root / name).glob("parts/*")]


def content(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)
