"""What the machine is and what it goes through, read from recorded trees of sysfs and procfs."""

import json
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.bench.machine.cpu import cpu_times
from storage.bench.machine.fingerprint import ABSENT, fingerprint
from storage.bench.machine.heat import heat, held_back
from storage.bench.machine.options import chosen_meter
from storage.bench.machine.power import (
    Metered,
    Sensor,
    WallMeter,
    metered,
    performance_to_power,
    sensors,
)
from storage.bench.machine.watch import AT_REST, RECORD, Watch
from storage.bench.run.flags import Flag
from storage.bench.run.outcome import Metric, Observation, Outcome, Work
from storage.bench.run.plan import Place, Step
from storage.drives.devices import Device, devices
from storage.drives.kernel import Kernel
from storage.drives.mounts import mounts
from storage.drives.tools import Run, Said, run_tool
from storage.localcassandra import artifacts
from support.sysfs import Machine

RATE = Metric("rate", "1/s")
CPU = "devices/system/cpu"
RAPL_RANGE_UJ = 262143328850


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    stat(made)
    return made


def stat(
    machine: Machine, *, user: int = 0, softirq: int = 0, iowait: int = 0, steal: int = 0
) -> None:
    """Write /proc/stat, in ticks of 10 ms."""
    cpu = f"cpu  {100 + user} 20 50 1000 {iowait} 3 {7 + softirq} {steal} 11 0\ncpu0 1 1\n"
    (machine.root / "proc" / "stat").write_text(cpu, "ascii")


def rapl(machine: Machine, package_uj: int, dram_uj: int = 0) -> None:
    """A processor with a package, cores inside it, and memory beside it."""
    for zone, name, energy_uj in (
        ("intel-rapl:0", "package-0", package_uj),
        ("intel-rapl:0:0", "core", package_uj // 2),
        ("intel-rapl:0:1", "dram", dram_uj),
        ("intel-rapl-mmio:0", "package-0", package_uj),
    ):
        machine.write(
            f"class/powercap/{zone}",
            name=name,
            energy_uj=energy_uj,
            max_energy_range_uj=RAPL_RANGE_UJ,
        )


def test_cpu_time_is_told_by_what_it_went_into(machine: Machine) -> None:
    before = cpu_times(machine.kernel)
    assert (before.user_s, before.system_s, before.softirq_s) == pytest.approx((1.2, 0.5, 0.07))
    assert before.busy_s == pytest.approx(1.8)
    stat(machine, user=200, softirq=100, iowait=40, steal=100)
    spent = cpu_times(machine.kernel).since(before)
    assert spent.busy_s == pytest.approx(3)
    assert spent.iowait_s == pytest.approx(0.4)
    assert spent.idle_s == 0
    assert spent.stolen == pytest.approx(0.25)


def test_heat_of_a_server(machine: Machine) -> None:
    machine.write("class/thermal/thermal_zone0", type="x86_pkg_temp", temp=64000)
    machine.write("class/thermal/cooling_device0", type="Processor", cur_state=0)
    machine.write("class/thermal/cooling_device1", type="Fan", cur_state=3)
    machine.write("class/hwmon/hwmon0", name="nvme", temp1_input=38850, temp1_label="Composite")
    for core in (0, 1):
        machine.write(f"{CPU}/cpu{core}/thermal_throttle", core_throttle_count=core + 1)
    machine.write(f"{CPU}/cpufreq/policy0", scaling_cur_freq=3_000_000, affected_cpus="0 1 2")
    machine.write(f"{CPU}/cpufreq/policy1", scaling_cur_freq=1_000_000, affected_cpus="3")
    before = heat(machine.kernel)
    assert before.celsius == {"thermal_zone0 x86_pkg_temp": 64, "hwmon0 nvme Composite": 38.85}
    assert (before.hottest, before.mhz) == (64, 2500)
    assert (before.throttled, before.limits) == ({"core_throttle_count": 3}, ())
    assert held_back(before, before) == []
    machine.write(f"{CPU}/cpu1/thermal_throttle", core_throttle_count=9)
    machine.write("class/thermal/cooling_device0", cur_state=2)
    assert held_back(before, heat(machine.kernel)) == [
        "core_throttle_count went from 3 to 10",
        "cooling_device0 Processor at 2 is in force",
    ]


def test_heat_of_a_raspberry_pi(machine: Machine) -> None:
    place = "devices/platform/soc/soc:firmware"
    machine.write(place, get_throttled="0")
    before = heat(machine.kernel)
    assert before.limits == ()
    machine.write(place, get_throttled="50005")
    assert held_back(before, heat(machine.kernel)) == [
        "under-voltage since the start went from 0 to 1",
        "throttled since the start went from 0 to 1",
        "under-voltage is in force",
        "throttled is in force",
    ]


def test_a_virtual_machine_tells_nothing(machine: Machine) -> None:
    told = heat(machine.kernel)
    assert (told.celsius, told.hottest, told.mhz, told.throttled, told.limits) == (
        *({}, None, None, {}),
        (),
    )


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


def several(machine: Machine) -> Kernel:
    for number in (0, 1):
        machine.write(f"class/hwmon/hwmon{number}", name="ina219", power1_input=7_000_000)
    return machine.kernel


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


def watched(
    machine: Machine,
    execute: Callable[[Place], Outcome],
    meter: Metered | None = None,
    workload: str = "work",
    drives: Sequence[Device] = (),
    run: Run = run_tool,
) -> Outcome:
    watch = Watch(machine.kernel, {"a": drives}, run, meter.meter if meter else None)
    return watch.carry(Step(workload, "a", execute), Place(machine.root, 1))


def values(outcome: Outcome) -> dict[str, float]:
    return {each.metric.name: each.value for each in outcome.observations}


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


def test_what_slows_the_machine_flags_every_figure(machine: Machine) -> None:
    machine.write(f"{CPU}/cpu0/thermal_throttle", package_throttle_count=1)

    def execute(_: Place) -> Outcome:
        machine.write(f"{CPU}/cpu0/thermal_throttle", package_throttle_count=2)
        stat(machine, user=900, steal=100)
        return Outcome([Observation(RATE, 50.0)])

    outcome = watched(machine, execute)
    for each in outcome.observations:
        assert [raised.flag for raised in each.flags] == [Flag.THROTTLED, Flag.NOISY_NEIGHBOURS]
    throttled, noisy = outcome.observations[0].flags
    assert throttled.why == "expected full speed; package_throttle_count went from 1 to 2"
    assert noisy.why.endswith("got 10%")


def test_a_few_stolen_ticks_are_no_noise(machine: Machine) -> None:
    def execute(_: Place) -> Outcome:
        stat(machine, user=10, steal=9)
        return Outcome([Observation(RATE, 50.0)])

    assert {each.flags for each in watched(machine, execute).observations} == {()}


def test_wear_of_the_targets_drives(machine: Machine) -> None:
    machine.nvme_pcie()
    drives = devices(machine.kernel, mounts(machine.kernel))
    logs = iter(
        [
            {"data_units_written": 1000, "percent_used": 3, "thm_temp1_trans_count": 1},
            {"data_units_written": 1003, "percent_used": 3, "thm_temp1_trans_count": 3},
        ]
    )

    def run(command: Sequence[str], _: float) -> Said:
        assert command[:2] == ("nvme", "smart-log")
        return Said(0, json.dumps({"critical_warning": 0, **next(logs)}))

    def execute(_: Place) -> Outcome:
        return Outcome([Observation(RATE, 50.0)])

    outcome = watched(machine, execute, drives=drives, run=run)
    assert values(outcome)["drive-written"] == 3 * 512_000
    (throttled,) = outcome.observations[0].flags
    assert throttled.why == "expected full speed; drive nvme0n1 slowed itself down 2 times"
    record = json.loads(outcome.attachments[RECORD])["drives"]["nvme0n1"]
    assert [record[when]["used_percent"] for when in ("before", "after")] == [3, 3]


def test_an_execution_that_fails_is_watched_no_more(machine: Machine) -> None:
    def execute(_: Place) -> Outcome:
        raise UnavailableError("gone")

    with pytest.raises(UnavailableError, match="gone"):
        watched(machine, execute)


def missing(command: Sequence[str], _: float) -> Said:
    raise UnavailableError(f"{command[0]} is not installed")


def test_a_fingerprint_says_what_is_absent(machine: Machine) -> None:
    proc = machine.root / "proc"
    (proc / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Xeon E5\nflags\t: fpu\n", "ascii")
    (proc / "meminfo").write_text("MemTotal:       16 kB\n", "ascii")
    machine.write(f"{CPU}/cpu0/cpufreq", scaling_governor="powersave", cpuinfo_max_freq=3_500_000)
    machine.write(f"{CPU}/cpu0/cache/index3", size="32768K")
    for core in range(4):
        machine.write(
            f"{CPU}/cpu{core}/topology", thread_siblings_list=f"{core % 2},{core % 2 + 2}"
        )
    machine.sata("sda", 1, rotational=0, model="Samsung SSD 870 EVO 4TB")
    machine.write("block/sda/queue", scheduler="none [mq-deadline]", write_cache="write back")
    drives = devices(machine.kernel, mounts(machine.kernel))
    told = fingerprint(machine.kernel, drives, missing, "absent: no meter")
    assert (told["cpu"]["model"], told["cpu"]["cores"]) == ("Xeon E5", 2)
    assert (told["cpu"]["governor"], told["cpu"]["max_mhz"]) == ("powersave", 3500)
    assert told["cpu"]["last_level_cache_bytes"] == 32 << 20
    assert (told["memory_bytes"], told["virtual_machine"]) == (16384, "no")
    drive = told["drives"]["sda"]
    assert (drive["model"], drive["firmware"]) == ("Samsung SSD 870 EVO 4TB", "FW123456")
    assert (drive["scheduler"], drive["write_cache"]) == ("mq-deadline", "write back")
    assert drive["health"]["why"] == ("smartctl is not installed",)
    assert (told["temperature_sensors"], told["software"]["fio"]) == (ABSENT, ABSENT)
    json.dumps(told)


def test_a_fingerprint_says_which_cassandra_runs_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name that Maven gives the jar of the release that is asked for."""
    monkeypatch.chdir(tmp_path)
    release = re.search(
        r"<artifactId>cassandra-all</artifactId>\s*<version>([^<]+)</version>",
        Path(artifacts.__file__).with_name("pom.xml").read_text("utf-8"),
    )
    assert release is not None
    lib = artifacts.CACHE / "lib"
    lib.mkdir(parents=True)
    for name in (f"cassandra-all-{release[1]}.jar", "cassandra-driver-core-3.12.1-shaded.jar"):
        (lib / name).touch()
    assert fingerprint(Kernel(), (), run_tool, "")["software"]["cassandra"] == release[1]


def test_this_machine_has_a_fingerprint_and_can_be_watched(tmp_path: Path) -> None:
    told = fingerprint(Kernel(), (), run_tool, "absent")
    assert told["memory_bytes"] > 0
    assert told["software"]["python"].startswith("3.")
    watch = Watch(Kernel(), {}, run_tool, None)
    outcome = watch.carry(Step("w", "a", lambda _: Outcome([])), Place(tmp_path, 1))
    assert values(outcome)["cpu-busy"] >= 0


def test_only_a_reading_at_rest_is_too_little() -> None:
    options = Namespace(wall_watts=None, idle_watts=5.0, power_sensor=None)
    with pytest.raises(RejectedError, match="expected --wall-watts beside --idle-watts"):
        chosen_meter(options)
    options = Namespace(wall_watts=5.0, idle_watts=6.0, power_sensor=None)
    with pytest.raises(RejectedError, match="expected at most 5 W at rest, got 6"):
        chosen_meter(options)
