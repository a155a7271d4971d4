"""`wayseal-device check` says what files would give, and refuses what `record` would refuse."""

import json
from pathlib import Path

import pytest

from device.commands.simulate import TripFiles, write_trip
from device.sensors.simulated import SimulatedTrip
from device.wayseal_device import main


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TripFiles:
    return write_trip(SimulatedTrip(20), tmp_path_factory.mktemp("trip"))


def test_every_kind_of_file(files: TripFiles, capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(files.readings), str(files.track), str(files.video)]
    assert main(["check", *names, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in document["files"]] == ["csv", "gpx", "video"]
    log, track, video = document["files"]
    assert log["rows"] == 240
    assert log["columns"]["ignored"] == ["Latitude", "Longitude"]  # the track gives positions
    assert track["points"] > 1
    assert video["bytes"] == files.video.stat().st_size
    assert main(["check", *names]) == 0
    assert f"{files.readings}: temperature [Cel] from column" in capsys.readouterr().out


def test_all_that_is_wrong_is_said_and_the_rest_too(
    files: TripFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near = tmp_path / "near.csv"
    near.write_text("Time,T\n2022-01-31 12:00:00,4\n")
    arguments = [str(near), str(tmp_path / "no.csv"), str(files.track), "--limited", "temperature"]
    assert main(["check", *arguments]) == 1
    said = capsys.readouterr()
    assert "GPX, " in said.out
    assert "write --map temperature=T;" in said.err
    assert "no.csv" in said.err
    assert main(["check", *arguments, "--map", "temperature=T"]) == 1
    said = capsys.readouterr()
    assert "temperature [Cel] from column 'T', 1 value" in said.out
    assert "near.csv" not in said.err


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"\xef\xbb\xbf\n<?xml version='1.0'?>", "expected GPX", 1),
        (b"RIFF\0\0", "without it: video", 0),  # a bad video refuses no trip
        (b"Time", "a column Temperature", 1),
    ],
)
def test_a_file_is_known_by_how_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, kind: str, status: int
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert main(["check", str(path)]) == status
    said = capsys.readouterr()
    assert kind in said.out + said.err
