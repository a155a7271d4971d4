"""Machines that the benchmark watches: their CPU time, energy counters and sensors."""

from collections.abc import Callable, Sequence
from pathlib import Path

from contracts.errors import UnavailableError
from storage.bench.machine.power import Metered
from storage.bench.machine.watch import Watch
from storage.bench.run.outcome import Metric, Outcome
from storage.bench.run.plan import Place, Step
from storage.drives.devices import Device
from storage.drives.kernel import Kernel
from storage.drives.tools import Run, Said, run_tool
from support.machine.sysfs import Machine

RATE = Metric("rate", "1/s")


CPU = "devices/system/cpu"


RAPL_RANGE_UJ = 262143328850


def make_machine(directory: Path) -> Machine:
    """Return a machine whose CPU has counted some time."""
    made = Machine(directory)
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


def several(machine: Machine) -> Kernel:
    for number in (0, 1):
        machine.write(f"class/hwmon/hwmon{number}", name="ina219", power1_input=7_000_000)
    return machine.kernel


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


def missing(command: Sequence[str], _: float) -> Said:
    raise UnavailableError(f"{command[0]} is not installed")
