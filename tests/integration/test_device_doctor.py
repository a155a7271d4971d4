"""`wayseal-device doctor` on real cards, and beside an agent that runs."""

import json
import os
import signal
from pathlib import Path

import pytest

from contracts.runtime.checks import Severity
from contracts.runtime.files import holder_of, locked
from device.doctor import room
from support.machine.mounts import run, tmpfs
from support.trucks.rogue import until
from support.trucks.truck import Truck, write_log

pytestmark = pytest.mark.integration


def test_a_card_that_is_full_or_read_only(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "card", "64m") as card:
        assert room.card(card, 0).severity is Severity.OK
        (card / "big").write_bytes(bytes(56 << 20))
        full = room.card(card, 0)
        assert full.severity is Severity.ERROR
        assert full.words.endswith("free: it is full")
        (card / "big").unlink()
        run("mount", "-o", "remount,ro", card)
        read_only = room.card(card, 0)
        assert read_only.severity is Severity.ERROR
        assert "is mounted read-only: nothing is recorded" in read_only.words
        run("mount", "-o", "remount,rw", card)
        assert room.card(card, 0).severity is Severity.OK


SENSORS = (
    '[source]\ndriver = "sensors"\n[presence]\nby = "file"\nfile = "presence"\n'
    '[[sensors]]\nname = "cargo"\ndriver = "iio"\nchip = "no-such-chip"\n'
)


def test_a_truck_whose_card_is_read_only_is_looked_at_all_the_same(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "card", "32m") as card:
        truck = Truck(card / "truck", SENSORS)
        truck.must("record", "--readings", write_log(card / "log.csv", 12))
        run("mount", "-o", "remount,ro", card)
        code, out, _ = truck.run("doctor", "--offline", "--json")
        found = {each["subject"]: each for each in json.loads(out)}
    assert code == 1
    assert "is mounted read-only: nothing is recorded" in found["card"]["words"]
    assert "expected a chip 'no-such-chip'" in found["sensor cargo"]["words"]
    assert "says the agent" not in found["sensor cargo"]["words"]


def test_a_lock_on_another_card_with_the_same_inode_is_not_taken_for_this_one(
    tmp_path: Path,
) -> None:
    with tmpfs(tmp_path / "one", "1m") as one, tmpfs(tmp_path / "other", "1m") as other:
        ours, theirs = one / "lock", other / "lock"
        with locked(ours, "held"):
            theirs.touch()
            assert theirs.stat().st_ino == ours.stat().st_ino
            assert holder_of(ours) == os.getpid()
            assert holder_of(theirs) is None


def test_the_doctor_names_the_agent_and_a_second_one_does_not_start(tmp_path: Path) -> None:
    sections = (
        '[[gateways]]\nsite_id = "site-b"\nmqtt = "127.0.0.1:9"\nrest = "http://127.0.0.1:9"\n'
        f'public_keys = ["02{"a" * 64}"]\ngenesis_block_id = "{"b" * 128}"\n'
    )
    sections += SENSORS
    truck = Truck(tmp_path / "truck", sections)
    (truck.folder / "presence").write_text("present")
    with truck.start("run") as agent:
        try:
            until("the agent has its lock", (truck.data / "agent.lock").exists)
            code, out, _ = truck.run("doctor", "--offline", "--json")
            found = {each["subject"]: each for each in json.loads(out)}
            assert code == 1
            assert found["agent"]["words"] == f"it runs, process {agent.pid}"
            assert found["journey"]["words"] == "the truck is docked"
            assert found["sensor cargo"]["severity"] == "error"
            assert "dtoverlay" in found["sensor cargo"]["remedy"]
            code, _, err = truck.run("run")
            assert (code, err.count("\n")) == (1, 1)
            assert "another `wayseal-device run` is there" in err
        finally:
            agent.send_signal(signal.SIGTERM)
            agent.communicate(timeout=60)
    _, said, _ = truck.run("doctor", "--offline")
    assert "warning  agent: it does not run: nothing is recorded" in said
    assert "         remedy: systemctl start wayseal-device" in said
