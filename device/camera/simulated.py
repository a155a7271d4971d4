"""Adapter: Camera that films a moving test picture with a time stamp."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError
from contracts.records.recording import RecordingDigest
from contracts.runtime.files import created
from device.camera.opencv import check_installed, inspect, put_text, write_mjpeg
from device.camera.port import Footage

WIDTH: Final = 640
HEIGHT: Final = 480
FPS: Final = 10
FRAMES: Final = 120
SIZE_MAX: Final = 64 * BLOB_BYTES
MEDIA_TYPE: Final = "video/x-msvideo"
_NOISE: Final = 6
_SHADES: Final = 200


@dataclass(frozen=True, slots=True)
class SimulatedCamera:
    """Films 12 seconds of test picture: over 3 MiB, and the last blob is partial.

    Raises:
        UnavailableError: OpenCV is not installed.
    """

    seed: int = 1

    def __post_init__(self) -> None:
        """Check before a trip begins that it can be filmed."""
        check_installed()

    @property
    def size_max(self) -> int:
        """See `Camera.size_max`."""
        return SIZE_MAX

    @property
    def suffix(self) -> str:
        """See `Camera.suffix`."""
        return ".avi"

    def film(self, path: Path) -> Footage:
        """See `Camera.film`."""
        with created(path) as part:
            self._write(part, FRAMES)
            if part.stat().st_size % BLOB_BYTES == 0:
                self._write(part, FRAMES + 1)
            if part.stat().st_size > SIZE_MAX:
                raise RejectedError(
                    f"simulated film: expected at most {SIZE_MAX} bytes, got {part.stat().st_size}"
                )
            duration_ms = inspect(part).duration_ms
        return Footage(path.name, MEDIA_TYPE, duration_ms, RecordingDigest.of_file(path).sha256)

    def _write(self, path: Path, count: int) -> None:
        write_mjpeg(path, self._frames(count), fps=FPS, width=WIDTH, height=HEIGHT)

    def _frames(self, count: int) -> Iterator[Any]:
        import numpy as np  # noqa: PLC0415 - installed together with OpenCV

        dice = np.random.default_rng(self.seed)
        column = np.arange(WIDTH, dtype=np.int32)[None, :, None]
        row = np.arange(HEIGHT, dtype=np.int32)[:, None, None]
        tint = np.array([1, 2, 3], dtype=np.int32)[None, None, :]
        # Rows of bytes, not pixels of three: NumPy is slow at steps as short as that.
        still = ((column + row * tint // 2) % _SHADES).astype(np.uint8).reshape(HEIGHT, -1)
        for number in range(count):
            # (still + moved) % _SHADES, in bytes that wrap: a division costs ten times as much.
            moved = np.tile((number * 4 * tint[0] % _SHADES).astype(np.uint8), WIDTH)
            picture = still + moved - np.uint8(_SHADES) * (still >= _SHADES - moved)
            noise = dice.integers(0, _NOISE, (HEIGHT, WIDTH), dtype=np.int32).astype(np.uint8)
            frame = (picture + noise.repeat(3, axis=1)).reshape(HEIGHT, WIDTH, 3)
            left = number * 4 % (WIDTH - 80)
            frame[200:280, left : left + 80] = (40, 40, 220)
            put_text(frame, f"T+{number / FPS:06.1f} s  frame {number:05d}", 16, HEIGHT - 20)
            yield frame
