"""Segments of film: cut anywhere they keep their whole fragments, and a trip has room for them."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from contracts.actions.form import RECORDINGS_MAX
from contracts.errors import UnavailableError
from contracts.records.clock import now_ms
from contracts.records.recording import RecordingDigest
from contracts.runtime.files import PART_PREFIX
from device.camera.filming.plan import ENDLESS_S, CameraPlan, segment_length_s
from device.camera.filming.pyav import OpenSegment, times_of
from device.camera.filming.reel import FRESH_S, ROOM_LEAST, LeftBehind, NoRoomForFilmError, Reel
from device.camera.filming.segments import Segment, SegmentFile, cut_to_whole, is_segment, part_of
from support.trucks import films as videos

PLAN = CameraPlan("dock", width=64, height=48)
BEGAN_MS = 1_790_000_000_123
SECONDS = 7
FRAGMENTS = 4
PER_S = 5
LATE_S = 3
"""Pictures wait in memory before they are kept."""
MINUTE = Segment(
    "dock-000000.mp4", RecordingDigest(bytes(32), 1, bytes(32)), BEGAN_MS, 60_000, 0, (500, 560)
)


def picture(number: int) -> Any:  # noqa: ANN401 - PyAV has no types for it
    shade = np.full((48, 64, 3), number * 7 % 256, np.uint8)
    shade[:, number % 64] = 255
    return av.VideoFrame.from_ndarray(shade, format="bgr24")


def filmed(path: Path) -> bytes:
    """Film some seconds, and return the file."""
    began_s = time.monotonic() - LATE_S
    segment = OpenSegment(path, path.name, PLAN, None, began_s)
    for number in range(SECONDS * PER_S):
        segment.add_picture(picture(number), began_s + number / PER_S)
    segment.close()
    return path.read_bytes()


def pictures_in(path: Path) -> int:
    with av.open(str(path)) as film:
        return sum(1 for _ in film.decode(video=0))


def boxes(film: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the kind of each box and where it ends."""
    at = 0
    while at < len(film):
        kind = film[at + 4 : at + 8]
        at += int.from_bytes(film[at : at + 4], "big")
        yield kind, at


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return filmed(tmp_path_factory.mktemp("film") / "dock-000000.mp4")


@pytest.fixture
def reel(tmp_path: Path) -> Reel:
    made = Reel(tmp_path / "trip", 1, [], times_of)
    made.has_free(1 << 30, 1 << 30)
    return made


def test_a_film_has_a_fragment_for_each_two_seconds(film: bytes) -> None:
    kinds = [kind for kind, _ in boxes(film)]
    assert kinds[:2] == [b"ftyp", b"moov"]
    assert kinds.count(b"moof") == kinds.count(b"mdat") == FRAGMENTS


def test_a_film_that_is_cut_anywhere_keeps_each_whole_fragment(film: bytes, tmp_path: Path) -> None:
    ends = [end for kind, end in boxes(film) if kind in {b"mdat", b"mfra"}]
    path = tmp_path / "cut.mp4"
    last = ends[-2]
    some = range(0, last, 97)
    for cut in {*some, *range(last - 40, len(film) + 1), *(end - 1 for end in ends), *ends}:
        path.write_bytes(film[:cut])
        whole = max((end for end in ends if end <= cut), default=0)
        assert cut_to_whole(path) == cut - whole
        assert path.read_bytes() == film[:whole]


def test_what_is_left_of_a_cut_film_decodes(film: bytes, tmp_path: Path) -> None:
    ends = [end for kind, end in boxes(film) if kind == b"mdat"]
    path = tmp_path / "cut.mp4"
    for number, end in enumerate(ends, 1):
        path.write_bytes(film[: end + 20])
        cut_to_whole(path)
        assert pictures_in(path) == min(number * 2 * PER_S, SECONDS * PER_S)


@pytest.mark.parametrize("junk", [b"", b"\0" * 64, b"\xff" * 64, b"\0\0\0\x01mdat" + b"\xff" * 8])
def test_what_is_no_film_becomes_empty(junk: bytes, tmp_path: Path) -> None:
    path = tmp_path / "junk.mp4"
    path.write_bytes(junk)
    assert cut_to_whole(path) == len(junk)
    assert path.read_bytes() == b""


def test_a_film_says_when_it_was_begun_and_how_long_it_is(film: bytes, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(film)
    began_ms, duration_ms = times_of(path)
    assert now_ms() - 600_000 < began_ms <= now_ms() - LATE_S * 1000
    assert duration_ms == (SECONDS * PER_S - 1) * 1000 // PER_S
    with av.open(str(path)) as opened:
        times = [each.time for each in opened.decode(video=0)]
    assert times == pytest.approx([number / PER_S for number in range(SECONDS * PER_S)])
    path.write_bytes(b"no film")
    assert times_of(path) == (0, 0)


def test_a_film_without_a_time_stops_no_recorder(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(videos.film("fragmented"))
    assert times_of(path) == (0, (videos.SECONDS * videos.RATE - 1) * 1000 // videos.RATE)


def test_a_file_that_was_closed_takes_nothing_more(tmp_path: Path) -> None:
    with SegmentFile(tmp_path / "part") as file:
        assert file.write(b"abc") == file.size == 3
    with pytest.raises(UnavailableError, match="was closed while its camera hung"):
        file.write(b"d")
    assert (tmp_path / "part").read_bytes() == b"abc"


def test_names_of_segments() -> None:
    assert is_segment("dock-000017.mp4")
    assert is_segment(f"{PART_PREFIX}dock-000017.mp4")
    assert is_segment("rear-door-000000.mp4")
    assert not any(map(is_segment, ("0000.avi", "dock.mp4", "dock-17.mp4", ".part-0000.avi")))


def test_segments_get_longer_so_that_any_trip_has_room_for_them() -> None:
    lengths = [segment_length_s(60, number, RECORDINGS_MAX) for number in range(RECORDINGS_MAX)]
    assert set(lengths[: RECORDINGS_MAX // 2]) == {60}
    assert lengths[RECORDINGS_MAX // 2 + 1] == 120
    assert lengths == sorted(lengths)
    assert lengths[-1] == ENDLESS_S
    assert sum(lengths[:-1]) > 24 * 3600
    assert segment_length_s(60, 0, 1) == ENDLESS_S


def test_a_segment_is_handed_over_whole_and_once(reel: Reel, film: bytes) -> None:
    part, number = reel.begin("dock")
    assert (part.name, number) == (f"{PART_PREFIX}dock-000000.mp4", 0)
    part.write_bytes(film + b"\0\0\1\0moof")
    segment = reel.finish(part)
    assert segment is not None
    assert (segment.name, segment.lost_bytes) == ("dock-000000.mp4", 8)
    assert (segment.started_at_ms > 0, segment.digest.size) == (True, len(film))
    assert [each.name for each in part.parent.iterdir()] == ["dock-000000.mp4"]
    assert reel.take() == [segment]
    assert reel.take() == []


def test_a_segment_of_nothing_uses_no_number_up(reel: Reel) -> None:
    for _ in range(3):
        part, number = reel.begin("dock")
        assert number == 0
        part.write_bytes(b"ftyp?")
        assert reel.finish(part) is None
        assert not part.exists()
    assert reel.take() == []


def test_what_a_killed_recorder_left_is_finished_and_numbers_go_on(
    tmp_path: Path, film: bytes
) -> None:
    folder = tmp_path / "trip"
    folder.mkdir()
    for name in ("dock-000000.mp4", "dock-000001.mp4", "0000.avi"):
        (folder / name).write_bytes(film)
    part_of(folder / "dock-000002.mp4").write_bytes(film[:-100])
    part_of(folder / "rear-000000.mp4").write_bytes(b"")
    reel = Reel(folder, 2, ["dock-000000.mp4"], times_of)
    reel.has_free(1 << 30, 1 << 30)
    cut: list[LeftBehind] = []
    found = reel.left_behind(cut.append)
    assert [each.name for each in found] == ["dock-000001.mp4", "dock-000002.mp4"]
    assert [(each.name, bool(each.ended_at_ms)) for each in cut] == [
        ("dock-000002.mp4", True),
        ("rear-000000.mp4", False),
    ]
    names = {"dock-000000.mp4", "dock-000001.mp4", "dock-000002.mp4", "0000.avi"}
    assert {each.name for each in folder.iterdir()} == names
    assert reel.begin("dock")[1] == 3
    assert reel.begin("rear")[1] == 0


def test_a_cut_segment_stays_open_until_somebody_knows_of_it(tmp_path: Path, film: bytes) -> None:
    folder = tmp_path / "trip"
    folder.mkdir()
    part_of(folder / "dock-000002.mp4").write_bytes(film[:-100])

    def full(_: LeftBehind) -> None:
        raise UnavailableError("disk is full")

    cut: list[LeftBehind] = []
    for _ in range(2):
        with pytest.raises(UnavailableError, match="disk is full"):
            Reel(folder, 1, [], times_of).left_behind(full)
    Reel(folder, 1, [], times_of).left_behind(cut.append)
    Reel(folder, 1, [], times_of).left_behind(cut.append)
    assert [each.name for each in cut] == ["dock-000002.mp4"]


def test_a_segment_whose_end_is_lost_waits_and_is_told_of(reel: Reel, film: bytes) -> None:
    part, _ = reel.begin("dock")
    part.write_bytes(film[:-100])
    assert reel.leave(part)
    assert (reel.take(), reel.moments()) == ([], [])
    following, _ = reel.begin("dock")
    following.write_bytes(film)
    assert reel.finish(following)
    (next_one,) = reel.take()
    cut: list[LeftBehind] = []
    assert len(Reel(part.parent, 1, [next_one.name], times_of).left_behind(cut.append)) == 1
    assert [each.went_on_at_ms for each in cut] == [next_one.started_at_ms]
    assert next_one.started_at_ms


def test_nobody_knows_which_signs_a_film_without_times_shows(tmp_path: Path, film: bytes) -> None:
    reel = Reel(tmp_path / "trip", 1, [], lambda _: (0, 0))
    reel.has_free(1 << 30, 1 << 30)
    part, _ = reel.begin("dock")
    part.write_bytes(film)
    segment = reel.finish(part)
    assert segment is not None
    assert reel.is_marked(segment)


def test_a_segment_that_cannot_be_begun_uses_no_number_up(reel: Reel) -> None:
    for _ in range(3):
        part, number = reel.begin("dock")
        assert number == 0
        reel.drop(part)
        assert reel.moments() == []


def test_a_trip_never_gets_more_recordings_than_a_seal_takes(reel: Reel, film: bytes) -> None:
    for number in range(RECORDINGS_MAX):
        part, given = reel.begin("dock")
        assert given == number
        part.write_bytes(film)
        reel.finish(part)
    with pytest.raises(NoRoomForFilmError, match=f"up to {RECORDINGS_MAX}"):
        reel.begin("dock")
    with pytest.raises(NoRoomForFilmError, match="0 recordings"):
        reel.begin("another")


def test_a_full_buffer_stops_film_until_an_offload(reel: Reel) -> None:
    reel.has_free(ROOM_LEAST + 1_000, 1 << 30)
    reel.begin("dock")
    reel.wrote(1_000)
    with pytest.raises(NoRoomForFilmError, match=f"{ROOM_LEAST - 1} bytes left; offload"):
        reel.wrote(1)
    with pytest.raises(NoRoomForFilmError):
        reel.begin("dock")
    reel.has_free(2 * ROOM_LEAST, 1 << 30)
    reel.begin("dock")


def test_an_encoder_that_ffmpeg_lacks_is_said(tmp_path: Path) -> None:
    plan = CameraPlan("dock", encoder="h264_nobody")
    segment = OpenSegment(tmp_path / "part", "dock", plan, None, 0.0)
    with pytest.raises(UnavailableError, match="no encoder h264_nobody"):
        segment.add_picture(picture(0), 1.0)
    segment.close()


def test_film_takes_less_room_when_little_is_left(reel: Reel) -> None:
    reel.begin("dock")
    assert not reel.is_low
    reel.has_free((1 << 30) // 5 - 1, 1 << 30)
    assert reel.is_low


@pytest.mark.parametrize(("at_s", "marks"), [(499.9, 0), (500, 1), (530, 1), (561, 1), (561.1, 0)])
def test_a_sign_marks_the_segment_that_it_falls_into(
    tmp_path: Path, at_s: float, marks: int
) -> None:
    reel = Reel(tmp_path / "trip", 1, [], times_of, late_ms=1_000)
    assert not reel.is_marked(MINUTE)
    reel.mark(at_s)
    assert reel.is_marked(MINUTE) == bool(marks)


def test_what_one_camera_sees_marks_its_own_film_alone(reel: Reel) -> None:
    reel.mark(530, "dock")
    assert reel.is_marked(MINUTE)
    assert not reel.is_marked(replace(MINUTE, name="rear-000000.mp4"))


def test_a_segment_of_unknown_time_counts_as_marked(reel: Reel) -> None:
    assert reel.is_marked(replace(MINUTE, filmed_s=None))


def test_a_moment_is_that_of_the_newest_picture_in_the_film(reel: Reel, film: bytes) -> None:
    now_s = time.monotonic()
    part, _ = reel.begin("dock", now_s - 9)
    assert reel.moments() == []
    reel.shows(part, 8_500)
    assert reel.moments() == [("dock-000000.mp4", 8_500)]
    part.write_bytes(film)
    segment = reel.finish(part)
    assert segment is not None
    assert reel.moments() == [("dock-000000.mp4", segment.duration_ms)]  # its end was cut
    following, _ = reel.begin("dock", now_s)
    reel.shows(following, 0)
    assert reel.moments() == [("dock-000001.mp4", 0)]


@pytest.mark.parametrize(("ago_s", "named"), [(FRESH_S + 0.9, 1), (FRESH_S + 1.1, 0)])
def test_film_that_ended_before_a_sign_could_have_begun_does_not_show_it(
    tmp_path: Path, ago_s: float, named: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1_000.0)
    reel = Reel(tmp_path / "trip", 1, [], times_of, late_ms=1_000)
    reel.has_free(1 << 30, 1 << 30)
    part, _ = reel.begin("dock", 1_000 - ago_s - 2)
    reel.shows(part, 2_000)
    assert len(reel.moments()) == named
