"""What a log can be read as and yet is doubtful is told: what is missing, and what is unlikely."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from device.sensors.mapping import LogOptions
from device.sensors.replay_csv import CsvReplay
from device.wayseal_device import main

START = datetime(2026, 3, 5, 8, tzinfo=UTC)


def notes(
    folder: Path,
    header: str,
    values: Sequence[str],
    seconds: Iterable[int] | None = None,
    start: datetime = START,
) -> str:
    path = folder / "log.csv"
    times = (start + timedelta(seconds=each) for each in seconds or range(0, 10 * len(values), 10))
    rows = [f"{time.isoformat()},{each}" for time, each in zip(times, values, strict=True)]
    path.write_text("\n".join([f"Time,{header}", *rows, ""]))
    return "\n".join(CsvReplay.check(path, LogOptions.parse((), ())).contents.notes())


def test_an_ordinary_log_raises_no_doubt(tmp_path: Path) -> None:
    header = "Temperature,Humidity,Pressure,Latitude,Longitude"
    assert not notes(tmp_path, header, ["-18.5,55,1013,48.2,16.4"] * 20)


def test_rows_without_a_value_are_counted(tmp_path: Path) -> None:
    said = notes(tmp_path, "Temperature,Humidity", ["4.2,55", *[",55"] * 49])
    assert said == "temperature: 49 of 50 rows have none"


@pytest.mark.parametrize(
    ("header", "value", "doubt"),
    [
        ("Temperature", "-127", "temperature outside -100 to 100 Cel in 1 of 20 rows"),
        ("Temperature", "277.4", "--map temperature/K=Temperature"),
        ("Humidity", "0.55", "humidity outside 1 to 100 % in 1 of 20 rows"),
        ("Humidity", "0.55", "--map humidity/1=Humidity"),
        ("Pressure", "0", "pressure outside 300 to 1100 hPa in 1 of 20 rows"),
    ],
)
def test_values_that_no_truck_meets(tmp_path: Path, header: str, value: str, doubt: str) -> None:
    usual = {"Temperature": "4.2", "Humidity": "55", "Pressure": "1013"}[header]
    assert doubt in notes(tmp_path, header, [*[usual] * 19, value])


def test_a_position_of_zero_is_no_fix(tmp_path: Path) -> None:
    said = notes(tmp_path, "Temperature,Latitude,Longitude", ["4,0,0", "4,0,0", "4,48.2,16.4"])
    assert said.startswith("latitude 0, longitude 0 in 2 of 3 rows")


def test_a_gap_is_told_with_its_ends(tmp_path: Path) -> None:
    seconds = [*range(0, 200, 10), *range(32_400, 32_600, 10)]
    said = notes(tmp_path, "Temperature", ["4.2"] * 40, seconds)
    assert said == (
        "no row for 8:56:50, from 2026-03-05T08:03:10.000Z to 2026-03-05T17:00:00.000Z, "
        "while rows are about 10 s apart: were readings lost, or was the clock set?"
    )


def test_rows_of_one_moment_are_counted(tmp_path: Path) -> None:
    said = notes(tmp_path, "Temperature", ["4.2"] * 4, [0, 0, 10, 10])
    assert said == "2 rows have the same time as the row before them"


@pytest.mark.parametrize(("year", "doubt"), [(1970, "before 2000"), (2998, "in the future")])
def test_a_clock_that_was_not_set(tmp_path: Path, year: int, doubt: str) -> None:
    assert doubt in notes(tmp_path, "Temperature", ["4.2"] * 9, start=START.replace(year=year))


@pytest.mark.parametrize("option", ["--readings", "--track"])
def test_a_second_log_or_track_replaces_no_first_one(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = [] if option == "--readings" else ["--readings", "c.csv"]
    with pytest.raises(SystemExit):
        main(["record", *log, option, "a", option, "b"])
    assert f"argument {option}: expected once, got a and b" in capsys.readouterr().err


def test_several_logs_are_several_trips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text("Time,Temperature\n2026-03-05 08:00:00,4.2\n")
    assert main(["check", *map(str, paths)]) == 0
    assert "a trip takes one log: these 2 are looked at each for itself" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "cell"), [("4.5\n10:10,4.4\n10:20,4.", "4."), ("4", "4")])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_last_line_without_its_end_may_be_cut(
    tmp_path: Path, text: str, cell: str, encoding: str
) -> None:
    log = ("Time,Temperature\n10:00," + text).replace("10:", "2026-03-05 10:")
    (path := tmp_path / "log.csv").write_text(log, encoding)
    (said,) = CsvReplay.check(path, LogOptions.parse((), (), timezone="UTC")).contents.notes()[1:]
    number = 1 + log.count("\n")
    assert (
        said == f"line {number} has no end: if the log was cut, its last cell {cell!r} may be too"
    )
    path.write_text(f"{log}\n", encoding)
    assert "has no end" not in "".join(CsvReplay.check(path).contents.notes())


def test_degrees_fahrenheit_that_could_be_celsius_are_suspected(tmp_path: Path) -> None:
    said = notes(tmp_path, "Temperature", ["36.5", "41", "46.4"])
    assert said == (
        "temperature is from 36.500 to 46.400 Cel in all rows, hot for goods: if the log is in "
        "degrees Fahrenheit (2.5 to 8.0 Cel), write --map temperature/degF=Temperature"
    )
    assert not notes(tmp_path, "Temperature", ["29.9", "41", "46.4"])
    path = tmp_path / "log.csv"
    for comment, suspected in (("unit: °F", True), ("Fahrenheit", True), ("F. Huber", False)):
        path.write_text(f"# {comment}\nTime,Temperature\n2026-03-05 10:00Z,20\n")
        found = "\n".join(CsvReplay.check(path).contents.notes())
        assert (
            "20.000 Cel in all rows, and a comment above the header speaks of Fahr" in found
        ) == suspected
