"""A CSI camera by picamera2's interface, and an encoder of hardware that is not there.

picamera2 itself and its hardware were not there: a stand-in gives real H.264 in their place.
"""

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import av
import pytest

from contracts.errors import UnavailableError
from device.camera.filming import picamera
from device.camera.filming.plan import CameraPlan
from device.camera.filming.pyav import encoder_of, times_of
from device.camera.filming.reel import Reel
from device.live.camerawatch import CameraWatch
from device.live.drivers.cameras import camera_named, live_camera, open_feed
from device.live.health import Finding, Health
from device.settings_live import CameraSettings
from support.machine.picamera import Picamera2, installed
from support.machine.waiting import wait_until

CAMERA = CameraSettings("hold", "picamera2", pictures_per_s=20, segment_s=2)


@pytest.fixture
def pi(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Picamera2]]:
    installed(monkeypatch)
    yield Picamera2
    assert all(each.is_closed for each in Picamera2.made)


def test_what_the_hardware_encoded_is_kept_and_small_pictures_are_looked_at(
    pi: type[Picamera2],
) -> None:
    with closing(open_feed(CAMERA, threading.Event())) as feed:
        assert (feed.copied.width, feed.copied.height) == (640, 480)
        pieces = list(islice(feed.pieces(), 45))
    (camera,) = pi.made
    assert camera.encoder is not None
    assert (camera.encoder.bitrate, camera.encoder.repeat) == (1_000_000, True)
    keys = [number for number, each in enumerate(pieces) if each.packet.is_keyframe]
    assert len(keys) >= 1
    assert camera.encoder.iperiod == 40
    times = [each.packet.pts for each in pieces]
    assert times == sorted(set(times))
    looked = [picture for each in pieces for picture in each.pictures]
    assert 0 < len(looked) < len(pieces)
    assert {(each.width, each.height) for each in looked} == {(320, 240)}


@pytest.mark.usefixtures("pi")
def test_its_segments_are_films_that_play(tmp_path: Path) -> None:
    reel, over, found = Reel(tmp_path / "trip", 1, [], times_of), threading.Event(), list[Finding]()
    reel.has_free(1 << 30, 1 << 30)
    (tmp_path / "trip").mkdir(exist_ok=True)
    camera = live_camera(CAMERA)
    watch = CameraWatch(camera.plan, camera.connect, reel, found.append)
    thread = threading.Thread(target=watch.run, args=[over], daemon=True)
    thread.start()
    wait_until(lambda: len(list((tmp_path / "trip").glob("hold-*.mp4"))) >= 2)
    over.set()
    watch.end(thread)
    assert Health.WORKS in [each.health for each in found]
    first = tmp_path / "trip" / "hold-000000.mp4"
    with av.open(str(first)) as film:
        pictures = list(film.decode(video=0))
        assert film.streams.video[0].codec.name == "h264"
    assert len(pictures) >= 20
    assert times_of(first)[1] > 0


def test_a_camera_that_is_unplugged_is_lost(
    pi: type[Picamera2], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picamera, "LATE_S", 0.5)
    with closing(open_feed(CAMERA, threading.Event())) as feed:
        pieces = feed.pieces()
        next(pieces)
        pi.made[0].is_unplugged = True
        with pytest.raises(UnavailableError, match=r"camera 0 on the CSI ribbon gives no"):
            list(pieces)


def test_a_camera_that_is_not_there_and_a_missing_library(
    pi: type[Picamera2], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pi.made == []
    other = CameraSettings("hold", "picamera2", number=1)
    with pytest.raises(UnavailableError, match=r"camera 1 on the CSI ribbon cannot be opened: .*"):
        open_feed(other, threading.Event())
    monkeypatch.setitem(__import__("sys").modules, "picamera2", None)
    with pytest.raises(UnavailableError, match="apt-get install python3-picamera2"):
        open_feed(CAMERA, threading.Event())


def test_cameras_as_a_person_names_them(tmp_path: Path) -> None:
    assert camera_named("picamera2").driver == "picamera2"
    assert camera_named("/dev/video7").device == Path("/dev/video7")
    assert camera_named(str(tmp_path / "a.mp4")).file == tmp_path / "a.mp4"


@pytest.mark.parametrize("wanted", ["h264_v4l2m2m", "no_such_encoder"])
def test_an_encoder_that_does_not_work_gives_way_to_one_that_does(wanted: str) -> None:
    """This machine has no such hardware."""
    encoder, why = encoder_of(CameraPlan("hold", encoder=wanted))
    assert encoder == "libx264"
    assert why.startswith(f"{wanted} does not work here (")
    assert encoder_of(CameraPlan("hold")) == ("libx264", "")


def test_status_and_log_say_that_another_encoder_works(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    camera = live_camera(CameraSettings("hold", "simulated", encoder="h264_v4l2m2m", segment_s=2))
    reel, over, found = Reel(tmp_path / "trip", 1, [], times_of), threading.Event(), list[Finding]()
    reel.has_free(1 << 30, 1 << 30)
    watch = CameraWatch(camera.plan, camera.connect, reel, found.append)
    thread = threading.Thread(target=watch.run, args=[over], daemon=True)
    thread.start()
    wait_until(lambda: any(each.health is Health.WORKS for each in found))
    over.set()
    watch.end(thread)
    (works,) = [each for each in found if each.health is Health.WORKS]
    assert works.detail.startswith("h264_v4l2m2m does not work here")
    assert "libx264 encodes" in caplog.text
