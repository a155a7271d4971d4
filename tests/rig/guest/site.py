"""A site of the rig: its data is on the local NVMe drive, its volume where a scenario says."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.copies import Place
from rig.guest.commands import run, until
from rig.guest.drives import drive, format_drive, unmount
from rig.guest.product import running, wayseal
from storage.blobs.files import FileBlobs
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.volumes.volume import Volume, VolumePlace
from storage.volumes.volumes import Volumes

DATA: Final = Path("/mnt/data")
VOLUME: Final = Path("/mnt/volume")
DATA_SERIAL: Final = "RIGNVME0"
NAME: Final = "main"
FSTAB: Final = Path("/etc/fstab")
OUT_LIMIT_S: Final = 90
BACK_LIMIT_S: Final = 90


@dataclass(frozen=True, slots=True)
class Site:
    """A store with one volume, which may be lost and come back.

    Attributes:
        store: It.
        volume: The volume, as the store sees it.
    """

    store: RecordingStore
    volume: Volume

    def until_out(self) -> str:
        """Wait until the volume is taken out; return the reason."""
        until("the volume is out", lambda: not self.volume.usable, OUT_LIMIT_S)
        return self.volume.reason

    def until_back(self) -> float:
        """Wait until the volume is in use again by itself; return the seconds."""
        return until("the volume is back", lambda: self.volume.usable, BACK_LIMIT_S)

    def fill(self, recording_id: bytes) -> None:
        """Make the missing copy, and check that none is missing after that."""
        assert [each.recording_id for each in self.store.backlog()] == [recording_id]
        assert self.store.fill(recording_id), "the backlog was not filled"
        assert not list(self.store.backlog())

    def require_sound(self, stored: StoredRecording) -> None:
        """Check that both copies exist and are intact, read from their drives."""
        _forget_caches()
        manifest = self.store.manifest(stored.sha256)
        assert manifest is not None
        assert {copy.place for copy in manifest.copies} == {Place.VOLUME, Place.BLOBS}
        report = self.store.verify(stored.sha256)
        assert report.holds, report.copies


@contextmanager
def kept(device: Path, kind: str) -> Iterator[None]:
    """Create a file system, mount it by its UUID and keep it mounted, as an operator would."""
    format_drive(device, kind)
    wayseal("volumes", "fstab", device.name, VOLUME, "--write")
    VOLUME.mkdir(exist_ok=True)
    try:
        with running("keep", "volumes", "keep"):
            until("the volume is mounted", VOLUME.is_mount)
            yield
    finally:
        FSTAB.unlink()
        if VOLUME.is_mount():
            unmount(VOLUME)


@contextmanager
def site() -> Iterator[Site]:
    """Open a new store over the mounted volume; catalogue and blobs are elsewhere."""
    places = {NAME: VolumePlace(VOLUME, mount=True)}
    with (
        data() as own,
        Volumes(places, own / "volumes") as volumes,
        RecordingStore(own / "recordings", FileBlobs(own / "blobs"), volumes) as store,
    ):
        (volume,) = volumes
        assert volume.usable, volume.reason
        yield Site(store, volume)


@contextmanager
def data() -> Iterator[Path]:
    """Mount the site's own drive, empty."""
    device = drive(DATA_SERIAL)
    format_drive(device, "ext4")
    DATA.mkdir(exist_ok=True)
    run("mount", device, DATA)
    try:
        yield DATA
    finally:
        unmount(DATA)


def _forget_caches() -> None:
    Path("/proc/sys/vm/drop_caches").write_text("3\n")
