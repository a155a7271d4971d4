"""The measurements from trucks to ledger: journals are offloaded through a gateway to a node."""

import shutil
from pathlib import Path
from statistics import median
from typing import Final

from contracts.errors import UnavailableError
from storage.bench.goals.ledger.chains import NodeMeasurements
from storage.bench.goals.ledger.figures import Figures
from storage.bench.offload.alone import ledger_alone_s
from storage.bench.offload.sizes import Trucks
from storage.bench.offload.visit import Visit, visit

READINGS_EACH: Final = 100
"""Of each of many trucks."""
PAIRS: Final = 5
"""The node alone and one truck, in turn, so often; on two cores a pair differs by a tenth."""
_SEED: Final = 1


def measure_trucks(bench: NodeMeasurements, chain: Path) -> Figures:
    """Offload one truck with a long trip, beside the node alone; then many trucks at once.

    Args:
        bench: Has the sizes, and tells people the current activity.
        chain: A directory that does not exist yet.

    Raises:
        UnavailableError: A truck got no receipt, or a process failed.
    """
    chain.mkdir()
    pairs = [_pair(bench, chain / f"pair-{number}") for number in range(PAIRS)]
    many = Trucks(bench.sizes.trucks // READINGS_EACH, READINGS_EACH, 0)
    bench.say(f"{many.count:,} trucks with {many.readings} readings each …")
    all_of_them = _visited(chain, many)
    shutil.rmtree(chain)
    return {name: median(pair[name] for pair in pairs) for name in pairs[0]} | {
        "trucks_receipts": float(all_of_them.fleet["receipted"]),
        "trucks_readings_per_s": float(all_of_them.fleet["readings_per_s"]),
        "trucks_p50_s": float(all_of_them.fleet["offload_p50_s"]),
        "trucks_p95_s": float(all_of_them.fleet["offload_p95_s"]),
    }


def _pair(bench: NodeMeasurements, directory: Path) -> Figures:
    """Load the node alone, and after it let one truck offload as many readings."""
    readings = bench.sizes.trip
    bench.say(f"{readings:,} readings into one node, and from one truck through a gateway …")
    directory.mkdir()
    alone_s = ledger_alone_s(directory / "alone", readings)
    one = _visited(directory, Trucks(1, readings, 0))
    shutil.rmtree(directory)
    per_1000 = readings / 1_000
    return {
        "end_to_end_readings_per_s": float(one.fleet["readings_per_s"]),
        "end_to_end_ratio": alone_s / float(one.fleet["offload_p50_s"]),
        "end_to_end_gateway_cpu_s_per_1000_readings": one.gateway_cpu_s / per_1000,
        "end_to_end_node_cpu_s_per_1000_readings": one.node_cpu_s / per_1000,
    }


def _visited(chain: Path, trucks: Trucks) -> Visit:
    """Let trucks offload at a new gateway; each must get its receipt."""
    scratch = chain / f"trucks-{trucks.count}"
    scratch.mkdir()
    seen = visit(chain / f"site-{trucks.count}", trucks, scratch, _SEED)
    if seen.fleet["errors"]:
        first = seen.fleet["errors"][0]
        raise UnavailableError(
            f"expected a receipt for each of {trucks.count:,} trucks, {seen.fleet['failed']:,} "
            f"got none: {first['device_id']}: {first['why']}"
        )
    return seen
