"""What the machine is and what it goes through, read from recorded trees of sysfs and procfs."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from storage.bench.machine.cpu import cpu_times
from storage.bench.machine.fingerprint import ABSENT, fingerprint
from storage.bench.machine.heat import heat, held_back
from storage.bench.machine.watch import RECORD, Watch
from storage.bench.run.flags import Flag
from storage.bench.run.outcome import Observation, Outcome
from storage.bench.run.plan import Place, Step
from storage.bench.servers.cassandra import artifacts
from storage.drives.devices import devices
from storage.drives.kernel import Kernel
from storage.drives.mounts import mounts
from storage.drives.tools import Said, run_tool
from support.bench.machines import (
    CPU,
    RATE,
    make_machine,
    missing,
    stat,
    values,
    watched,
)
from support.machine.sysfs import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path)


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
