"""The truck says which columns it uses, and departs without a limited quantity only if told to."""

import logging
from pathlib import Path

import pytest

from device.agent import Agent
from device.settings_file import load
from device.station import load_signer
from device.stop import Stop
from support.ledgers.hosts import DirectHost, apply_all, rules_found
from support.network.world import registrations
from support.trucks.truck import HEADER, Truck, walk, write_log

pytestmark = pytest.mark.integration


def renamed(path: Path, name: str) -> Path:
    path.write_text(write_log(path, 40).read_text().replace("Temperature", name, 1))
    return path


def test_a_column_that_is_not_known_does_not_vanish(tmp_path: Path) -> None:
    truck = Truck(tmp_path)
    near = renamed(tmp_path / "near.csv", "T")
    code, out, err = truck.run("record", "--readings", near)
    assert (code, out) == (1, "")
    assert "write --map temperature=T;" in err
    made = truck.must("record", "--readings", near, "--map", "temperature=T")
    used = {each["as"]: each for each in made["columns"]["used"]}
    assert used["temperature"] == {
        "column": "T",
        "as": "temperature",
        "unit": "Cel",
        "values": 40,
        "range": "from 4.000 to 6.900 Cel",
    }
    start, records, _ = walk(truck.batches())
    assert start is not None
    assert start.derived_from[1].name == "--map temperature=T"
    assert {record.HasField("temperature_mcel") for record in records} == {True}


def test_the_ledger_says_that_a_truck_departed_without(tmp_path: Path) -> None:
    truck = Truck(tmp_path)
    other = renamed(tmp_path / "other.csv", "Wetness")
    code, _, err = truck.run("record", "--readings", other)
    assert code == 1
    assert "--without temperature to depart all the same" in err
    assert truck.must("status")["trips"] == []
    code, _, err = truck.run("record", "--readings", other, "--without", "temperature")
    assert code == 0
    assert "ignored columns: 'Wetness'\n" in err
    start, _, _ = walk(truck.batches())
    assert start is not None
    assert [(each.role, each.name) for each in start.derived_from] == [
        ("readings", "other.csv"),
        ("options", "--without temperature"),
    ]
    host = DirectHost()
    apply_all(host, registrations())
    assert "quantity-missing" in rules_found(apply_all(host, truck.batches()))


def test_settings_say_what_is_limited_and_how_to_read(tmp_path: Path) -> None:
    log = renamed(tmp_path / "log.csv", "T")
    source = f'[source]\ndriver = "replay"\nreadings = "{log}"\n'
    mapped = Truck(tmp_path / "a", source + 'map = ["temperature=T"]\n')
    assert mapped.must("record", "--readings", log)["readings"] == 40
    left = Truck(tmp_path / "b", source + 'without = ["temperature"]\n', trip="limited = []\n")
    assert left.must("record", "--readings", log)["readings"] == 40
    no_limit = renamed(tmp_path / "log.csv", "Wetness")
    free = Truck(tmp_path / "c", trip='limited = ["humidity"]\n')
    assert free.must("record", "--readings", no_limit)["readings"] == 40


@pytest.mark.parametrize("name", ["T", "Wetness"])
def test_an_agent_does_not_depart_either(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    log = renamed(tmp_path / "log.csv", name)
    truck = agents(tmp_path, log)
    settings = load(truck.config, {})
    stop = Stop()
    agent = Agent(settings, load_signer(settings), stop)
    agent._record()  # noqa: SLF001 - without the offload loop, which needs a gateway
    assert "nothing is recorded: " in caplog.text
    assert "--without temperature" in caplog.text


def test_an_agent_says_that_its_source_was_recorded_before(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    truck = agents(tmp_path, renamed(tmp_path / "log.csv", "Temperature"))
    settings = load(truck.config, {})
    caplog.set_level(logging.INFO, "device")
    for _ in range(2):
        assert "nothing new to record" not in caplog.text
        agent = Agent(settings, load_signer(settings), Stop())
        agent._record()  # noqa: SLF001 - without the offload loop, which needs a gateway
    (trip,) = truck.must("status")["trips"]
    assert f"nothing new to record: trip {trip['trip']}, which started at 20" in caplog.text


def agents(folder: Path, log: Path) -> Truck:
    assert HEADER.split(",")[3] == "Temperature"
    return Truck(
        folder,
        '[gateway]\nmqtt = "127.0.0.1:1"\nrest = "http://127.0.0.1:1"\ntoken = "t"\n'
        f'public_keys = ["02{"0" * 64}"]\n[source]\ndriver = "replay"\nreadings = "{log}"\n'
        'speed = "max"\n',
    )
