"""Readings committed per second, end to end, beside a bare loop against the same node."""

import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import Family, parse_header
from demo.appliance import Appliance
from demo.truck import Truck, simulate
from device.journal.outbox import Outbox
from device.settings_file import load
from device.station import load_signer, open_journal
from storage.bench.commands.measuring import HERE
from storage.bench.ledger.committing import commit_flat_out
from storage.bench.run.document import Document
from storage.bench.run.outcome import Better, Metric, Observation, Outcome
from storage.bench.run.plan import Step
from storage.bench.servers.usage import cpu_s

WORKLOAD: Final = "truck"
OFFLOAD: Final = Metric("offload", "s", Better.LOWER)
"""From the start of the agent to its end."""
NODE_ONLY: Final = Metric("node-only", "s", Better.LOWER)
"""The same batches, posted straight to a fresh node, until all were committed."""
RATIO: Final = Metric("ratio", "1")
READINGS: Final = Metric("readings", "1/s")
COUNT: Final = Metric("count", "1", Better.NEITHER)
GATEWAY_CPU: Final = Metric("gateway-cpu", "s", Better.LOWER)
NODE_CPU: Final = Metric("node-cpu", "s", Better.LOWER)
"""Both during the offload, of all threads."""
SECONDS_PER_READING: Final = 5


class Offloads:
    """Trucks that offload one after the other; each also runs the bare loop with its batches.

    Args:
        directory: For gateway, node and trucks.
        readings: Of each truck.
        runs: Trucks.
        per_transaction: Readings that a truck signs as one.
    """

    def __init__(self, directory: Path, readings: int, runs: int, per_transaction: int) -> None:
        self._directory = directory
        self._minutes = -(-readings * SECONDS_PER_READING // 60)
        self._trucks = [
            Truck(directory / f"truck-r{at}", f"truck-r{at}", per_transaction) for at in range(runs)
        ]

    @contextmanager
    def opened(self) -> Iterator[Sequence[Step]]:
        """Start gateway and node, register the trucks, and yield the offload of the next one.

        Raises:
            UnavailableError: A process failed.
        """
        drive, appliance = self._directory / "drive", Appliance(self._directory / "site-b")
        try:
            appliance.start()
            appliance.register_network()
            simulate(drive, "--minutes", str(self._minutes))
            for truck in self._trucks:
                truck.join(appliance)
            network, trucks = _committed(appliance), iter(self._trucks)
            readings = drive / "readings.csv"
            yield [Step(WORKLOAD, HERE, lambda _: _run(appliance, next(trucks), readings, network))]
        finally:
            appliance.stop()


def summary(result: Document, per_transaction: int) -> dict[str, Any]:
    """Return the figures of a run: medians, and each truck's."""
    values = {
        each["metric"]: each["values"] for each in result["figures"] if each["workload"] == WORKLOAD
    }
    counts, offloads_s, bare_s = (values[each.name] for each in (COUNT, OFFLOAD, NODE_ONLY))
    rates = [count / seconds for count, seconds in zip(counts, offloads_s, strict=True)]
    bare_rates = [count / seconds for count, seconds in zip(counts, bare_s, strict=True)]
    ratios = values[RATIO.name]
    return {
        "count": int(counts[-1]),
        "per_transaction": per_transaction,
        "runs_per_s": [round(rate) for rate in rates],
        "median_per_s": round(statistics.median(rates)),
        "node_only_runs_per_s": [round(rate) for rate in bare_rates],
        "node_only_per_s": round(statistics.median(bare_rates)),
        "ratio_runs": [round(ratio, 2) for ratio in ratios],
        "ratio": round(statistics.median(ratios), 2),
        "gateway_cpu_s_per_1000": _per_1000(values[GATEWAY_CPU.name], counts),
        "node_cpu_s_per_1000": _per_1000(values[NODE_CPU.name], counts),
    }


def _run(appliance: Appliance, truck: Truck, readings: Path, network: Sequence[Batch]) -> Outcome:
    """Record a trip, measure the bare loop with its batches, then the offload."""
    trip = truck.ask("record", "--readings", str(readings), "--speed", "max")
    node_only_s = _node_only(appliance, truck, network)
    gateway, node = appliance.gateway, appliance.node
    if gateway is None or node is None:
        raise UnavailableError("expected gateway and node to run")
    gateway_cpu_s, node_cpu_s = cpu_s(gateway.pid), cpu_s(node.pid)
    start_s = time.monotonic()
    truck.ask("offload")
    offload_s = time.monotonic() - start_s
    figures = {
        OFFLOAD: offload_s,
        NODE_ONLY: node_only_s,
        RATIO: node_only_s / offload_s,
        READINGS: trip["readings"] / offload_s,
        COUNT: trip["readings"],
        GATEWAY_CPU: cpu_s(gateway.pid) - gateway_cpu_s,
        NODE_CPU: cpu_s(node.pid) - node_cpu_s,
    }
    return Outcome([Observation(metric, value) for metric, value in figures.items()])


def _node_only(appliance: Appliance, truck: Truck, network: Sequence[Batch]) -> float:
    """Return the seconds that a fresh node of the same network takes for a truck's batches."""
    bare = Appliance(truck.directory / "bare")
    shutil.copytree(appliance.directory / "keys", bare.directory / "keys")
    batches = _recorded(truck)
    try:
        bare.start_node()
        with closing(LedgerClient(bare.ledger)) as ledger:
            for batch in network:
                commit_flat_out(ledger, [batch])
            start = time.monotonic()
            commit_flat_out(ledger, batches)
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
        every = [batch for block in ledger.blocks(1) for batch in block.batches]
        return [batch for batch in every if not _tells_time(batch)]


def _tells_time(batch: Batch) -> bool:
    """Say whether a batch is the node's own: a fresh node begins its blocks with other times."""
    return Family.of(parse_header(batch.transactions[0])) == block_info.FAMILY


def _per_1000(seconds: Sequence[float], counts: Sequence[float]) -> float:
    each = [used_s / count for used_s, count in zip(seconds, counts, strict=True)]
    return round(statistics.median(each) * 1000, 2)
