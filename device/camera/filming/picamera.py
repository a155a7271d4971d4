"""Adapter: a Raspberry Pi's own camera on the CSI ribbon, by picamera2; its hardware encodes H.264.

picamera2 belongs to Raspberry Pi OS and is not a package of an index: `apt-get install
python3-picamera2`. It is imported only when such a camera films, and looked for among the system's
packages, which this environment does not show otherwise.

Source: The Picamera2 Library (manual), 4.2 (configurations), 7.1.1 (H264Encoder: `repeat` puts the
headers before each key picture, `iperiod` is the distance of key pictures) and 7.2 (outputs:
`outputframe` is called in the encoder's thread, with microseconds as timestamp).
"""

import queue
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from device.camera.filming.plan import LATE_S
from device.camera.filming.port import Piece
from device.camera.filming.pyav import FRAGMENT_S, library

PICTURES_MAX: Final = 64
"""Encoded pictures that may wait; more are dropped up to the next key picture."""
LOOKS_PER_S: Final = 5.0
_LORES: Final = (320, 240)
_MICROSECONDS: Final = Fraction(1, 1_000_000)
_SYSTEM: Final = "/usr/lib/python3/dist-packages"
_REMEDY: Final = "check the ribbon, and that this user is in the group video; `rpicam-hello --list`"


class PicameraFeed:
    """Feed: one CSI camera.

    Args:
        number: Of the camera, from 0.
        size: Width and height, pixels.
        pictures_per_s: Its pace.
        bits_per_s: What the hardware aims at.

    Raises:
        UnavailableError: picamera2 is not installed, or the camera cannot be opened.
    """

    def __init__(
        self, number: int, size: tuple[int, int], pictures_per_s: int, bits_per_s: int
    ) -> None:
        picamera2, encoders, outputs = _modules()
        self._shown = f"camera {number} on the CSI ribbon"
        self._frames: queue.Queue[tuple[bytes, bool, int]] = queue.Queue(PICTURES_MAX)
        self._is_broken = True
        self._template: Any = None
        try:
            self._camera = picamera2.Picamera2(number)
        except Exception as error:
            raise self._lost("cannot be opened", error) from error
        try:
            self._start(encoders, outputs, size, pictures_per_s, bits_per_s)
            self._template = self._headers()
        except BaseException:
            self.close()
            raise

    @property
    def copied(self) -> Any:  # noqa: ANN401
        """See `Feed.copied`: what the hardware encoded is kept as it is."""
        return self._template.streams.video[0]

    def pieces(self) -> Iterator[Piece]:
        """See `Feed.pieces`; the pictures are small ones of the same camera, some a second."""
        looked_s = float("-inf")
        while True:
            data, is_key, at_us = self._next()
            pictures = []
            if time.monotonic() - looked_s >= 1 / LOOKS_PER_S:
                looked_s = time.monotonic()
                pictures = [self._small()]
            yield Piece(_packet(data, at_us, is_key=is_key), pictures)

    def close(self) -> None:
        """See `Feed.close`."""
        with suppress(Exception):  # it may be unplugged
            self._camera.stop_recording()
        with suppress(Exception):
            self._camera.close()
        if self._template is not None:
            self._template.close()

    def _start(
        self,
        encoders: Any,  # noqa: ANN401
        outputs: Any,  # noqa: ANN401
        size: tuple[int, int],
        pictures_per_s: int,
        bits_per_s: int,
    ) -> None:
        feed = self

        class Kept(outputs.Output):  # type: ignore[misc] # picamera2 wants its own base
            def outputframe(
                self,
                frame: bytes,
                keyframe: bool = True,  # noqa: FBT001, FBT002 - picamera2's signature
                timestamp: int | None = None,
                *_: object,
                **__: object,
            ) -> None:
                feed._put(bytes(frame), timestamp, is_key=keyframe)

        try:
            made = self._camera.create_video_configuration(
                main={"size": size, "format": "YUV420"},
                lores={"size": _LORES, "format": "YUV420"},
                controls={"FrameRate": float(pictures_per_s)},
            )
            self._camera.configure(made)
            encoder = encoders.H264Encoder(
                bitrate=bits_per_s, repeat=True, iperiod=round(pictures_per_s * FRAGMENT_S)
            )
            self._camera.start_recording(encoder, Kept())
        except Exception as error:
            raise self._lost("cannot be started", error) from error

    def _put(self, data: bytes, timestamp_us: int | None, *, is_key: bool) -> None:
        """Take a picture from the encoder's thread; after a gap only from a key picture on."""
        if self._is_broken and not is_key:
            return
        at_us = time.monotonic_ns() // 1_000 if timestamp_us is None else int(timestamp_us)
        try:
            self._frames.put_nowait((data, is_key, at_us))
        except queue.Full:
            self._is_broken = True
        else:
            self._is_broken = False

    def _next(self) -> tuple[bytes, bool, int]:
        try:
            return self._frames.get(timeout=LATE_S)
        except queue.Empty:
            raise UnavailableError(
                f"{self._shown} gives no picture for {LATE_S:.0f} s: {_REMEDY}"
            ) from None

    def _headers(self) -> Any:  # noqa: ANN401
        """Return the first key picture as an input of PyAV: its stream has the headers."""
        av = library()
        data, _, _ = self._next()
        try:
            return av.open(BytesIO(data), format="h264")
        except av.FFmpegError as error:
            raise self._lost("gives no H.264", error) from error

    def _small(self) -> Any:  # noqa: ANN401
        """Return a small picture of now."""
        width, height = _LORES
        try:
            pixels = self._camera.capture_array("lores")[: height * 3 // 2, :width]
        except Exception as error:
            raise self._lost("gives no more pictures", error) from error
        return library().VideoFrame.from_ndarray(pixels.copy(), format="yuv420p")

    def _lost(self, what: str, error: Exception) -> UnavailableError:
        return UnavailableError(f"{self._shown} {what}: {error!s:.200}; {_REMEDY}")


def _packet(data: bytes, at_us: int, *, is_key: bool) -> Any:  # noqa: ANN401
    packet = library().Packet(data)
    packet.pts = packet.dts = at_us
    packet.time_base = _MICROSECONDS
    packet.is_keyframe = is_key
    return packet


def _modules() -> tuple[Any, Any, Any]:
    """Return picamera2 with its encoders and outputs.

    Raises:
        UnavailableError: It is not installed.
    """
    if _SYSTEM not in sys.path and Path(_SYSTEM, "picamera2").is_dir():
        sys.path.append(_SYSTEM)  # behind our own packages, which stay as they are
    try:
        import picamera2  # noqa: PLC0415 - only a Raspberry Pi has it
        import picamera2.encoders  # noqa: PLC0415
        import picamera2.outputs  # noqa: PLC0415
    except ImportError as error:
        raise UnavailableError(
            f"picamera2 cannot be used ({error}): apt-get install python3-picamera2, on Raspberry "
            f"Pi OS"
        ) from error
    return picamera2, picamera2.encoders, picamera2.outputs
