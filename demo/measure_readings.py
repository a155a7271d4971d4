"""Readings committed per second, end to end, beside what a bare loop gets out of the same node."""

import shutil
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status
from demo.appliance import Appliance
from demo.truck import Truck, simulate
from device.journal.outbox import Outbox
from device.settings import load
from device.station import load_signer, open_journal
from storage.bench.procfs import cpu_s

SECONDS_PER_READING: Final = 5
BATCHES_PER_LIST: Final = 20
COMMIT_TIMEOUT_S: Final = 300


@dataclass(frozen=True, slots=True)
class Run:
    """What one offload took, seconds; CPU seconds are those of all threads.

    Attributes:
        readings: How many were committed.
        offload_s: From the start of the agent to its end.
        node_only_s: The same batches, posted straight to a fresh node, until all were committed.
        gateway_cpu_s: CPU of the gateway during the offload.
        node_cpu_s: CPU of its node during the offload.
    """

    readings: int
    offload_s: float
    node_only_s: float
    gateway_cpu_s: float
    node_cpu_s: float


def measure_readings(
    appliance: Appliance, directory: Path, count: int, runs: int, *, per_transaction: int
) -> dict[str, Any]:
    """Let `runs` trucks offload `count` readings each, one after the other."""
    drive = directory / "drive"
    simulate(drive, "--minutes", str(-(-count * SECONDS_PER_READING // 60)))
    trucks = [
        Truck(directory / f"truck-r{at}", f"truck-r{at}", per_transaction) for at in range(runs)
    ]
    for truck in trucks:
        truck.join(appliance)
    network = _committed(appliance)
    done = [_run(appliance, truck, drive / "readings.csv", network) for truck in trucks]
    rates = [run.readings / run.offload_s for run in done]
    node_only_rates = [run.readings / run.node_only_s for run in done]
    ratios = [run.node_only_s / run.offload_s for run in done]
    return {
        "count": done[-1].readings,
        "per_transaction": per_transaction,
        "runs_per_s": [round(rate) for rate in rates],
        "median_per_s": round(statistics.median(rates)),
        "node_only_runs_per_s": [round(rate) for rate in node_only_rates],
        "node_only_per_s": round(statistics.median(node_only_rates)),
        "ratio_runs": [round(ratio, 2) for ratio in ratios],
        "ratio": round(statistics.median(ratios), 2),
        "gateway_cpu_s_per_1000": _per_1000([run.gateway_cpu_s / run.readings for run in done]),
        "node_cpu_s_per_1000": _per_1000([run.node_cpu_s / run.readings for run in done]),
    }


def _run(appliance: Appliance, truck: Truck, readings: Path, network: Sequence[Batch]) -> Run:
    """Record a trip, measure the bare loop with its batches, then the offload."""
    trip = truck.ask("record", "--readings", str(readings), "--speed", "max")
    node_only_s = _node_only(appliance, truck, network)
    gateway, node = appliance.gateway, appliance.node
    if gateway is None or node is None:
        raise UnavailableError("expected gateway and node to run")
    gateway_cpu_s, node_cpu_s = cpu_s(gateway.pid), cpu_s(node.pid)
    start = time.monotonic()
    truck.ask("offload")
    return Run(
        trip["readings"],
        time.monotonic() - start,
        node_only_s,
        cpu_s(gateway.pid) - gateway_cpu_s,
        cpu_s(node.pid) - node_cpu_s,
    )


def _node_only(appliance: Appliance, truck: Truck, network: Sequence[Batch]) -> float:
    """Return the seconds that a fresh node of the same network takes for a truck's batches."""
    bare = Appliance(truck.directory / "bare")
    shutil.copytree(appliance.directory / "keys", bare.directory / "keys")
    batches = _recorded(truck)
    try:
        bare.start_node()
        with closing(LedgerClient(bare.ledger)) as ledger:
            for batch in network:
                _post(ledger, [batch])
            start = time.monotonic()
            _post(ledger, batches)
            return time.monotonic() - start
    finally:
        bare.stop()


def _recorded(truck: Truck) -> list[Batch]:
    """Return the batches in a truck's journal, as it signed them."""
    settings = load(truck.settings_file, {})
    with open_journal(settings, load_signer(settings)) as database:
        outbox = Outbox(database)
        return [Batch.FromString(wire) for wire in outbox.wires(outbox.batch_ids())]


def _committed(appliance: Appliance) -> list[Batch]:
    """Return every batch after the genesis block: who takes part, and what they agreed on."""
    with closing(LedgerClient(appliance.ledger)) as ledger:
        return [batch for block in ledger.blocks(1) for batch in block.batches]


def _post(ledger: LedgerClient, batches: Sequence[Batch]) -> None:
    """Submit batches in lists, as fast as the ledger takes them; return when all are committed."""
    for at in range(0, len(batches), BATCHES_PER_LIST):
        ledger.submit(batches[at : at + BATCHES_PER_LIST])
    waiting = [batch.header_signature for batch in batches]
    deadline = time.monotonic() + COMMIT_TIMEOUT_S
    while waiting:
        found = ledger.statuses(waiting, wait_s=1)
        invalid = [one.reason for one in found.values() if one.status is Status.INVALID]
        if invalid:
            raise RejectedError(f"the bare node refuses a batch: {invalid[0]}")
        waiting = [name for name in waiting if found[name].status is not Status.COMMITTED]
        if waiting and time.monotonic() > deadline:
            raise UnavailableError(
                f"expected every batch committed within {COMMIT_TIMEOUT_S} s, "
                f"{len(waiting)} are not"
            )


def _per_1000(seconds: Sequence[float]) -> float:
    return round(statistics.median(seconds) * 1000, 2)
