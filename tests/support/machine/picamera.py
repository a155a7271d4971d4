"""Stands in for picamera2, which only Raspberry Pi OS has: the part of its interface that we use.

Source: The Picamera2 Library (manual) and its public source, release 0.3.27: `Picamera2(number)`,
`create_video_configuration`, `configure`, `start_recording`, `capture_array`, `stop_recording` and
`close`; `H264Encoder(bitrate, repeat, iperiod)`; `Output.outputframe`, called in the encoder's
thread. What it gives is real H.264, made by libx264 as the hardware gives it: Annex B, with the
headers before each key picture if the encoder is told to repeat them.
"""

import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

import av
import numpy as np
import pytest


class Output:
    """`picamera2.outputs.Output`: takes pictures."""

    def __init__(self, pts: object = None) -> None:
        self.recording, self.ptsoutput = False, pts

    def outputframe(
        self,
        frame: bytes,
        keyframe: bool = True,  # noqa: FBT001, FBT002 - picamera2's signature
        timestamp: int | None = None,
        packet: object = None,
        audio: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        raise NotImplementedError


class H264Encoder:
    """`picamera2.encoders.H264Encoder`."""

    def __init__(
        self,
        bitrate: int,
        repeat: bool = True,  # noqa: FBT001, FBT002 - picamera2's signature
        iperiod: int | None = None,
    ) -> None:
        self.bitrate, self.repeat, self.iperiod = bitrate, repeat, iperiod
        self._context: Any = None

    def open(self, size: tuple[int, int], rate: float) -> None:
        context: Any = av.CodecContext.create("libx264", "w")
        context.width, context.height = size
        context.pix_fmt, context.time_base = "yuv420p", Fraction(1, round(rate))
        context.bit_rate = self.bitrate
        headers = f"repeat-headers={int(self.repeat)}:annexb=1:keyint={self.iperiod}"
        context.options = {"preset": "ultrafast", "tune": "zerolatency", "x264-params": headers}
        self._context = context

    def encode(self, pixels: Any, number: int) -> Iterator[tuple[bytes, bool]]:  # noqa: ANN401
        picture = av.VideoFrame.from_ndarray(pixels, format="yuv420p")
        picture.pts = number
        for packet in self._context.encode(picture):
            yield bytes(packet), bool(packet.is_keyframe)


class Picamera2:
    """`picamera2.Picamera2`: one camera, whose picture is a bar that moves.

    Attributes:
        number: Pictures that it has given.
        is_unplugged: It gives no more pictures.
        is_closed: It was closed.
    """

    made: list["Picamera2"] = []  # noqa: RUF012 - a test looks at what was opened

    def __init__(self, camera_num: int = 0) -> None:
        if camera_num > 0:
            raise IndexError("list index out of range")
        self.number = 0
        self.is_unplugged = self.is_closed = False
        self.encoder: H264Encoder | None = None
        self._config: dict[str, Any] = {}
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        Picamera2.made.append(self)

    def create_video_configuration(self, **config: Any) -> dict[str, Any]:  # noqa: ANN401
        assert config.keys() == {"main", "lores", "controls"}
        return config

    def configure(self, config: dict[str, Any]) -> None:
        self._config = config

    def start_recording(self, encoder: H264Encoder, output: Output) -> None:
        rate = self._config["controls"]["FrameRate"]
        self.encoder = encoder
        encoder.open(self._config["main"]["size"], rate)
        self._thread = threading.Thread(target=self._film, args=[encoder, output, rate])
        self._thread.start()

    def capture_array(self, name: str = "main") -> Any:  # noqa: ANN401
        if self.is_unplugged:
            raise RuntimeError("Camera frontend has timed out!")
        width, height = self._config[name]["size"]
        return bar(width + 64, height, self.number)  # the hardware aligns rows

    def stop_recording(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        self._over.set()
        self.is_closed = True

    def _film(self, encoder: H264Encoder, output: Output, rate: float) -> None:
        width, height = self._config["main"]["size"]
        while not self._over.wait(1 / rate):
            if self.is_unplugged:
                continue
            for data, is_key in encoder.encode(bar(width, height, self.number), self.number):
                output.outputframe(data, is_key, time.monotonic_ns() // 1_000)
            self.number += 1


def bar(width: int, height: int, number: int) -> Any:  # noqa: ANN401
    """Return a picture as (height * 3 / 2, width) uint8, YUV420."""
    pixels = np.full((height * 3 // 2, width), 128, np.uint8)
    at = number * 8 % (width - 80)
    pixels[:height, at : at + 40] = 235
    return pixels


def installed(patched: pytest.MonkeyPatch) -> None:
    """Let `import picamera2` find the stand-in."""
    package, encoders, outputs = (
        ModuleType(name) for name in ("picamera2", "picamera2.encoders", "picamera2.outputs")
    )
    for module, members in (
        (package, {"Picamera2": Picamera2, "encoders": encoders, "outputs": outputs}),
        (encoders, {"H264Encoder": H264Encoder}),
        (outputs, {"Output": Output}),
    ):
        vars(module).update(members)
        patched.setitem(sys.modules, module.__name__, module)
    patched.setattr(Picamera2, "made", [])
