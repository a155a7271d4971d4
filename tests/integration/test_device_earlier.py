"""A trip that was stopped or closed early: what the truck says of it, and what to do next."""

import logging
import signal
from pathlib import Path

import pytest

from device.agent import Agent
from device.commands.simulate import TripFiles
from device.settings_file import load
from device.station import load_signer
from device.stop import Stop
from support.machine.waiting import wait_until
from support.trucks.truck import Truck, write_log

pytestmark = pytest.mark.integration

ROWS = 120


def agents(folder: Path, source: str) -> Truck:
    """Return a truck with a source, and a gateway that no test needs."""
    return Truck(
        folder,
        '[gateway]\nmqtt = "127.0.0.1:1"\nrest = "http://127.0.0.1:1"\ntoken = "t"\n'
        f'public_keys = ["02{"0" * 64}"]\n[source]\n{source}speed = "max"\n',
    )


def replaying(log: Path) -> str:
    return f'driver = "replay"\nreadings = "{log}"\n'


def stop_early(truck: Truck, *words: str | Path) -> int:
    """Stop `record` in real time after its first readings; return how many the trip has."""
    with truck.start("record", *words, "--speed", "1") as process:
        wait_until(lambda: any(trip["readings"] for trip in truck.must("status")["trips"]))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    return int(truck.must("status")["trips"][-1]["readings"])


def run_once(truck: Truck) -> None:
    """Let the agent record, without its offload, which needs a gateway."""
    agent = Agent(settings := load(truck.config, {}), load_signer(settings), Stop())
    agent._record()  # noqa: SLF001 - see above


def test_a_trip_that_was_closed_early_is_not_said_to_be_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = write_log(tmp_path / "log.csv", ROWS)
    truck = agents(tmp_path / "truck", replaying(log))
    count = stop_early(truck, "--readings", log)
    assert 0 < count < ROWS
    code, out, err = truck.run("close")
    assert (code, f"sealed: {count} reading" in out) == (0, True)
    assert f"was closed after {count} of {ROWS} readings of its log" in err
    assert "`wayseal-device record --again` records all of it as one more trip" in err
    code, _, err = truck.run("record", "--readings", log)
    assert (code, f"was closed after {count} of {ROWS} readings of the same log" in err) == (
        1,
        True,
    )
    assert "--again` records all of it as one more trip" in err
    caplog.set_level(logging.INFO, "device")
    run_once(truck)
    (line,) = caplog.records
    assert line.levelno == logging.WARNING
    assert f"was closed after {count} of {ROWS} readings of this source" in line.message
    caplog.clear()
    assert truck.must("record", "--readings", log, "--again")["readings"] == ROWS
    _, _, err = truck.run("record", "--readings", log)
    assert f"was recorded from the same log to its end, {ROWS} readings" in err
    run_once(truck)
    (line,) = caplog.records
    assert line.levelno == logging.INFO
    assert f"was recorded from this source to its end, {ROWS} readings" in line.message


def test_a_simulated_trip_knows_its_length_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    truck = agents(tmp_path, 'driver = "simulated"\nminutes = 20\n')
    caplog.set_level(logging.INFO, "device.agent")
    run_once(truck)
    run_once(truck)
    assert "was recorded from this source to its end, 240 readings" in caplog.text


def test_close_says_what_it_cannot_know(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", ROWS)
    truck = Truck(tmp_path / "truck")
    count = stop_early(truck, "--readings", log)
    code, _, err = truck.run("close")
    assert code == 0
    assert f"was closed after {count} readings (readings log.csv): what its source has" in err
    assert "if anything, is not recorded" in err


def test_close_of_a_trip_with_other_options_needs_no_log_that_can_be_read(tmp_path: Path) -> None:
    log, other = write_log(tmp_path / "log.csv", ROWS), write_log(tmp_path / "other.csv", 7)
    truck = agents(tmp_path / "a", replaying(other))
    stop_early(truck, "--readings", log)
    other.unlink()
    code, _, err = truck.run("close")
    assert (code, "what its source has after them" in err) == (0, True)
    broken = agents(tmp_path / "b", replaying(write_log(other, 7)))
    stop_early(broken, "--readings", log)
    code, _, err = broken.run("close")
    assert (code, "what its source has after them" in err) == (0, True)


def test_an_open_trip_of_the_same_log_is_named_with_its_files(
    tmp_path: Path, files: TripFiles
) -> None:
    log = write_log(tmp_path / "log.csv", ROWS)
    truck = Truck(tmp_path / "truck")
    words = ("--readings", log, "--video", files.video)
    count = stop_early(truck, *words)
    for again in ([], ["--again"]):
        code, _, err = truck.run("record", "--readings", log, *again)
        assert code == 1
        assert f"still open with {count} readings of this log" in err
        assert f"(readings log.csv, video {files.video.name})" in err
        assert "repeat the command that began it to go on" in err
        assert "`wayseal-device close` seals it as it is" in err
        assert "recorded from the same log" not in err
    other = write_log(tmp_path / "other.csv", 5)
    _, _, err = truck.run("record", "--readings", other)
    assert f"still open with {count} readings of other input (readings log.csv, video" in err
    assert truck.must("record", *words)["readings"] == ROWS
