"""A column is used by its exact name or by --map, and none vanishes in silence."""

import json
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from device.sensors.mapping import ColumnMap, LogOptions
from device.sensors.replay_csv import CsvReplay
from device.tripsource import replayed_trip

SENSE_HAT = "time_stamp,temp_h,temp_p,humidity,pressure,pitch,roll,yaw,mag_x,accel_x,gyro_x,reset"


def log(folder: Path, header: str, *rows: str) -> Path:
    path = folder / "log.csv"
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


def options(*maps: str, without: tuple[str, ...] = ()) -> LogOptions:
    return LogOptions.parse(maps, without)


@pytest.mark.parametrize(
    ("header", "remedy"),
    [
        ("Time,Temperature (°C)", "--map 'temperature=Temperature (°C)'"),
        ("Time,Temperature (°F)", "--map 'temperature/degF=Temperature (°F)'"),
        ("Time,Temp [K]", "--map 'temperature/K=Temp [K]'"),
        ("Time,temp", "--map temperature=temp"),
        ("Time,T", "--map temperature=T"),
        ("Time,T1", "--map temperature=T1"),
        ("Time,Temprature", "--map temperature=Temprature"),
        ("Time,Innentemperatur", "--map temperature=Innentemperatur"),
        ("Time,Temperature,RH %", "--map 'humidity=RH %'"),
        ("Time,Temperature,Luftdruck kPa", "--map 'pressure/kPa=Luftdruck kPa'"),
        ("Time,Temperature,lat,lng", "--map latitude=lat --map longitude=lng"),
        ("Time,Temperature,PIR", "--map motion=PIR"),
        ("Datum,Temperature", "--map time=Datum"),
        (SENSE_HAT, "--map time=time_stamp --map temperature=temp_h (or else --map temperature="),
    ],
)
def test_a_near_name_is_refused_with_the_map_to_write(
    tmp_path: Path, header: str, remedy: str
) -> None:
    path = log(tmp_path, header, ",".join(["2022-01-31 12:00:00", *["1"] * header.count(",")]))
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(path)
    assert f"write {remedy}" in str(caught.value)
    assert repr(header) in str(caught.value)


def test_no_name_of_another_thing_is_near(tmp_path: Path) -> None:
    header = (
        "Date/Time,Temperature,Altitude,Compass,MagX,Pitch,Roll,Yaw,AccelX,R,G,B,C,attempts,speed"
    )
    path = log(tmp_path, header, "2022-01-31 12:00:00,5" + ",1" * 13)
    document = CsvReplay.check(path).contents.document()
    assert document["ignored"] == header.split(",")[2:]


def test_a_value_that_stands_for_none_is_named_in_the_log_s_unit(tmp_path: Path) -> None:
    path = log(tmp_path, "Time,Temp (°F)", "2022-01-31 12:00:00,-999")
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(path, options("temperature/degF=Temp (°F)"))
    said = (
        "line 2, column 'Temp (°F)': expected temperature within -459.67 to 1832 degF, got '-999'"
    )
    assert said in str(caught.value)


def test_what_is_used_and_what_is_ignored_is_said(tmp_path: Path) -> None:
    rows = ("2022-01-31 12:00:00,39.2,,50,1", "2022-01-31 12:00:05,41,1,51,1")
    path = log(tmp_path, "when,Temp (°F),Humidity,Pressure,Other", *rows)
    how = options("time=when", "temperature/degF=Temp (°F)", "pressure/kPa=Pressure")
    replay = CsvReplay.check(path, how)
    assert replay.contents.lines() == [
        "time from column 'when'",
        "temperature [degF] from column 'Temp (°F)', 2 values from 4.000 to 5.000 Cel",
        "humidity [%] from column 'Humidity', 1 value from 1.000 to 1.000 %",
        "pressure [kPa] from column 'Pressure', 2 values from 500.00 to 510.00 hPa",
        "ignored columns: 'Other'",
        "2 times are without a zone and read as UTC (--timezone names another)",
        "humidity: 1 of 2 rows have none",
    ]
    columns = json.loads(json.dumps(replay.contents.document()))
    assert [(each["as"], each["column"]) for each in columns["used"]] == [
        ("time", "when"),
        ("temperature", "Temp (°F)"),
        ("humidity", "Humidity"),
        ("pressure", "Pressure"),
    ]
    assert columns["ignored"] == ["Other"]
    assert [sample.temperature_mcel for sample in replay.samples()] == [4_000, 5_000]


@pytest.mark.parametrize(
    ("header", "maps", "without", "named"),
    [
        ("Time,T", ("temperature=X",), (), "expected one column 'X', got 0 in 'Time,T'"),
        ("Time,T,T", ("temperature=T",), (), "expected one column 'T', got 2"),
        ("Time,T °F", ("temperature=T °F",), (), "--map 'temperature/degF=T °F'"),
        ("Time,Motion", (), ("motion",), "leave out --without motion"),
        ("Time,Timestamp,Motion", (), (), "write --map time=Time or --map time=Timestamp"),
        ("Time,Timestamp,lat,Motion", (), (), "expected one column named"),
    ],
)
def test_options_that_do_not_fit(
    tmp_path: Path, header: str, maps: tuple[str, ...], without: tuple[str, ...], named: str
) -> None:
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(log(tmp_path, header), options(*maps, without=without))
    assert named in str(caught.value)


def test_a_sensor_that_gave_nothing_may_be_left_out_and_one_that_gave_may_not(
    tmp_path: Path,
) -> None:
    how = options(without=("temperature",))
    rows = ("2022-01-31 12:00:00,N/A,40", "2022-01-31 12:00:05,,41")
    dead = CsvReplay.check(log(tmp_path, "Time,Temperature,Humidity", *rows), how)
    assert "temperature [Cel] from column 'Temperature', 0 values" in dead.contents.lines()
    path = log(tmp_path, "Time,Temperature,Humidity", *rows, "2022-01-31 12:00:10,4,41")
    with pytest.raises(RejectedError, match="gives temperature: leave out --without temperature"):
        CsvReplay.check(path, how)


def test_rows_without_any_value_are_told_and_end_no_log(tmp_path: Path) -> None:
    rows = ("2022-01-31 12:00:00,5,1", ",,", " , ,")
    replay = CsvReplay.check(log(tmp_path, "Time,Temperature,Humidity", *rows))
    assert replay.rows == len(list(replay.samples())) == 1
    assert "2 rows are without any value and ignored" in replay.contents.lines()


@pytest.mark.parametrize(
    ("maps", "without"),
    [
        (("temperature=a", "temperature=b"), ()),
        (("temperature=a", "humidity=a"), ()),
        (("latitude=a",), ("position",)),
    ],
)
def test_options_that_contradict_each_other(
    maps: tuple[str, ...], without: tuple[str, ...]
) -> None:
    with pytest.raises(RejectedError, match="expected"):
        options(*maps, without=without)


@pytest.mark.parametrize("text", ["", "T", "=T", "temperature=", "heat=T", "temperature/F=T"])
def test_a_malformed_map(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        ColumnMap.parse(text)


def test_without_lets_near_names_go_and_a_map_wins(tmp_path: Path) -> None:
    path = log(tmp_path, "Time,T,Temperature,Motion", "2022-01-31 12:00:00,4,9,1")
    (sample,) = CsvReplay.check(path, options("temperature=T")).samples()
    assert sample.temperature_mcel == 4_000
    path = log(tmp_path, "Time,T,Motion", "2022-01-31 12:00:00,4,1")
    (sample,) = CsvReplay.check(path, options(without=("temperature",))).samples()
    assert sample.temperature_mcel is None


def test_a_source_gives_what_deliveries_limit_or_does_not_depart(tmp_path: Path) -> None:
    empty = log(tmp_path, "Time,Temperature,Humidity", "2022-01-31 12:00:00,,50")
    source = replayed_trip(empty, None, [], None)
    source.check_gives(["humidity"])
    with pytest.raises(RejectedError, match="--without temperature to depart"):
        source.check_gives(["humidity", "temperature"])
    path = log(tmp_path, "Time,T,Humidity", "2022-01-31 12:00:00,3,50")
    without = replayed_trip(path, None, [], None, options(without=("temperature",)))
    without.check_gives(["temperature"])
    mapped = replayed_trip(path, None, [], None, options("temperature=T"))
    mapped.check_gives(["temperature"])
    assert [(each.role, each.name) for each in mapped.derived_from] == [
        ("readings", "log.csv"),
        ("options", "--map temperature=T"),
    ]
    assert len({without.input_id, mapped.input_id, source.input_id}) == 3
