"""Reads a claim that is shown to a camera as a QR code."""

import sys
import threading
import time
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from device.camera.filming.port import Feed
from device.camera.filming.pyav import small
from device.camera.opencv import opencv
from device.live.drivers.cameras import camera_named, open_feed
from device.offload.est import Claim

WIDTH_MAX: Final = 1_280
"""Pixels; a larger picture is made smaller, as a QR code needs less, and a Pi 3 is slow."""


def read_claim(camera: str, wait_s: float) -> Claim:
    """Return the claim that a camera sees.

    Args:
        camera: `picamera2`, a device such as `/dev/video0`, or a film.
        wait_s: How long to look, seconds.

    Raises:
        UnavailableError: The camera does not work, shows no claim in time, or OpenCV is missing.
    """
    over = threading.Event()
    timer = threading.Timer(wait_s, over.set)
    timer.daemon = True
    timer.start()
    sys.stderr.write("show the QR code to the camera, a hand away\n")
    feed = open_feed(camera_named(camera), over)
    try:
        return _seen(feed, over, time.monotonic() + wait_s)
    finally:
        timer.cancel()
        feed.close()


def _seen(feed: Feed, over: threading.Event, until_s: float) -> Claim:
    # Measured with 300 claims, shown sharp: QRCodeDetector never reads 6, this one reads all.
    detector = opencv().QRCodeDetectorAruco()
    problem = "no QR code"
    for piece in feed.pieces():
        for picture in piece.pictures:
            width = min(picture.width, WIDTH_MAX)
            pixels = small(picture, width, picture.height * width // picture.width)
            text, _, _ = detector.detectAndDecode(pixels)
            if text:
                try:
                    return Claim.parse(text)
                except RejectedError:
                    problem = "a QR code that is not a claim"
        if over.is_set() or time.monotonic() > until_s:
            break
    raise UnavailableError(f"the camera showed {problem} in time; hold it nearer, in better light")
