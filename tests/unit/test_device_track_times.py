"""A track by the log's own times, and tracks that contradict each other."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.records.clock import parse_rfc3339
from contracts.records.reading import Position
from device.live.source import LiveSource
from device.sensors.mapping import LogOptions
from device.sensors.port import Sample
from device.sensors.track import Track
from device.tripsource import STRETCHED_ALL_THE_SAME, TripSource, replayed_trip
from device.wayseal_device import main

ALIGNED = LogOptions(aligned=True)


def gpx(folder: Path, *tracks: tuple[str, ...], east: int = 1) -> Path:
    """Write tracks; each point is at HH:MM of one day, one degree north of the point before."""
    parts, north = [], 0
    for number, minutes in enumerate(tracks, 1):
        points = ""
        for minute in minutes:
            points += (
                f'<trkpt lat="{north}" lon="{east}"><time>2022-01-31T{minute}:00Z</time></trkpt>'
            )
            north += 1
        parts.append(f"<trk><name>way {number}</name><trkseg>{points}</trkseg></trk>")
    path = folder / "track.gpx"
    path.write_text(f'<gpx version="1.1" creator="t">{"".join(parts)}</gpx>')
    return path


def log(folder: Path, *minutes: str) -> Path:
    path = folder / "log.csv"
    rows = "".join(f"2022-01-31 {minute}:00,4\n" for minute in minutes)
    path.write_text(f"Time,Temperature\n{rows}")
    return path


def samples_of(source: TripSource) -> list[Sample]:
    assert not isinstance(source.sensors, LiveSource)
    return [*source.sensors.samples()]


def test_positions_come_at_the_times_of_the_log(tmp_path: Path) -> None:
    readings = log(tmp_path, "11:59", "12:00", "12:05", "12:10", "12:20")
    track = gpx(tmp_path, ("12:00", "12:10"))
    source = replayed_trip(readings, track, [], None, ALIGNED)
    assert [sample.position for sample in samples_of(source)] == [
        None,
        Position(0, 10_000_000),
        Position(5_000_000, 10_000_000),
        Position(10_000_000, 10_000_000),
        None,
    ]
    assert source.derived_from[1].name == "--align time"
    stretched = replayed_trip(readings, track, [], None)
    assert all(sample.position for sample in samples_of(stretched))
    assert stretched.input_id != source.input_id


def test_a_track_of_another_time_is_refused(tmp_path: Path) -> None:
    readings = log(tmp_path, "11:00", "11:30")
    with pytest.raises(RejectedError, match=r"2022-01-31T11:30:00\.000Z, got one from"):
        replayed_trip(readings, gpx(tmp_path, ("12:00", "12:10")), [], None, ALIGNED)
    with pytest.raises(RejectedError, match="expected a track"):
        replayed_trip(readings, None, [], None, ALIGNED)


def test_tracks_one_after_the_other_are_one_way_and_others_are_refused(tmp_path: Path) -> None:
    after = Track.load(gpx(tmp_path, ("12:10", "12:20"), ("12:00", "12:10")))
    assert len(after.times_ms) == 4
    with pytest.raises(RejectedError, match=r"got 'way 1' until .* and 'way 2' from"):
        Track.load(gpx(tmp_path, ("12:00", "12:10"), ("12:05", "12:20")))


def test_one_of_several_tracks_is_chosen_by_its_name(tmp_path: Path) -> None:
    overlapping = gpx(tmp_path, ("12:00", "12:10"), ("12:05", "12:20"))
    chosen = Track.load(overlapping, "way 2")
    assert chosen.positions == (Position(20_000_000, 10_000_000), Position(30_000_000, 10_000_000))
    with pytest.raises(RejectedError, match=r"expected a track 'way 3', got 'way 1', 'way 2'"):
        Track.load(overlapping, "way 3")
    readings = log(tmp_path, "12:05", "12:20")
    named = replayed_trip(readings, overlapping, [], None, LogOptions(track_name="way 2"))
    assert named.derived_from[1].name == "--track-name 'way 2'"
    with pytest.raises(RejectedError, match=r"--track-name: expected a track, got none"):
        replayed_trip(readings, None, [], None, LogOptions(track_name="way 2"))


def test_tracks_without_a_name_are_numbered_and_many_names_are_not_all_shown(
    tmp_path: Path,
) -> None:
    tracks = [(f"12:{minute:02}", f"12:{minute + 1:02}") for minute in range(0, 24, 2)]
    path = gpx(tmp_path, *tracks)
    path.write_text(path.read_text().replace("<name>way 2</name>", ""))
    assert Track.load(path, "track 2").positions[0] == Position(20_000_000, 10_000_000)
    with pytest.raises(RejectedError, match=r"'way 10' and 2 more$"):
        Track.load(path, "way 2")
    assert Track.load(path, "track 3").positions == Track.load(path, "way 3").positions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<trk><trkseg><trkpt lat="1" lon="1"/></trkseg></trk>', "on a track without times"),
        ('<wpt lat="1" lon="1"/>', "waypoints and routes are not read"),
    ],
)
def test_what_is_no_track_says_why(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "track.gpx"
    path.write_text(f'<gpx version="1.1" creator="t">{text}</gpx>')
    with pytest.raises(RejectedError, match=words):
        Track.load(path)


def test_a_stretched_track_whose_times_match_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readings, track = log(tmp_path, "12:00", "12:20"), gpx(tmp_path, ("12:10", "12:30"))
    stretched = replayed_trip(readings, track, [], None)
    span = "2 points, 2022-01-31T12:10:00.000Z to 2022-01-31T12:30:00.000Z"
    assert stretched.notes == [
        f"track.gpx: {span}, stretched over the trip: each reading gets a position",
        f"track.gpx: {STRETCHED_ALL_THE_SAME}",
    ]
    assert stretched.lines()[-2:] == stretched.notes
    assert replayed_trip(readings, track, [], None, ALIGNED).notes == [
        f"track.gpx: {span}: 1 of 2 readings get a position"
    ]
    assert main(["check", str(readings), str(track)]) == 0
    assert STRETCHED_ALL_THE_SAME in capsys.readouterr().out
    assert main(["check", str(readings), str(track), "--align", "time"]) == 0
    assert STRETCHED_ALL_THE_SAME not in capsys.readouterr().out
    other = replayed_trip(log(tmp_path, "11:00", "11:20"), track, [], None)
    assert other.notes == stretched.notes[:1]
    touching = replayed_trip(log(tmp_path, "11:00", "12:10"), track, [], None)
    assert touching.notes == stretched.notes[:1]


def test_a_start_that_is_not_the_logs_is_told_and_kept_on_the_ledger(tmp_path: Path) -> None:
    readings = log(tmp_path, "12:00", "12:20")
    moved = replayed_trip(readings, None, [], parse_rfc3339("2022-02-01T00:00:00Z"))
    assert moved.derived_from[1].role == "options"
    assert moved.derived_from[1].name == "--start 2022-02-01T00:00:00.000Z"
    (note,) = moved.notes
    assert note.startswith("log.csv: its times are moved: the trip starts at 2022-02-01T00:00:00")
    assert note.endswith("the log at 2022-01-31T12:00:00.000Z")
    same = replayed_trip(readings, None, [], parse_rfc3339("2022-01-31T12:00:00Z"))
    assert len(same.derived_from) == 1
    assert same.notes == []


def test_check_says_that_times_do_not_match(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readings = str(log(tmp_path, "11:00", "11:30"))
    track = str(gpx(tmp_path, ("12:00", "12:10")))
    assert main(["check", readings, track]) == 0
    assert main(["check", readings, track, "--align", "time"]) == 1
    assert "expected a track at the log's time" in capsys.readouterr().err
    assert main(["check", readings, "--align", "time"]) == 1
    assert "expected a track, got none" in capsys.readouterr().err
    both = gpx(tmp_path, ("11:00", "11:10"), ("11:05", "11:20"))
    assert main(["check", readings, str(both), "--align", "time"]) == 1
    said = capsys.readouterr().err
    assert "choose one with --track-name" in said
    assert "expected a track" not in said


@pytest.mark.parametrize("options", [ALIGNED, LogOptions()])
def test_points_of_a_receiver_without_a_fix_are_told(tmp_path: Path, options: LogOptions) -> None:
    readings, track = log(tmp_path, "12:00", "12:20"), gpx(tmp_path, ("12:00", "12:20"), east=0)
    notes = replayed_trip(readings, track, [], None, options).notes
    assert notes[-1].startswith(
        "track.gpx: latitude 0, longitude 0 in 1 of 2 points of the track, as receivers without"
    )


@pytest.mark.parametrize(
    ("cut", "expected"),
    [("", "; the file is empty"), ("<gpx><trk>", "; the file ends before: it was")],
)
def test_a_track_without_its_end_is_told_as_cut(tmp_path: Path, cut: str, expected: str) -> None:
    (path := tmp_path / "track.gpx").write_text(cut)
    with pytest.raises(RejectedError) as raised:
        Track.load(path)
    assert f"expected GPX up to its end, </gpx>{expected}" in str(raised.value)
