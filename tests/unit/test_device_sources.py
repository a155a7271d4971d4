"""Logs, tracks, films and the simulator: what is read, and what is refused."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.records.reading import Position, Tamper
from device.camera.opencv import inspect
from device.camera.replay import ReplayCamera
from device.commands.simulate import write_trip
from device.sensors.lines import LINE_BYTES_MAX
from device.sensors.replay_csv import CsvReplay
from device.sensors.simulated import MINUTES_MAX, SimulatedTrip
from device.sensors.track import TRACK_BYTES_MAX, Track
from device.tripsource import replayed_trip
from device.wayseal_device import main
from support.trucks.truck import HEADER, write_log

GPX = '<gpx version="1.1" creator="t"><trk><trkseg>{}</trkseg></trk></gpx>'


def log(folder: Path, text: str | bytes) -> Path:
    path = folder / "log.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_by_name_in_any_case_and_order(tmp_path: Path) -> None:
    text = (
        "\ufeffhumidity,Extra,TIMESTAMP,Temperature,motion,Pressure,latitude,LONGITUDE,Tamper\r\n"
        '57.5,"x,y",2022-01-31T12:00:00+01:00,-0.0125,1,1013.6,-6.833,152.03200005,2\r\n'
        ",,2022-01-31 11:00:00.250,,,,,,SHOCK|light\n\n"
        "0,,2022-01-31 11:00:00.250,1e1,0,0,0,0,"
    )
    samples = list(CsvReplay.check(log(tmp_path, text)).samples())
    first, second, third = samples
    assert (first.offset_ms, second.offset_ms, third.offset_ms) == (0, 250, 250)
    assert (first.temperature_mcel, first.humidity_mpct) == (-12, 57_500)
    assert first.pressure_pa == 101_360
    assert first.position == Position(-68_330_000, 1_520_320_000)
    assert first.tamper == Tamper.MOTION | Tamper.DOOR_OPEN
    assert (second.temperature_mcel, second.humidity_mpct, second.pressure_pa) == (None,) * 3
    assert second.position is None
    assert second.tamper == Tamper.SHOCK | Tamper.LIGHT
    assert (third.temperature_mcel, third.humidity_mpct, third.pressure_pa) == (10_000, 0, 0)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["", " ", " \t "])
def test_a_blank_line_is_no_row_wherever_it_stands(tmp_path: Path, blank: str, end: str) -> None:
    header, row = HEADER.strip(), ROW.strip()
    text = "\ufeff" + end.join([blank, blank, header, blank, row, row, blank, blank])
    replay = CsvReplay.check(log(tmp_path, text))
    assert replay.rows == len(list(replay.samples())) == 2
    broken = log(tmp_path, text + end + "x")
    with pytest.raises(RejectedError, match="line 9: expected 7 columns"):
        CsvReplay.check(broken)


@pytest.mark.parametrize("text", ["\n \n", " ", "\ufeff\n"])
def test_a_log_of_blank_lines_has_no_header(tmp_path: Path, text: str) -> None:
    with pytest.raises(RejectedError, match="expected a header, the file is empty"):
        CsvReplay.check(log(tmp_path, text))


def test_a_line_above_the_header_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="lines above the header must begin with #"):
        CsvReplay.check(log(tmp_path, "Device: RC-5\ntime,temperature\n2022-01-31 12:00:00,5\n"))


@pytest.mark.parametrize("head", [b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0"])
def test_a_spreadsheet_is_no_log(tmp_path: Path, head: bytes) -> None:
    book = tmp_path / "book.xlsx"
    book.write_bytes(head + bytes(100))
    with pytest.raises(RejectedError, match="a spreadsheet or an archive: save the table as CSV"):
        CsvReplay.check(book)
    assert main(["check", str(book)]) == 1


def test_rows_out_of_order_are_one_error(tmp_path: Path) -> None:
    text = "time,temperature\n" + "".join(
        f"2022-01-31 12:00:{second:02d},5\n" for second in (10, 20, 20, 5, 30, 4)
    )
    path = log(tmp_path, text)
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(path)
    assert str(caught.value) == (
        f"{path}: line 5: expected rows in order of time, got 2022-01-31T12:00:05.000Z after "
        f"2022-01-31T12:00:20.000Z in line 4: sort the rows by their time"
    )


ROW = "2022-01-31 12:00:00,47.0,15.4,5.0,50.0,1013.0,0\n"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (HEADER, "at least one row"),
        ("", "line 1"),
        (
            HEADER + ROW + ROW[:-3] + "\n",
            "line 3: expected 7 columns as in the header, got 6 (a cell is missing",
        ),
        (HEADER + ROW.replace("5.0,", "nine,"), "line 2, column 'Temperature': expected a decimal"),
        (HEADER + ROW.replace("5.0,", "inf,"), "column 'Temperature'"),
        (HEADER + ROW.replace("5.0,", "1_0,"), "column 'Temperature'"),
        (HEADER + ROW.replace("5.0,", "٣,"), "column 'Temperature'"),
        (HEADER + ROW.replace("5.0,", "1e99,"), "column 'Temperature'"),
        (HEADER + ROW.replace("5.0,", "-274,"), "column 'Temperature'"),
        (HEADER + ROW.replace("50.0", "100.1"), "column 'Humidity'"),
        (
            HEADER + ROW.replace("5.0,", "-999,"),
            "line 2, column 'Temperature': expected temperature within -273.15 to 1000 Cel, got",
        ),
        (HEADER + ROW.replace("5.0,", "-999,"), "got '-999': make the cell empty, or N/A, if"),
        (HEADER + ROW.replace("47.0", "-999"), "expected latitude within -90 to 90 deg"),
        (HEADER + ROW.replace("1013.0", "-1"), "column 'Pressure'"),
        (HEADER + ROW.replace("47.0", "90.1"), "column 'Latitude'"),
        (HEADER + ROW.replace("47.0", ""), "no latitude"),
        (HEADER + ROW.replace(",0\n", ",2\n"), "column 'Motion': expected 0 or 1, got '2'"),
        (HEADER + ROW.replace("01-31", "02-30"), "column 'Date/Time': expected a time"),
        (HEADER + ROW.replace("2022", "1969"), "column 'Date/Time'"),
        (HEADER + ROW.replace("2022-01-31 12:00:00", "2022-W05-1"), "column 'Date/Time'"),
        (HEADER + ROW + '"' + ROW, "line 3"),
        (HEADER + ROW + "x" * (LINE_BYTES_MAX + 1), "line 3: expected at most"),
        (
            HEADER.encode() + ROW.encode().replace(b"5.0", b"5\0"),
            "line 2: expected text, got NUL bytes",
        ),
        (HEADER.encode() + ROW.encode().replace(b"5.0", b"\xe9"), "line 2: expected UTF-8"),
        ("Date/Time,Time,Temperature\n", "one column named"),
        ("Date/Time,Temperature,temperature\n", "'temperature' once"),
        ("Date/Time,Compass\n", "expected a column"),
    ],
)
def test_a_broken_log_is_one_error_with_its_place(
    tmp_path: Path, text: str | bytes, named: str
) -> None:
    path = log(tmp_path, text)
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(path)
    assert str(path) in str(caught.value)
    assert named in str(caught.value)


def test_a_log_that_changes_while_it_is_replayed_is_noticed(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.csv", 3)
    replay = CsvReplay.check(path)
    path.write_text(path.read_text().replace("50.5", "50.6"))
    with pytest.raises(RejectedError, match="changed"):
        list(replay.samples())


def point(latitude: str, longitude: str, time: str | None) -> str:
    return f'<trkpt lat="{latitude}" lon="{longitude}">' + (
        f"<time>{time}</time></trkpt>" if time else "</trkpt>"
    )


def track(folder: Path, text: str) -> Path:
    path = folder / "track.gpx"
    path.write_text(text)
    return path


def test_a_track_is_stretched_over_the_trip(tmp_path: Path) -> None:
    points = point("10", "179.9", "2020-01-01T00:00:00Z") + point(
        "20", "-179.9", "2020-01-01T00:10:00Z"
    )
    loaded = Track.load(track(tmp_path, GPX.format(points)))
    assert loaded.at(0, 1_000) == Position(100_000_000, 1_799_000_000)
    assert loaded.at(250, 1_000) == Position(125_000_000, 1_799_500_000)
    assert loaded.at(1_000, 1_000) == Position(200_000_000, -1_799_000_000)
    assert loaded.at(0, 0) == Position(100_000_000, 1_799_000_000)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "expected GPX"),
        ("<gpx", "expected GPX"),
        (GPX.format(""), "at least one track point"),
        (GPX.format(point("1", "2", None)), "point 1: expected a time"),
        (GPX.format(point("91", "2", "2020-01-01T00:00:00Z")), "point 1: latitude"),
        (GPX.format(point("nan", "2", "2020-01-01T00:00:00Z")), "point 1: expected degrees"),
        (
            '<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>' + GPX.format("&b;"),
            "document type",
        ),
        (GPX.format(' xmlns:a="b"' * 100), "namespaces"),
        (" " * (TRACK_BYTES_MAX + 1), "at most"),
    ],
)
def test_a_broken_track_is_one_error(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(RejectedError, match=named):
        Track.load(track(tmp_path, text))


def test_the_simulated_trip_has_one_excursion_and_one_tamper_event() -> None:
    samples = list(SimulatedTrip().samples())
    assert len(samples) == 1_080
    hot = [
        number
        for number, sample in enumerate(samples)
        if sample.temperature_mcel is not None and sample.temperature_mcel > 8_000
    ]
    assert hot == list(range(hot[0], hot[-1] + 1))
    assert (len(hot) - 1) * 5 > 600
    calm = [item.temperature_mcel for item in samples[: hot[0]] + samples[hot[-1] + 1 :]]
    assert all(value is not None and 2_000 <= value <= 8_000 for value in calm)
    open_door = [number for number, sample in enumerate(samples) if sample.tamper]
    assert open_door == list(range(open_door[0], open_door[-1] + 1))
    assert {samples[number].tamper for number in open_door} == {Tamper.DOOR_OPEN}
    with pytest.raises(RejectedError, match="20"):
        SimulatedTrip(19)


def test_the_longest_simulated_trip_stays_on_earth() -> None:
    positions = [each.position for each in SimulatedTrip(MINUTES_MAX).samples()]
    assert len(positions) == MINUTES_MAX * 12  # a position beyond a pole is refused
    assert len(set(positions)) > len(positions) * 8 // 10


def test_simulated_files_replay_to_the_very_same_samples(tmp_path: Path) -> None:
    trip = SimulatedTrip(30, seed=9)
    files = write_trip(trip, tmp_path / "a")
    again = write_trip(trip, tmp_path / "b")
    assert files.readings.read_bytes() == again.readings.read_bytes()
    assert files.track.read_bytes() == again.track.read_bytes()
    assert list(CsvReplay.check(files.readings).samples()) == list(trip.samples())
    assert len(Track.load(files.track).times_ms) > 100
    size = files.video.stat().st_size
    assert size > 3 << 20
    assert size % (1 << 20)
    assert inspect(files.video).duration_ms == 12_000
    with pytest.raises(RejectedError, match="exists"):
        write_trip(trip, tmp_path / "a")


def test_films_that_are_none(tmp_path: Path) -> None:
    text = tmp_path / "film.avi"
    text.write_text("no film at all" * 100)
    for path in (text, tmp_path / "missing.avi", tmp_path):
        with pytest.raises(RejectedError, match="video"):
            ReplayCamera.check(path)


def test_the_same_film_twice_is_refused(tmp_path: Path) -> None:
    files = write_trip(SimulatedTrip(20), tmp_path)
    with pytest.raises(RejectedError, match="same bytes"):
        replayed_trip(files.readings, None, [files.video, files.video], None)
