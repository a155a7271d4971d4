"""The verified stream from the volume, beside a plain read that hashes the same file."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from storage.bench.commands.measuring import HERE
from storage.bench.disk import MIB, cool, drain, random_file, timed
from storage.bench.goals.storage.pairs import Turns
from storage.bench.goals.storage.sizes import StorageSizes
from storage.bench.run.plan import Step
from storage.blobs.files import FileBlobs
from storage.recordings.store import RecordingStore
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes

VOLUME_READ: Final = "volume-read"
PIECE_BYTES: Final = MIB


@contextmanager
def volume_steps(directory: Path, sizes: StorageSizes) -> Iterator[Sequence[Step]]:
    """Store a recording; yield the reading of its whole copy both ways, each from the medium."""
    payload = random_file(directory / "payload", sizes.payload_mib * MIB)
    volume = directory / "volume"
    with (
        Volumes({"volume": VolumePlace(volume)}, directory / "memory") as volumes,
        RecordingStore(directory / "recordings", FileBlobs(directory / "blobs"), volumes) as store,
    ):
        recording_id = _sha256(payload)
        with store.begin(recording_id, payload.stat().st_size) as writer:
            for piece in _pieces(payload):
                writer.write(piece)
            writer.finish()
        (whole,) = volume.glob(f"*/{recording_id.hex()}")

        def ours() -> float:
            cool(whole)
            return timed(lambda: drain(store.read(recording_id)))

        def limit() -> dict[str, float]:
            cool(whole)
            return {"read_and_sha256": timed(lambda: _plain(whole, recording_id))}

        yield [Step(VOLUME_READ, HERE, Turns(ours, limit).execute)]


def _plain(path: Path, expected: bytes) -> None:
    if _sha256(path) != expected:
        raise RejectedError(f"expected {path} as it was stored, got other bytes")


def _sha256(path: Path) -> bytes:
    """Hash a file in one thread through one buffer: the fastest simple way."""
    digest, buffer = hashlib.sha256(), bytearray(PIECE_BYTES)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(view[:count])
    return digest.digest()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
