"""A site of the rig: its own data on the local NVMe drive, its volume wherever a scenario says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rig.guest.drives import drive, format_drive, mounted
from storage.blobs.files import FileBlobs
from storage.recordings.store import RecordingStore
from storage.volumes.directory import VolumeDirectory

DATA: Final = Path("/mnt/data")
VOLUME: Final = Path("/mnt/volume")
DATA_SERIAL: Final = "RIGNVME0"


@contextmanager
def site(volume: Path = VOLUME) -> Iterator[RecordingStore]:
    """Open a new store: catalogue and blobs on the local NVMe drive, whole copies on `volume`."""
    with _data() as data, reopened(data, volume) as store:
        yield store


@contextmanager
def _data() -> Iterator[Path]:
    with mounted(format_drive(drive(DATA_SERIAL), "ext4"), DATA) as data:
        yield data


@contextmanager
def reopened(data: Path, volume: Path) -> Iterator[RecordingStore]:
    """Open the store that is there, as after a start of the gateway."""
    directory = VolumeDirectory(volume / "recordings")
    with RecordingStore(data / "recordings", FileBlobs(data / "blobs"), directory) as store:
        yield store


def forget_caches() -> None:
    """Make the kernel read from the drives again."""
    Path("/proc/sys/vm/drop_caches").write_text("3\n")
