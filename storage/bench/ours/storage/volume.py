"""The verified stream from the volume, beside a plain read of the same file that hashes it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from storage.bench.disk import cool
from storage.bench.ours.storage.media import MIB, timed
from storage.bench.ours.storage.pairs import Pair, interleaved
from storage.blobs.files import FileBlobs
from storage.recordings.store import RecordingStore
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes

PIECE_BYTES: Final = MIB


def volume_reads(directory: Path, payload: Path, repetitions: int) -> list[Pair]:
    """Store a recording, then read its whole copy both ways, each time from the medium.

    Args:
        directory: For the store; whoever gave it removes it.
        payload: What to store.
        repetitions: How often to read.
    """
    where = {"volume": VolumePlace(directory / "volume")}
    with (
        Volumes(where, directory / "memory") as volumes,
        RecordingStore(directory / "recordings", FileBlobs(directory / "blobs"), volumes) as store,
    ):
        recording_id = _sha256(payload)
        with store.begin(recording_id, payload.stat().st_size) as writer:
            for piece in _pieces(payload):
                writer.write(piece)
            writer.finish()
        (whole,) = (directory / "volume").glob(f"*/{recording_id.hex()}")

        def ours(_: int) -> float:
            cool(whole)
            return timed(lambda: _drain(store.read(recording_id)))

        def limit(_: int) -> dict[str, float]:
            cool(whole)
            return {"read_and_sha256": timed(lambda: _plain(whole, recording_id))}

        return interleaved(repetitions, ours, limit)


def _plain(path: Path, expected: bytes) -> None:
    if _sha256(path) != expected:
        raise RejectedError(f"{path} is not what was stored")


def _sha256(path: Path) -> bytes:
    """Hash a file in one thread, into one buffer: nothing simpler is faster."""
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


def _drain(pieces: Iterator[bytes]) -> None:
    for _ in pieces:
        pass
