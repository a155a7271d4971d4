"""Videos whose pictures say when they were filmed, in the containers that trucks may send."""

import io
from fractions import Fraction
from typing import Any, Final

import av
import numpy as np

FRAGMENTS: Final = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
RATE: Final = 10
SECONDS: Final = 8
SHADE: Final = 25
"""How much brighter the pictures of each second are."""
KINDS: Final = {
    "fragmented": ("mp4", "libx264", FRAGMENTS),
    "plain": ("mp4", "libx264", {}),
    "stream": ("mpegts", "libx264", {}),
    "avi": ("avi", "mjpeg", {}),
    "webm": ("webm", "libvpx", {}),
}


def film(kind: str) -> bytes:
    """Return a video whose brightness says which second it is."""
    container, codec, options = KINDS[kind]
    file, make = io.BytesIO(), av.open
    made: Any = make(file, "w", format=container, options=options)
    with made:
        stream = made.add_stream(codec, rate=RATE)
        stream.width, stream.height = 160, 120
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.gop_size = RATE
        for number in range(SECONDS * RATE):
            shade = SHADE * (1 + number // RATE)
            picture = av.VideoFrame.from_ndarray(np.full((120, 160), shade, np.uint8), "gray")
            picture = picture.reformat(format=stream.pix_fmt)
            picture.pts, picture.time_base = number, Fraction(1, RATE)
            made.mux(stream.encode(picture))
        made.mux(stream.encode())
    return file.getvalue()
