"""Live cameras with real processes: two at once, killed, hung, unplugged, and without room."""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from contracts.errors import UnavailableError
from contracts.runtime.files import PART_PREFIX
from contracts.runtime.ports import free_port
from device.camera.filming.plan import LATE_S, CameraPlan
from device.camera.filming.pyav import OpenSegment
from device.camera.filming.reel import CARD_KEPT
from device.camera.filming.segments import cut_to_whole
from device.camera.simulated import SimulatedCamera
from device.live.camerawatch import BEFORE_S
from device.live.telling import FILM_LOST_MS
from support.gateways.appliance import QuickAppliance
from support.machine.browser import browser
from support.machine.mounts import tmpfs
from support.trucks.gps import gpsd
from support.trucks.roaming import READINGS, RoamingTruck
from support.trucks.rogue import Site, running_site, until
from support.trucks.rtsp import rtsp_camera

pytestmark = pytest.mark.integration

CAMERAS = ("dock", "rear")
TEST_PICTURE = '[[cameras]]\nname = "rear"\ndriver = "simulated"\nsegment_s = 2\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with running_site(directory, QuickAppliance(directory / "site-b")) as made:
        yield made


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "dock.avi"
    SimulatedCamera(2).film(path)
    return path


@pytest.fixture
def gps() -> Iterator[str]:
    with gpsd() as address:
        yield address


def playing(film: Path) -> str:
    return f'[[cameras]]\nname = "dock"\ndriver = "file"\nfile = "{film}"\nsegment_s = 2\n'


def segments_of(roaming: RoamingTruck, camera: str) -> list[Path]:
    return sorted(roaming.truck.data.glob(f"videos/*/{camera}-*.mp4"))


def begun_by(roaming: RoamingTruck, camera: str) -> int:
    """Return the bytes of the segments that are being filmed."""
    parts = roaming.truck.data.glob(f"videos/*/{PART_PREFIX}{camera}-*.mp4")
    return sum(part.stat().st_size for part in parts)


def stopped_while_filming(roaming: RoamingTruck, agent: subprocess.Popen[str]) -> bool:
    """Stop the agent; say whether a segment is open, or else let it go on."""
    agent.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, agent.pid, os.WSTOPPED)
    if begun_by(roaming, "dock") > 0:
        return True
    agent.send_signal(signal.SIGCONT)
    return False


def health_of(roaming: RoamingTruck, camera: str) -> str:
    return str(roaming.status()["sensors"].get(camera, {}).get("health"))


def films_at(site: Site, trip: dict[str, Any], into: Path) -> list[dict[str, Any]]:
    """Return what the site knows of a trip's recordings; all their bytes are there and decode."""
    found: list[dict[str, Any]] = site.ask(f"/v1/trips/{trip['trip']}/recordings")["items"]
    for each in found:
        content = site.operator.get(f"/v1/recordings/{each['recording_id']}/content").content
        assert hashlib.sha256(content).hexdigest() == each["recording_id"]
        path = into / f"{each['recording_id']}.mp4"
        path.write_bytes(content)
        with av.open(str(path)) as opened:
            assert any(opened.decode(video=0))
    return found


def pictures_in(film: Path) -> int:
    with av.open(str(film)) as opened:
        return sum(1 for _ in opened.decode(video=0))


def plays(film: Path, folder: Path) -> list[int]:
    """Play a film to its end in a browser, and return its width and height."""
    page = folder / "page.html"
    page.write_text(f'<video src="{film.as_uri()}" muted></video>')
    with browser(folder / "profile") as tab:
        tab.show(page, width=800)
        size: list[int] = tab.value(
            "new Promise((done, failed) => { const video = document.querySelector('video');"
            "video.onended = () => done([video.videoWidth, video.videoHeight]);"
            "video.onerror = () => failed(video.error.message); video.play(); })"
        )
    return size


def signs_at(site: Site, trip: dict[str, Any]) -> set[str]:
    events = site.ask(f"/v1/trips/{trip['trip']}/tampers")["items"]
    return {sign for event in events for sign in event["signs"]}


def each_sign_is_shown_in_film(
    site: Site, trip: dict[str, Any], films: list[dict[str, Any]]
) -> None:
    """A sign that appears or ends names a moment in each film that was open then.

    What waits before a motion is not in a film yet, so the moment may be in the camera's next one.
    """
    lasts_s = {each["pseudo_file_id"]: each["duration_s"] for each in films}
    events = site.ask(f"/v1/trips/{trip['trip']}/tampers")["items"]
    moments = [moment for event in events for moment in event["film"]]
    assert moments
    for each in moments:  # the next picture may come a moment later than the sign
        most_s = lasts_s[each["pseudo_file_id"]] + BEFORE_S + LATE_S
        assert 0 <= each["offset_s"] <= most_s, (each, lasts_s)


def test_two_cameras_film_the_whole_trip_in_segments(
    tmp_path: Path, site: Site, gps: str, film: Path
) -> None:
    roaming = RoamingTruck(tmp_path / "card", gps, site, playing(film) + TEST_PICTURE)
    with roaming.running() as said:
        roaming.say("absent")
        until("both film", lambda: min(len(segments_of(roaming, each)) for each in CAMERAS) > 1)
        assert {health_of(roaming, camera) for camera in CAMERAS} == {"works"}
        trip = roaming.ends_whole(site, said)
    films = films_at(site, trip, tmp_path)
    assert len(films) >= 4
    assert {each["media_type"] for each in films} == {"video/mp4"}
    assert len({each["started_at"] for each in films}) >= len(films) // len(CAMERAS)
    for each in films:  # one that begins just as the trip ends may hold a single picture
        pictures = pictures_in(tmp_path / f"{each['recording_id']}.mp4")
        assert (each["duration_s"] > 0) == (pictures > 1), (each, pictures)
        assert pictures > 0
    assert not list(roaming.truck.data.glob("videos/*/*"))
    assert "motion" in signs_at(site, trip)
    each_sign_is_shown_in_film(site, trip, films)
    assert plays(tmp_path / f"{films[0]['recording_id']}.mp4", tmp_path) == [640, 480]


def remarks_of(site: Site, trip: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return what the truck said of itself, of one kind."""
    items = site.ask(f"/v1/trips/{trip['trip']}/remarks")["items"]
    return [each for each in items if each["kind"] == kind]


def test_a_killed_agent_keeps_its_film_up_to_the_last_fragment(
    tmp_path: Path, site: Site, gps: str, film: Path
) -> None:
    cameras = playing(film).replace("segment_s = 2", "segment_s = 600")
    roaming = RoamingTruck(tmp_path / "card", gps, site, cameras)
    with roaming.truck.start("run") as agent:
        roaming.say("absent")
        until("some of it is on the card", lambda: begun_by(roaming, "dock") > 1 << 19)
        agent.kill()
        agent.communicate()
    assert roaming.status()["trips"][0]["recordings"] == []
    with roaming.running() as said:
        until("it is kept", lambda: roaming.status()["trips"][0]["recordings"] != [])
        trip = roaming.ends_whole(site, said)
    (cut,) = [line for line in said if "was cut, by a power cut, a kill or a card" in line]
    assert re.search(r"film dock-000000\.mp4 .*, \d+ bytes after that are lost", cut)
    (lost,) = remarks_of(site, trip, "film-lost")
    assert lost["subject"] == "dock-000000.mp4"
    assert lost["amount_s"] >= FILM_LOST_MS / 1000
    assert len(remarks_of(site, trip, "interrupted")) == 1
    assert len(films_at(site, trip, tmp_path)) == 2


def test_a_killed_agent_that_is_at_the_site_keeps_its_film_too_and_a_copy_of_it_stops_nothing(
    tmp_path: Path, site: Site, gps: str, film: Path
) -> None:
    roaming = RoamingTruck(tmp_path / "card", gps, site, playing(film))
    with roaming.truck.start("run") as agent:
        roaming.say("absent")
        until("it films", lambda: len(segments_of(roaming, "dock")) > 0)
        until("it stands still with a segment open", lambda: stopped_while_filming(roaming, agent))
        agent.kill()
        agent.communicate()
    first = segments_of(roaming, "dock")[0]
    shutil.copy(first, first.with_name("dock-000099.mp4"))
    with roaming.running() as said:
        trip = roaming.ends_whole(site, said)
    assert films_at(site, trip, tmp_path)
    assert [each["subject"] for each in remarks_of(site, trip, "film-lost")]
    assert any("film dock-000099.mp4 is not kept" in line for line in said), said


@pytest.mark.long
def test_a_camera_that_hangs_delays_nothing(tmp_path: Path, site: Site, gps: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"rtsp://127.0.0.1:{mute.getsockname()[1]}/dock"
        dock = f'[[cameras]]\nname = "dock"\ndriver = "rtsp"\nurl = "{url}"\n'
        roaming = RoamingTruck(tmp_path / "card", gps, site, dock + TEST_PICTURE)
        with roaming.running() as said:
            roaming.say("absent")
            until("it is said", lambda: health_of(roaming, "dock") in {"silent", "lost"})
            assert health_of(roaming, "rear") == "works"
            before = roaming.readings()
            until("readings go on", lambda: roaming.readings() >= before + READINGS)
            trip = roaming.ends_whole(site, said)
    assert {each["media_type"] for each in films_at(site, trip, tmp_path)} == {"video/mp4"}


@pytest.mark.long
def test_a_camera_on_the_network_is_unplugged_and_plugged_in_again(
    tmp_path: Path, site: Site, gps: str
) -> None:
    port = free_port()
    with rtsp_camera(port) as url:
        dock = f'[[cameras]]\nname = "dock"\ndriver = "rtsp"\nurl = "{url}"\nsegment_s = 2\n'
        roaming = RoamingTruck(tmp_path / "card", gps, site, dock)
        with roaming.running():
            roaming.say("absent")
            until("it films", lambda: len(segments_of(roaming, "dock")) > 0)
    with roaming.running() as said:
        until("it is lost", lambda: health_of(roaming, "dock") == "lost")
        with rtsp_camera(port):
            until("it works", lambda: health_of(roaming, "dock") == "works")
            filmed = len(segments_of(roaming, "dock"))
            until("it films", lambda: len(segments_of(roaming, "dock")) > filmed)
        until("it is lost again", lambda: health_of(roaming, "dock") in {"lost", "silent"})
        before = roaming.readings()
        until("readings go on", lambda: roaming.readings() >= before + READINGS)
        trip = roaming.ends_whole(site, said)
    assert not any("secret" in line for line in said), said
    assert films_at(site, trip, tmp_path)
    assert "camera-blocked" in signs_at(site, trip)


def trip_whose_film_stops(roaming: RoamingTruck, site: Site) -> tuple[dict[str, Any], list[str]]:
    """Drive until the film stops, and on; return the trip, and what the agent said."""
    with roaming.running() as said:
        roaming.say("absent")
        until("film stops", lambda: health_of(roaming, "rear") == "stopped")
        before = roaming.readings()
        until("readings go on", lambda: roaming.readings() >= before + READINGS)
        return roaming.ends_whole(site, said), said


@pytest.mark.long
def test_film_stops_when_its_buffer_is_full_and_readings_go_on(
    tmp_path: Path, site: Site, gps: str
) -> None:
    small = f"[buffer]\nvideo_bytes_max = {5 << 20}\n"
    roaming = RoamingTruck(tmp_path / "card", gps, site, TEST_PICTURE + small)
    trip, said = trip_whose_film_stops(roaming, site)
    assert remarks_of(site, trip, "film-stopped")[0]["change"] == "began"
    (line,) = [line for line in said if "camera rear is not recorded" in line]
    assert "bytes left; offload, or set a larger buffer.video_bytes_max" in line
    assert sum(each["size"] for each in films_at(site, trip, tmp_path)) <= 5 << 20


def test_film_leaves_room_for_readings_on_a_full_card(tmp_path: Path, site: Site, gps: str) -> None:
    with tmpfs(tmp_path / "card", f"{(CARD_KEPT >> 20) + 2}m") as card:
        much = "bits_per_s = 10000000\nstill_pictures_per_s = 10\n"
        roaming = RoamingTruck(card, gps, site, TEST_PICTURE + much)
        trip, said = trip_whose_film_stops(roaming, site)
    assert any(f"bytes left, and {CARD_KEPT} are kept for readings" in line for line in said), said
    assert films_at(site, trip, tmp_path)


def test_film_of_a_card_that_another_program_fills_is_whole_up_to_there(tmp_path: Path) -> None:
    dice, pictures = np.random.default_rng(1), 60
    with tmpfs(tmp_path / "card", "256k") as card:
        path = card / "dock-000000.mp4"
        segment = OpenSegment(path, path.name, CameraPlan("dock"), None, time.monotonic())
        noise = (dice.integers(0, 256, (240, 320, 3), dtype=np.uint8) for _ in range(pictures))

        def film_all() -> None:
            for number, each in enumerate(noise):
                picture = av.VideoFrame.from_ndarray(each, format="bgr24")
                segment.add_picture(picture, time.monotonic() + number)

        with pytest.raises(UnavailableError, match=r"cannot write \d+ bytes to .* \(ENOSPC\)"):
            film_all()
        with suppress(UnavailableError):
            segment.close()
        assert cut_to_whole(path) > 0
        with av.open(str(path)) as film:
            assert 0 < sum(1 for _ in film.decode(video=0)) < pictures


def test_check_config_takes_a_picture_of_each_camera(tmp_path: Path, site: Site, gps: str) -> None:
    lost = f'[[cameras]]\nname = "dock"\ndriver = "rtsp"\nurl = "rtsp://a:secret@127.0.0.1:{free_port()}/"\n'
    absent = '[[cameras]]\nname = "yard"\ndriver = "v4l2"\ndevice = "/dev/video99"\n'
    roaming = RoamingTruck(tmp_path / "card", gps, site, TEST_PICTURE + lost + absent)
    code, said, _ = roaming.truck.run("check-config")
    assert code == 1
    assert re.search(r"ok +camera rear: a picture of 640 x 480, it will be encoded", said), said
    assert re.search(r"error +camera dock: .*127\.0\.0\.1.* cannot be opened: Connection", said), (
        said
    )
    assert re.search(r"error +camera yard: .*/dev/video99 cannot be opened: No such file", said), (
        said
    )
    assert "secret" not in said
