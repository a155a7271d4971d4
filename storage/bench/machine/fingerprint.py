"""The fingerprint of a machine: it tells results of different machines apart."""

import os
import platform
import re
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.bench.machine.heat import heat
from storage.bench.servers.cassandra.artifacts import CACHE
from storage.drives.devices import Device
from storage.drives.health import health
from storage.drives.kernel import Kernel, number, text
from storage.drives.tools import Run

VERSION_TIMEOUT_S: Final = 10.0
ABSENT: Final = "absent"
_TOOLS: Final = (
    ("java", ("java", "-version")),
    ("fio", ("fio", "--version")),
    ("nvme-cli", ("nvme", "version")),
    ("smartctl", ("smartctl", "--version")),
)
"""Tools that several parts use, and the command for the version of each."""
_CASSANDRA_JAR: Final = re.compile(r"cassandra-all-(\d[\d.]*\d)\.jar")
_QUEUE: Final = {
    "write_cache": "write_cache",
    "requests": "nr_requests",
    "read_ahead_kib": "read_ahead_kb",
    "logical_block_bytes": "logical_block_size",
    "physical_block_bytes": "physical_block_size",
}


def fingerprint(kernel: Kernel, drives: Iterable[Device], run: Run, power: str) -> dict[str, Any]:
    """Return the fingerprint for the heading of a result: JSON.

    Values that the machine does not report are `absent`.

    Args:
        kernel: Of the machine.
        drives: Used by the run.
        run: Runs the tools that report versions and health.
        power: What the power meter covers, or why there is no meter.
    """
    now = heat(kernel)
    return {
        "cpu": _cpu(kernel),
        "memory_bytes": _memory_bytes(kernel),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "os": _os(),
        "virtual_machine": _virtual_machine(kernel),
        "software": _software(run),
        "drives": {each.name: _drive(kernel, each, run) for each in drives},
        "temperature_sensors": sorted(now.celsius) or ABSENT,
        "throttle_counters": sorted(now.throttled) or ABSENT,
        "power": power,
    }


def _cpu(kernel: Kernel) -> dict[str, Any]:
    # ARM has no model name there; sometimes it has one for the whole board.
    lines = (kernel.proc / "cpuinfo").read_text("utf-8", "replace").splitlines()
    told = {name.strip(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    first = kernel.sys / "devices/system/cpu/cpu0"
    model = told.get("model name") or told.get("Model") or told.get("CPU part") or ABSENT
    khz = number(first / "cpufreq/cpuinfo_max_freq")
    return {
        "model": model,
        "threads": os.cpu_count(),
        "cores": _cores(kernel),
        "last_level_cache_bytes": last_level_cache_bytes(kernel) or ABSENT,
        "governor": text(first / "cpufreq/scaling_governor") or ABSENT,
        "frequency_driver": text(first / "cpufreq/scaling_driver") or ABSENT,
        "max_mhz": ABSENT if khz is None else khz / 1000,
    }


def _cores(kernel: Kernel) -> int | str:
    place = kernel.sys / "devices/system/cpu"
    siblings = {
        text(each / "topology/thread_siblings_list") for each in place.glob("cpu[0-9]*")
    } - {""}
    return len(siblings) or ABSENT


def last_level_cache_bytes(kernel: Kernel) -> int:
    """Return the size of the largest cache of the first core; 0 if it is unknown."""
    caches = (kernel.sys / "devices/system/cpu/cpu0/cache").glob("index*/size")
    # As in 32768K; the kernel knows no other unit there.
    sizes = [text(each).removesuffix("K") for each in caches]
    return max((int(each) << 10 for each in sizes if each.isdecimal()), default=0)


def _memory_bytes(kernel: Kernel) -> int | str:
    for line in (kernel.proc / "meminfo").read_text("ascii").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) << 10
    return ABSENT


def _os() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return ABSENT


def _virtual_machine(kernel: Kernel) -> str:
    flags = (kernel.proc / "cpuinfo").read_text("utf-8", "replace")
    if " hypervisor" not in flags and not (kernel.sys / "hypervisor/type").exists():
        return "no"
    return text(kernel.sys / "class/dmi/id/product_name") or "yes"


def _software(run: Run) -> dict[str, str]:
    found = {"wayseal": version("wayseal"), "python": platform.python_version()}
    found |= {name: tool_version(run, command) or ABSENT for name, command in _TOOLS}
    jars = (_CASSANDRA_JAR.fullmatch(each.name) for each in Path(CACHE).glob("lib/*.jar"))
    return found | {"cassandra": next((jar[1] for jar in jars if jar), ABSENT)}


def tool_version(run: Run, command: tuple[str, ...]) -> str:
    """Return the first line in which a tool names its version; empty if the tool is missing."""
    try:
        said = run(command, VERSION_TIMEOUT_S)
    except UnavailableError:
        return ""
    # java says it on standard error.
    return (said.out.strip() or said.errors.strip()).partition("\n")[0]


def _drive(kernel: Kernel, drive: Device, run: Run) -> dict[str, Any]:
    queue = kernel.block(drive.disk or drive.name) / "queue"
    return {
        "model": drive.model or ABSENT,
        "firmware": drive.firmware or ABSENT,
        "serial": drive.serial or ABSENT,
        "interface": drive.interface,
        "link": drive.link or ABSENT,
        "size_bytes": drive.size_bytes,
        "scheduler": _chosen(text(queue / "scheduler")) or ABSENT,
        **{name: text(queue / attribute) or ABSENT for name, attribute in _QUEUE.items()},
        "health": asdict(health(drive, run)),
    }


def _chosen(schedulers: str) -> str:
    """Return the scheduler in brackets: `none [mq-deadline] kyber`."""
    return schedulers.partition("[")[2].partition("]")[0] or schedulers
