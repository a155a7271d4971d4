"""The measurements of a network of validators: rates, CPU beside one node, latency, a dead one."""

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

from contracts.errors import UnavailableError
from storage.bench.goals.ledger.chains import (
    PACED_PER_BATCH,
    PER_BATCH,
    PER_LIST,
    PER_RUN,
    RUNS_PER_BATCH,
    RUNS_PER_LIST,
    RUNS_WINDOW,
    WINDOW,
    NodeMeasurements,
    fleet_load,
    latencies_ms,
    load_plan,
)
from storage.bench.goals.ledger.figures import Figures
from storage.bench.ledger.timeline import percentile
from storage.bench.ledger.validators import engine_of, testnet
from storage.bench.servers.processes import Service
from storage.bench.trucks.fleet import Load

VALIDATORS: Final = 4
LATENCY_PER_S: Final = 150
"""Readings: a tenth of the rate that four validators are to reach."""
KILLED_PER_S: Final = 750
"""Readings, while a validator is killed: half of that rate."""
PAIRS: Final = 5
"""The network and one node, in turn, so often; what the one node takes varies by a quarter."""
_KILLED_AT: Final = 0.25
"""Share of the load after which a validator is killed."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The same load into a network, and after it into one node.

    Attributes:
        per_s: Readings a second, of the network.
        used_s: CPU seconds of the first validator, node and CometBFT.
        alone_s: CPU seconds of the one node.
    """

    per_s: float
    used_s: float
    alone_s: float


def measure_network(bench: NodeMeasurements, chain: Path) -> Figures:
    """Load four validators on this machine, and one node with the same; kill one of the four.

    Args:
        bench: Signs and loads.
        chain: A directory that does not exist yet; each measurement begins with a new network.

    Raises:
        RejectedError: A batch was refused or lost.
        UnavailableError: A validator does not start, or CometBFT is missing.
    """
    return {
        **_readings(bench, chain),
        **_runs(bench, chain),
        **_latency(bench, chain),
        **_pause(bench, chain),
    }


def longest_pause_s(decided_s: Sequence[float], since_s: float) -> float:
    """Return the longest time without a decision that ends after a moment.

    Args:
        decided_s: When each batch was decided, in any order.
        since_s: The moment.
    """
    ordered = sorted(decided_s)
    return max((end - begin for begin, end in pairwise(ordered) if end > since_s), default=0.0)


def figures_of_pairs(pairs: Sequence[Pair], readings: int) -> Figures:
    """Return the medians of some pairs, each of so many readings."""
    return {
        "bft_readings_per_s": median(pair.per_s for pair in pairs),
        "bft_cpu_s_per_1000_readings": 1_000 * median(pair.used_s for pair in pairs) / readings,
        "bft_alone_cpu_s_per_1000_readings": 1_000
        * median(pair.alone_s for pair in pairs)
        / readings,
        "bft_cpu_ratio": median(pair.used_s / pair.alone_s for pair in pairs),
        "bft_cpu_ratio_most": max(pair.used_s / pair.alone_s for pair in pairs),
    }


def _readings(bench: NodeMeasurements, chain: Path) -> Figures:
    load = fleet_load("network", bench.sizes.network, PER_BATCH)
    return figures_of_pairs([_pair(bench, chain, load) for _ in range(PAIRS)], load.total)


def _pair(bench: NodeMeasurements, chain: Path, load: Load) -> Pair:
    per_s, used_s = _loaded(bench, chain, load, PER_LIST, WINDOW)
    with bench.node(chain) as node:
        bench.register(node, load)
        plan = load_plan(node, load, bench.sign(load), per_list=PER_LIST, window=WINDOW)
        _, alone_s = bench.load("the same into one node", plan, node.pid)
    shutil.rmtree(chain)
    return Pair(per_s, used_s, alone_s)


def _runs(bench: NodeMeasurements, chain: Path) -> Figures:
    load = fleet_load("network-runs", bench.sizes.network_runs, RUNS_PER_BATCH, PER_RUN)
    per_s, _ = _loaded(bench, chain, load, RUNS_PER_LIST, RUNS_WINDOW)
    return {"bft_readings_per_s_runs": per_s}


def _loaded(
    bench: NodeMeasurements, chain: Path, load: Load, per_list: int, window: int
) -> tuple[float, float]:
    """Load a network flat out; return readings a second and the first validator's CPU seconds."""
    with _network(bench, chain, load) as nodes:
        first = nodes[0]
        plan = load_plan(first, load, bench.sign(load), per_list=per_list, window=window)
        words = f"{load.total:,} readings into {VALIDATORS} validators"
        outcome, used_s = bench.load(words, plan, first.pid, engine_of(first))
    return load.total / outcome.elapsed_s, used_s


def _latency(bench: NodeMeasurements, chain: Path) -> Figures:
    load = fleet_load("network-paced", bench.sizes.network_paced, PACED_PER_BATCH)
    with _network(bench, chain, load) as nodes:
        rate_per_s = LATENCY_PER_S / PACED_PER_BATCH
        plan = load_plan(nodes[0], load, bench.sign(load), rate_per_s=rate_per_s)
        outcome, _ = bench.load(f"{LATENCY_PER_S} readings/s into the network", plan)
    took_ms = latencies_ms(outcome)
    return {"bft_p50_ms": percentile(took_ms, 50), "bft_p99_ms": percentile(took_ms, 99)}


def _pause(bench: NodeMeasurements, chain: Path) -> Figures:
    load = fleet_load("network-killed", bench.sizes.network_killed, PACED_PER_BATCH)
    killed_s: list[float] = []
    with _network(bench, chain, load) as nodes:

        def kill() -> None:
            nodes[-1].kill()
            killed_s.append(time.monotonic())

        rate_per_s = KILLED_PER_S / PACED_PER_BATCH
        plan = load_plan(nodes[0], load, bench.sign(load), rate_per_s=rate_per_s)
        killer = threading.Timer(_KILLED_AT * load.total / KILLED_PER_S, kill)
        killer.start()
        try:
            outcome, _ = bench.load("the network, one validator of which is killed", plan)
        finally:
            killer.cancel()
            killer.join()
    if not killed_s:
        raise UnavailableError("expected a validator to kill, it had ended before")
    decided_s = [fate.decided_s for fate in outcome.fates]
    before_s = [at_s for at_s in decided_s if at_s < killed_s[0]]
    return {
        "bft_pause_before_s": longest_pause_s(before_s, min(before_s, default=0.0)),
        "bft_pause_s": longest_pause_s(decided_s, killed_s[0]),
    }


@contextmanager
def _network(bench: NodeMeasurements, chain: Path, load: Load) -> Iterator[Sequence[Service]]:
    """Run a new network that is ready for a load, and remove it."""
    with testnet(chain, VALIDATORS) as nodes:
        bench.register(nodes[0], load)
        yield nodes
    shutil.rmtree(chain)
