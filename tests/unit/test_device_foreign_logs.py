"""Logs as other people's loggers write them, whole: refused with the maps to write, then read."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from device.sensors.mapping import LogOptions
from device.sensors.replay_csv import CsvReplay

ROWS = 24_604
"""As many as a Sense HAT on the space station wrote in 34 hours, one every 5 s."""
START = datetime(2022, 1, 31, 12, 21, 15)  # noqa: DTZ001 - the log names no zone
SENSE_HAT = "ROW_ID,pitch,roll,yaw,{name},temp_p,humidity,pressure,mag_x,accel_x,reset,time_stamp"
EXPORT = "Zeit;Temperatur;Luftfeuchte;Druck"


def sense_hat(path: Path, name: str) -> Path:
    rows = (
        f"{row + 1},0,360,117,{32 + row % 10 / 10},33.1,57.5,1013.6,-5.4,0,0,"
        f"{START + timedelta(seconds=5 * row)}"
        for row in range(ROWS)
    )
    path.write_text("\n".join([SENSE_HAT.format(name=name), *rows]) + "\n", "utf-8")
    return path


def export(path: Path) -> Path:
    rows = (
        f"{START + timedelta(seconds=5 * row):%d.%m.%Y %H:%M:%S};4,{row % 10};57,5;1013,6"
        for row in range(300)
    )
    path.write_text("\r\n".join([EXPORT, *rows]) + "\r\n", "utf-8")
    return path


def values(log: CsvReplay) -> dict[str, int]:
    return {name: count for name, count in log.contents.values.items() if count}


@pytest.mark.parametrize("name", ["temp_h", "T"])
def test_a_sense_hat_log(tmp_path: Path, name: str) -> None:
    path = sense_hat(tmp_path / "log.csv", name)
    maps = ("time=time_stamp", f"temperature={name}")
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(path)
    assert f"write --map {maps[0]} --map {maps[1]} (or else --map temperature=temp_p)" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)
    log = CsvReplay.check(path, LogOptions.parse(maps, ()))
    assert values(log) == {"temperature": ROWS, "humidity": ROWS, "pressure": ROWS}
    assert log.duration_ms == 5_000 * (ROWS - 1)
    assert any("ROW_ID" in line for line in log.contents.lines() if line.startswith("ignored"))


def test_an_export_with_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    path = export(tmp_path / "export.csv")
    maps = ("time=Zeit", "temperature=Temperatur", "humidity=Luftfeuchte", "pressure=Druck")
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(path)
    assert "write " + " ".join(f"--map {each}" for each in maps) + ";" in str(caught.value)
    log = CsvReplay.check(path, LogOptions.parse(maps, ()))
    assert values(log) == {"temperature": 300, "humidity": 300, "pressure": 300}
    first = next(iter(log.samples()))
    assert (first.temperature_mcel, log.duration_ms) == (4_000, 5_000 * 299)
