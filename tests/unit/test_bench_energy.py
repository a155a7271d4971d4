"""Energy: which meter measures it, and which work it is charged to."""

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from storage.bench.commands.measuring import chosen_meter
from storage.bench.machine.power import (
    Metered,
    Sensor,
    WallMeter,
    metered,
    performance_to_power,
    sensors,
)
from storage.bench.machine.watch import AT_REST, RECORD
from storage.bench.run.outcome import Observation, Outcome, Work
from storage.bench.run.plan import Place
from support.bench.machines import (
    RAPL_RANGE_UJ,
    RATE,
    make_machine,
    rapl,
    several,
    stat,
    values,
    watched,
)
from support.machine.sysfs import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path)


def test_a_counter_that_stops_to_answer_is_no_energy(machine: Machine) -> None:
    rapl(machine, 2_000_000)
    found = metered(machine.kernel, None, None).meter
    assert found is not None
    joules = found.begin(at_rest=False)
    assert joules is not None
    place = machine.kernel.sys / "class" / "powercap" / "intel-rapl:0"
    held = (place / "energy_uj").read_text()
    (place / "energy_uj").unlink()
    assert joules() is None
    assert found.begin(at_rest=False) is None
    (place / "energy_uj").write_text(held)
    assert joules() == 0


def test_a_sensor_that_stops_to_answer_is_no_power(machine: Machine) -> None:
    chip = {"in1_input": 12_000, "curr1_input": 1500, "in1_label": "VDD_IN"}
    machine.write("class/hwmon/hwmon0", name="ina3221", **chip)
    found = metered(machine.kernel, None, None).meter
    assert found is not None
    joules = found.begin(at_rest=False)
    assert joules is not None
    (current,) = machine.root.rglob("curr1_input")
    current.unlink()
    assert joules() is None
    assert found.begin(at_rest=False) is None


def test_rapl_counts_package_and_memory_beyond_the_end_of_its_counter(machine: Machine) -> None:
    rapl(machine, RAPL_RANGE_UJ - 2_000_000)
    found = metered(machine.kernel, None, None)
    assert found.words == "rapl: processor and memory alone: package-0, dram"
    assert found.meter is not None
    joules = found.meter.begin(at_rest=False)
    assert joules is not None
    assert joules() == 0
    rapl(machine, 999_999, dram_uj=500_000)
    assert joules() == pytest.approx(3.5)
    rapl(machine, 2_999_999, dram_uj=500_000)
    assert joules() == pytest.approx(5.5)


def test_a_sensor_is_taken_to_change_evenly_between_two_looks(machine: Machine) -> None:
    machine.write("class/hwmon/hwmon2", name="ina226", power1_input=10_000_000)
    seconds = iter([0.0, 1.0, 3.0])
    (found,) = sensors(machine.kernel).values()
    joules = replace(found, clock=lambda: next(seconds)).begin(at_rest=False)
    assert joules is not None
    machine.write("class/hwmon/hwmon2", power1_input=20_000_000)
    assert joules() == 15
    assert joules() == 55


def test_a_chip_that_tells_volts_and_amperes(machine: Machine) -> None:
    chip = {"in1_input": 12_000, "curr1_input": 1500, "in1_label": "VDD_IN", "in2_input": 5000}
    machine.write("class/hwmon/hwmon0", name="ina3221", **chip)
    machine.write("class/hwmon/hwmon1", name="amdgpu", power1_input=99_000_000)
    (found,) = sensors(machine.kernel).values()
    assert (found.name, found.watts()) == ("hwmon0/ina3221/VDD_IN", 18)


def test_the_best_meter_is_taken_and_none_is_made_up(machine: Machine) -> None:
    wall = WallMeter(30, 12)
    assert metered(machine.kernel, None, None) == Metered(
        None, "absent: the processor has no RAPL counters here, and there is no power sensor"
    )
    kernel = several(machine)
    assert metered(kernel, None, None).meter is None
    assert "name one of the sensors ['hwmon0/ina219/power1'" in metered(kernel, None, None).words
    named = metered(kernel, None, "hwmon1/ina219/power1").meter
    assert isinstance(named, Sensor)
    assert named.watts() == 7
    with pytest.raises(RejectedError, match=r"expected a power sensor of .*, got 'x'"):
        metered(kernel, None, "x")
    rapl(machine, 5)
    assert metered(kernel, None, None).words.startswith("rapl: ")
    assert metered(kernel, wall, None).words == (
        "wall: the whole machine, typed in: 30 W working, 12 W at rest"
    )


def test_counters_that_may_not_be_read_are_no_meter(machine: Machine) -> None:
    rapl(machine, 5)
    (machine.root / "sys/class/powercap/intel-rapl:0/energy_uj").unlink()
    assert "root alone" in metered(machine.kernel, None, None).words


def test_a_reading_at_the_wall_at_rest_is_asked_for_at_rest_alone() -> None:
    seconds = iter([0.0, 2.0])
    working = WallMeter(30, None, lambda: next(seconds)).begin(at_rest=False)
    assert working is not None
    assert working() == 60
    assert WallMeter(30).begin(at_rest=True) is None
    seconds = iter([0.0, 2.0])
    resting = WallMeter(30, 12, lambda: next(seconds)).begin(at_rest=True)
    assert resting is not None
    assert resting() == 24


def test_performance_to_power_is_what_a_joule_does() -> None:
    assert performance_to_power(300.0, 60.0) == 5.0


def test_only_what_counts_is_charged_to_the_work(machine: Machine) -> None:
    def execute(place: Place) -> Outcome:
        stat(machine, user=1000)
        with place.counted():
            stat(machine, user=1000, softirq=400)
        stat(machine, user=9000, softirq=400)
        return Outcome([], work=Work(bytes_moved=2_000_000_000, transactions=8))

    found = values(watched(machine, execute))
    assert found == pytest.approx({"cpu-busy": 4, "cpu-per-gb": 2, "cpu-per-transaction": 0.5})


def test_without_a_part_that_counts_everything_does(machine: Machine) -> None:
    def execute(_: Place) -> Outcome:
        stat(machine, user=1000)
        return Outcome([])

    outcome = watched(machine, execute)
    assert values(outcome) == pytest.approx({"cpu-busy": 10})
    record = json.loads(outcome.attachments[RECORD])
    assert record["cpu"]["user_s"] == pytest.approx(10)
    assert record["joules"] is None


def test_energy_is_labelled_with_its_source_and_gives_performance_per_watt(
    machine: Machine,
) -> None:
    rapl(machine, 0)

    def execute(_: Place) -> Outcome:
        rapl(machine, 8_000_000, dram_uj=2_000_000)
        return Outcome([Observation(RATE, 50.0)])

    found = values(watched(machine, execute, metered(machine.kernel, None, None)))
    assert found["energy-rapl"] == pytest.approx(10)
    assert found["rate-per-joule-rapl"] == pytest.approx(50 / found["power-rapl"])


def test_at_rest_a_wall_meter_that_nobody_read_then_says_nothing(machine: Machine) -> None:
    def rest(_: Place) -> Outcome:
        return Outcome([])

    wall = Metered.by(WallMeter(30))
    assert "power-wall" in values(watched(machine, rest, wall))
    assert "power-wall" not in values(watched(machine, rest, wall, AT_REST))


def test_only_a_reading_at_rest_is_too_little() -> None:
    options = Namespace(wall_watts=None, idle_watts=5.0, power_sensor=None)
    with pytest.raises(RejectedError, match="expected --wall-watts with --idle-watts"):
        chosen_meter(options)
    options = Namespace(wall_watts=5.0, idle_watts=6.0, power_sensor=None)
    with pytest.raises(RejectedError, match="expected at most 5 W at rest, got 6"):
        chosen_meter(options)
