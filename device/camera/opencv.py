"""Adapter: the only module that imports OpenCV, and only when a film or a picture is looked at.

A truck without a camera, or `wayseal-device status`, needs no OpenCV.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from device.camera.port import UndecodableError

FPS_MAX: Final = 1_000
FRAMES_MAX: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class Film:
    """What OpenCV reports about a video file.

    Attributes:
        frames: Number of frames; 0 if the container does not say.
        duration_ms: Milliseconds; 0 if the container does not say.
        codec: Its four-character code, as in `MJPG`; empty if that is not printable.
    """

    frames: int
    duration_ms: int
    codec: str = ""


def inspect(path: Path, *, cut: bool = False) -> Film:
    """Open the video at `path` and decode its first frame.

    Args:
        path: The file.
        cut: The container announces more than there is, so count the frames that are there.

    Raises:
        UndecodableError: OpenCV cannot open or decode it as a video.
        UnavailableError: OpenCV is not installed.
    """
    cv2 = opencv()
    capture = cv2.VideoCapture(str(path.resolve()), cv2.CAP_FFMPEG)
    try:
        if not capture.isOpened():
            raise UndecodableError(f"video {path}: expected a video file, OpenCV cannot open it")
        if not capture.read()[0]:
            raise UndecodableError(f"video {path}: expected at least one frame, none decodes")
        frames = capture.get(cv2.CAP_PROP_FRAME_COUNT)
        fps = capture.get(cv2.CAP_PROP_FPS)
        codec = _codec(int(capture.get(cv2.CAP_PROP_FOURCC)))
        if cut:
            frames = 1
            while frames < FRAMES_MAX and capture.grab():
                frames += 1
    except cv2.error as error:
        raise UndecodableError(f"video {path}: OpenCV: {error}") from error
    finally:
        capture.release()
    if not 0 < fps <= FPS_MAX or not 0 < frames <= FRAMES_MAX:
        return Film(0, 0, codec)
    return Film(int(frames), round(frames * 1000 / fps), codec)


def _codec(fourcc: int) -> str:
    text = fourcc.to_bytes(4, "little", signed=fourcc < 0).decode("latin-1")
    return text if text.isascii() and text.isprintable() else ""


def write_mjpeg(path: Path, frames: Iterable[Any], *, fps: int, width: int, height: int) -> None:
    """Write `frames` as a Motion JPEG AVI: every frame decodes by itself.

    Args:
        path: File to write.
        frames: Each (height, width, 3) uint8, BGR.
        fps: Frames per second.
        width: Pixels.
        height: Pixels.

    Raises:
        UnavailableError: OpenCV cannot write to `path`, or is not installed.
    """
    cv2 = opencv()
    codec = cv2.VideoWriter.fourcc(*"MJPG")
    writer = cv2.VideoWriter(str(path), cv2.CAP_OPENCV_MJPEG, codec, fps, (width, height))
    try:
        if not writer.isOpened():
            raise UnavailableError(f"video {path}: OpenCV cannot write it")
        for frame in frames:
            writer.write(frame)
    finally:
        writer.release()


def put_text(frame: Any, text: str, x: int, y: int) -> None:  # noqa: ANN401 - numpy at the SDK edge
    """Write `text`, white, with its lower left corner at (x, y) pixels."""
    cv2 = opencv()
    cv2.putText(frame, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (255, 255, 255), 2)


def check_installed() -> None:
    """Check that this host has OpenCV, before a trip that needs it begins.

    Raises:
        UnavailableError: It has not.
    """
    opencv()


def opencv() -> Any:  # noqa: ANN401 - a module that may be missing has no static type
    """Return the module cv2; only adapters in this folder call this.

    Raises:
        UnavailableError: It is not installed.
    """
    # FFmpeg would write to stderr, and would open any URL that a playlist names.
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")
    os.environ.setdefault("OPENCV_FFMPEG_CAPTURE_OPTIONS", "protocol_whitelist;file")
    try:
        import cv2  # noqa: PLC0415 - see the module's first lines
    except ImportError as error:
        raise UnavailableError(
            "OpenCV is not installed: video needs the extra camera; in a checkout, "
            "scripts/install device-camera installs it"
        ) from error
    return cv2
