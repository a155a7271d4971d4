"""`wayseal-bench system`: the limits of the machine itself. Source: papers/000, section 4.2."""

import argparse
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import asdict
from functools import partial
from typing import Final

from contracts.errors import RejectedError
from storage.bench.io.content import BLOCK_BYTES
from storage.bench.machine.fingerprint import last_level_cache_bytes
from storage.bench.machine.watch import AT_REST
from storage.bench.run.outcome import Outcome
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Place, Step, StepGroup
from storage.bench.system import crypto, network, sysbench
from storage.bench.system.storage import POINTS, Storage
from storage.bench.system.tools import versions
from storage.drives.kernel import Kernel
from storage.drives.tools import run_tool

MACHINE: Final = "machine"
LOOPBACK: Final = "loopback"
LINK: Final = "link"
"""Names of this part's targets."""
SECONDS: Final = 10
QUICK_SECONDS: Final = 1
_MACHINE_TIMES: Final = 10
_NETWORK_TIMES: Final = 4
"""Duration of all steps of a group, in times of one measurement."""


class System:
    """The part."""

    part = Part.SYSTEM

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this part."""
        parser.add_argument(
            "--iperf",
            type=network.peer,
            metavar="HOST[:PORT]",
            help="a host on which `iperf3 --server` runs, to measure the link to it",
        )

    def prepare(self, options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
        """Return the plan.

        Raises:
            RejectedError: A volume has the name of one of this part's targets.
            UnavailableError: Tools are missing; names their packages.
        """
        tools = versions(run_tool)
        del stack  # nothing outlives its group
        taken = sorted({volume.name for volume in setup.volumes} & {MACHINE, LOOPBACK, LINK})
        if taken:
            raise RejectedError(f"{taken} are targets of wayseal-bench system: choose other names")
        link: network.IperfPeer | None = options.iperf
        seconds = QUICK_SECONDS if setup.quick else SECONDS
        threads = len(os.sched_getaffinity(0))
        memory = sysbench.sizes(last_level_cache_bytes(Kernel()), threads, quick=setup.quick)
        storage = Storage.checked(setup.volumes, setup.work, setup.seed, seconds, quick=setup.quick)
        groups = [
            _machine(setup, seconds, memory),
            _storage(setup, storage),
            _network(setup, seconds, LOOPBACK, None),
        ]
        targets = [_target(MACHINE, "cpu"), _target(LOOPBACK, "loopback")]
        if link is not None:
            groups.append(_network(setup, seconds, LINK, link))
            targets.append({**_target(LINK, "network"), **asdict(link)})
        settings = {
            "seconds": seconds,
            "threads": threads,
            "memory_block_bytes": memory.block_bytes,
            "iperf": None if link is None else asdict(link),
            "storage_file_bytes": storage.blocks * BLOCK_BYTES,
            "storage_engine": storage.method.engine,
            "tools": tools,
        }
        return Prepared(groups, settings, targets)


def _target(name: str, interface: str) -> dict[str, str]:
    return {"name": name, "kind": "machine", "interface": interface}


def _machine(setup: Setup, seconds: int, memory: sysbench.MemorySizes) -> StepGroup:
    workloads = {
        AT_REST: partial(_at_rest, seconds),
        "cpu-one-core": partial(sysbench.cpu, run_tool, 1, seconds),
        "cpu-all-cores": partial(sysbench.cpu, run_tool, memory.threads, seconds),
        "memory": partial(sysbench.memory, run_tool, memory, seconds),
        "ecdsa-secp256k1": partial(crypto.secp256k1, seconds / 2),
        "ecdsa-p256": partial(crypto.p256, run_tool, seconds),
        "sha256": partial(crypto.sha256, run_tool, seconds),
    }
    return _group(setup, MACHINE, workloads, _MACHINE_TIMES * seconds)


def _storage(setup: Setup, storage: Storage) -> StepGroup:
    each_s = float(len(POINTS) * storage.seconds * setup.repetitions)
    expected_s = each_s * len(storage.grounds)
    return StepGroup(Part.SYSTEM, "storage", expected_s, storage.opened, setup.repetitions)


def _network(setup: Setup, seconds: int, target: str, link: network.IperfPeer | None) -> StepGroup:
    """Return the group for a link, or for the loopback if it is None."""
    workloads = {
        "tcp": partial(network.tcp, run_tool, link, seconds),
        "udp": partial(network.udp, run_tool, link, seconds),
        "ping": partial(network.round_trips, run_tool, link, seconds),
    }
    return _group(setup, target, workloads, _NETWORK_TIMES * seconds)


def _group(
    setup: Setup, target: str, workloads: Mapping[str, Callable[[Place], Outcome]], each_s: int
) -> StepGroup:
    """Return a group that needs nothing opened.

    Args:
        setup: Of the run.
        target: Of all its steps.
        workloads: By name.
        each_s: Duration of all of them together, once.
    """
    steps = [Step(name, target, execute) for name, execute in workloads.items()]
    expected_s = float(each_s * setup.repetitions)
    return StepGroup(Part.SYSTEM, target, expected_s, lambda: nullcontext(steps), setup.repetitions)


def _at_rest(seconds: int, place: Place) -> Outcome:
    """Do nothing: CPU and power of this time are not the benchmark's."""
    with place.counted():
        time.sleep(seconds)
    return Outcome([])
