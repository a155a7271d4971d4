"""The table of cameras: how those of the settings are opened."""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from device.camera.filming.picamera import PicameraFeed
from device.camera.filming.plan import CameraPlan
from device.camera.filming.port import Feed
from device.camera.filming.pyav import AvFeed, Origin
from device.live.source import LiveCamera
from device.settings_live import CameraSettings

_PROTOCOLS: Final = "rtsp,rtsps,rtp,udp,tcp,tls,crypto"
"""What a camera on the network may make us open: no file."""


def _v4l2(camera: CameraSettings) -> Origin:
    place = str(camera.device)
    size = f"{camera.width}x{camera.height}"
    options = {"video_size": size, "framerate": str(camera.pictures_per_s)}
    remedy = "check the cable, and that this user is in the group video; `ls /dev/video*`"
    return Origin(place, f"camera {place}", "v4l2", options, paced=False, remedy=remedy)


def _rtsp(camera: CameraSettings) -> Origin:
    url = urlsplit(camera.url or "")
    shown = url._replace(netloc=url.netloc.rpartition("@")[2]).geturl()
    options = {"rtsp_transport": "tcp", "protocol_whitelist": _PROTOCOLS}
    remedy = "check that the camera has power and is on this network, and its user and password"
    return Origin(url.geturl(), f"camera {shown}", "rtsp", options, paced=False, remedy=remedy)


def _file(camera: CameraSettings) -> Origin:
    place = str((camera.file or Path()).absolute())
    options = {"protocol_whitelist": "file"}
    return Origin(place, f"film {place}", None, options, paced=True, remedy="expected a video file")


def _simulated(camera: CameraSettings) -> Origin:
    size = f"{camera.width}x{camera.height}"
    place = f"testsrc2=size={size}:rate={camera.pictures_per_s}:duration=3600"
    remedy = "FFmpeg has no test picture"
    return Origin(place, "test picture", "lavfi", {}, paced=True, remedy=remedy)


ORIGINS: Final[Mapping[str, Callable[[CameraSettings], Origin]]] = {
    "v4l2": _v4l2,
    "rtsp": _rtsp,
    "file": _file,
    "simulated": _simulated,
}


def live_camera(camera: CameraSettings) -> LiveCamera:
    """Return how a camera of the settings films and is opened; it is not opened yet."""
    plan = CameraPlan(
        camera.name,
        camera.width,
        camera.height,
        camera.pictures_per_s,
        min(camera.still_pictures_per_s, camera.pictures_per_s),
        camera.bits_per_s,
        camera.segment_s,
        camera.encoder,
        camera.in_the_dark,
    )
    return LiveCamera(plan, partial(open_feed, camera))


def open_feed(camera: CameraSettings, over: threading.Event) -> Feed:
    """Open a camera; an event that is set ends its waits.

    Raises:
        UnavailableError: It cannot be opened, or what its driver needs is not installed.
    """
    if camera.driver == "picamera2":
        size = (camera.width, camera.height)
        return PicameraFeed(camera.number, size, camera.pictures_per_s, camera.bits_per_s)
    origin = ORIGINS[camera.driver](camera)
    return AvFeed(origin, lambda wait_s: over.wait(max(0.0, wait_s)))


def camera_named(text: str) -> CameraSettings:
    """Return the camera that a person names: `picamera2`, a device, or a film."""
    if text == "picamera2":
        return CameraSettings("camera", "picamera2", width=1280, height=720)
    if text.startswith("/dev/"):
        return CameraSettings("camera", "v4l2", device=Path(text))
    return CameraSettings("camera", "file", file=Path(text))
