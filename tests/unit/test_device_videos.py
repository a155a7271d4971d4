"""Videos of other recorders: cut, without an index, or in a form that browsers do not play."""

import json
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import pytest

from contracts.errors import RejectedError
from contracts.records.recording import RecordingDigest
from device.camera.container import is_cut, lacks_index, media_type
from device.camera.port import UndecodableError
from device.camera.replay import ReplayCamera
from device.tripsource import TripSource, replayed_trip
from device.wayseal_device import main

FRAMES: Final = 50
FPS: Final = 10
SIDE: Final = 64
INDEX: Final = b"moov"


def film(path: Path, fourcc: str) -> Path:
    """Write frames of noise, so that each takes some bytes, as another recorder would."""
    size = (SIDE, SIDE)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*fourcc), FPS, size)
    assert writer.isOpened()
    chance = np.random.default_rng(1)
    for _ in range(FRAMES):
        writer.write(chance.integers(0, 255, (SIDE, SIDE, 3), np.uint8))
    writer.release()
    return path


def shortened(path: Path, share: float) -> Path:
    """Cut the end of a file off, as a power cut does."""
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    return path


def index_first(path: Path) -> Path:
    """Move the index of an MP4 before its frames, as recorders do that write fragments."""
    whole, at, boxes = path.read_bytes(), 0, []
    while at < len(whole):
        length = int.from_bytes(whole[at : at + 4], "big")
        boxes.append(whole[at : at + length])
        at += length
    (index,) = (box for box in boxes if box[4:8] == INDEX)
    moved = bytearray(index)
    table = moved.index(b"stco") + 8
    count = int.from_bytes(moved[table : table + 4], "big")
    for number in range(count):
        place = table + 4 + 4 * number
        offset = int.from_bytes(moved[place : place + 4], "big") + len(index)
        moved[place : place + 4] = offset.to_bytes(4, "big")
    head, *rest = (box for box in boxes if box is not index)
    path.write_bytes(b"".join((head, moved, *rest)))
    return path


def without_index(path: Path) -> Path:
    """Cut an MP4 before its index."""
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(INDEX) - 4])
    return path


def log(folder: Path) -> Path:
    path = folder / "log.csv"
    path.write_text("Time,Temperature\n2022-01-31 12:00:00,4\n2022-01-31 12:00:05,4\n")
    return path


def trip(folder: Path, *videos: Path) -> TripSource:
    return replayed_trip(log(folder), None, videos, None)


@pytest.mark.parametrize(
    ("name", "fourcc", "plays"),
    [
        ("camera.webm", "VP80", True),
        ("camera.webm", "VP90", True),
        ("camera.mp4", "mp4v", False),
        ("camera.avi", "MJPG", False),
        ("camera.mkv", "MJPG", False),
        ("camera.ts", "MPG2", False),
    ],
)
def test_a_whole_video_is_not_cut_and_says_whether_browsers_play_it(
    tmp_path: Path, name: str, fourcc: str, *, plays: bool
) -> None:
    camera = ReplayCamera.check(film(tmp_path / name, fourcc))
    assert (camera.cut, camera.plays) == (False, plays)
    assert [note for note in camera.notes() if "browsers do not play" in note] == camera.notes()
    assert bool(camera.notes()) is not plays


@pytest.mark.parametrize(
    ("name", "fourcc"),
    [("camera.avi", "MJPG"), ("camera.webm", "VP80"), ("camera.mkv", "MJPG")],
)
def test_a_cut_video_is_recorded_as_cut_with_the_duration_that_decodes(
    tmp_path: Path, name: str, fourcc: str
) -> None:
    video = shortened(film(tmp_path / name, fourcc), 0.5)
    camera = ReplayCamera.check(video)
    assert camera.cut
    assert 1_000 <= camera.footage.duration_ms < FRAMES * 1000 // FPS * 3 // 4
    assert f"{camera.footage.duration_ms / 1000:g} s of it decode" in camera.notes()[0]
    source = trip(tmp_path, video)
    kept = [(each.role, each.name) for each in source.derived_from[1:]]
    assert kept == [("video", name), ("cut", name)]
    assert len(source.cameras) == 1


def test_an_mp4_whose_index_comes_first_is_cut_at_its_last_whole_frame(tmp_path: Path) -> None:
    whole = index_first(film(tmp_path / "camera.mp4", "mp4v"))
    assert not ReplayCamera.check(whole).cut
    camera = ReplayCamera.check(shortened(whole, 0.5))
    assert camera.cut
    assert 1_000 <= camera.footage.duration_ms < FRAMES * 1000 // FPS * 3 // 4


def test_a_transport_stream_ends_with_a_whole_packet(tmp_path: Path) -> None:
    video = film(tmp_path / "camera.ts", "MPG2")
    video.write_bytes(video.read_bytes()[:-100])
    assert ReplayCamera.check(video).cut


def test_an_mp4_without_its_index_is_left_out_and_the_trip_goes_on(tmp_path: Path) -> None:
    broken = without_index(film(tmp_path / "camera.mp4", "mp4v"))
    whole = film(tmp_path / "other.avi", "MJPG")
    with pytest.raises(UndecodableError, match=r"index \(box moov\), it has none"):
        ReplayCamera.check(broken)
    source = trip(tmp_path, broken, whole)
    assert [(each.role, each.name) for each in source.derived_from[1:]] == [
        ("video", "other.avi"),
        ("left-out", "camera.mp4"),
    ]
    assert source.derived_from[2].sha256 == RecordingDigest.of_file(broken).sha256
    assert [camera.suffix for camera in source.cameras] == [".avi"]
    assert "camera.mp4: left out of the trip: " in source.notes[0]
    assert source.document()["left_out"] == ["camera.mp4"]


@pytest.mark.parametrize(("suffix", "kind"), [(".jpg", "JPEG"), (".png", "PNG")])
def test_a_photo_is_no_video(tmp_path: Path, suffix: str, kind: str) -> None:
    picture = np.random.default_rng(1).integers(0, 255, (SIDE, SIDE, 3), np.uint8)
    path = tmp_path / f"camera{suffix}"
    assert cv2.imwrite(str(path), picture)
    named_so = path.rename(tmp_path / "camera.mp4")
    with pytest.raises(UndecodableError, match=rf"expected a video, got a photo \({kind}\)"):
        ReplayCamera.check(named_so)


def test_a_stream_of_motion_jpeg_is_a_video(tmp_path: Path) -> None:
    picture = np.random.default_rng(1).integers(0, 255, (SIDE, SIDE, 3), np.uint8)
    path = tmp_path / "camera.jpg"
    assert cv2.imwrite(str(path), picture)
    stream = tmp_path / "camera.mjpeg"
    stream.write_bytes(path.read_bytes() * 5)
    assert ReplayCamera.check(stream).codec == "MJPG"


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "camera.avi"
    path.touch()
    with pytest.raises(UndecodableError, match=r"camera\.avi: expected a video, the file is empty"):
        ReplayCamera.check(path)


def test_a_video_that_is_not_there_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="expected a file, it is missing"):
        trip(tmp_path, tmp_path / "missing.mp4")


@pytest.mark.parametrize(
    ("head", "cut"),
    [
        (b"\0\0\0\x10ftypisom\0\0\0\0", False),
        (b"\0\0\0\x10ftypisom\0\0\0\0" + b"\0\0\0", True),
        (b"\0\0\0\x10ftypisom\0\0\0\0" + b"\0\0\0\0mdat" + b"x" * 9, False),
        (b"\0\0\0\x10ftypisom\0\0\0\0" + b"\0\0\0\1mdat" + b"\xff" * 8, True),
        (b"\0\0\0\x10ftypisom\0\0\0\0" + b"\0\0\0\3mdat" + b"x" * 9, False),
        (b"RIFF\0\0\0\0AVI " + b"x" * 9, True),
        (b"RIFF\x04\0\0\0AVI ", False),
        (b"RIFF\x05\0\0\0AVI ", True),
        (b"\x1a\x45\xdf\xa3webm" + b"\x18\x53\x80\x67\x01" + b"\xff" * 7, False),
        (b"\x1a\x45\xdf\xa3webm" + b"\x18\x53\x80\x67\x85" + b"x" * 4, True),
        (b"\x1a\x45\xdf\xa3webm" + b"\x18\x53\x80\x67\x84" + b"x" * 4, False),
        (b"\x1a\x45\xdf\xa3webm" + b"\x18\x53\x80\x67", False),
        (b"\x1a\x45\xdf\xa3webm", False),
    ],
)
def test_how_a_file_says_where_it_ends(tmp_path: Path, head: bytes, *, cut: bool) -> None:
    path = tmp_path / "camera"
    path.write_bytes(head)
    kind = media_type(path)
    assert kind != "application/octet-stream"
    assert is_cut(path, kind) is cut
    assert lacks_index(path, kind) is (kind == "video/mp4")


def test_check_says_what_record_will_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = without_index(film(tmp_path / "broken.mp4", "mp4v"))
    cut = shortened(film(tmp_path / "cut.avi", "MJPG"), 0.5)
    assert main(["check", str(broken), str(cut), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["files"]
    assert "box moov" in first["left_out"]
    assert (second["cut"], second["codec"], second["plays_in_browsers"]) == (True, "MJPG", False)
    assert main(["check", str(broken), str(cut)]) == 0
    said = capsys.readouterr().out
    assert f"{broken}: a trip would be recorded without it: video" in said
    assert f"{cut}: cut: it ends before its container says; 2." in said


def test_check_refuses_the_same_video_twice_as_record_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = film(tmp_path / "a.avi", "MJPG")
    again = tmp_path / "b.avi"
    again.write_bytes(first.read_bytes())
    assert main(["check", str(first), str(again)]) == 1
    assert f"{again}: the same bytes as {first}" in capsys.readouterr().err


def test_record_tells_of_videos_and_the_trip_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "device.toml"
    settings.write_text(
        f'device_id = "truck-7"\ndata = "{tmp_path / "data"}"\n'
        '[trip]\norigin_site = "a"\ndestination_site = "b"\n'
    )
    broken = without_index(film(tmp_path / "broken.mp4", "mp4v"))
    cut = shortened(film(tmp_path / "cut.avi", "MJPG"), 0.5)
    assert main(["--config", str(settings), "init"]) == 0
    capsys.readouterr()
    files: list[Any] = ["--readings", log(tmp_path), "--video", broken, "--video", cut]
    words = ["--config", str(settings), "record", "--json", *map(str, files)]
    assert main([*words, "--speed", "max"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert (told["recordings"], told["left_out"]) == (1, ["broken.mp4"])
    assert "broken.mp4: left out of the trip: video" in said.err
    assert "cut.avi: cut: it ends before its container says" in said.err
