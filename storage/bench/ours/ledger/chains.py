"""The measurements: what is done to a node, and what it took."""

import json
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from storage.bench.checkpoint import node
from storage.bench.ledger.committing import commit
from storage.bench.ledger.fleet import DEVICES, Load, departures, network
from storage.bench.ledger.loader import Outcome, Plan, outcome_of
from storage.bench.ledger.signed import signed
from storage.bench.ours.ledger.targets import REAL_NODE_PER_CPU_S, Figures
from storage.bench.processes import Service, ask
from storage.bench.procfs import cpu_s, peak_mb, resident_mb

PER_BATCH: Final = 100
PER_LIST: Final = 5
"""Batches in one POST, where batches of 100 are loaded: half a megabyte."""
WINDOW: Final = 20
"""A device has at most so many batches that are not committed."""
PER_RUN: Final = 60
RUNS_PER_BATCH: Final = 10
RUNS_PER_LIST: Final = 5
RUNS_WINDOW: Final = 20
PACED_PER_S: Final = 500
PACED_PER_BATCH: Final = 10
SINGLES_WINDOW: Final = 100


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured, in readings; each a multiple of the fleet and its batches.

    Attributes:
        in_a_row: Loaded in a row for `readings_per_s`.
        chain: On the chain that is restarted and followed; the first are those in a row.
        runs: In runs of `PER_RUN`, each one transaction.
        singles: In batches of their own.
        paced: At `PACED_PER_S` a second.
    """

    in_a_row: int
    chain: int
    runs: int
    singles: int
    paced: int


WHOLE: Final = Sizes(in_a_row=100_000, chain=1_000_000, runs=600_000, singles=15_000, paced=30_000)
QUICK: Final = Sizes(in_a_row=20_000, chain=100_000, runs=60_000, singles=3_000, paced=5_000)


class Bench:
    """One run of the benchmark.

    Args:
        directory: Keeps signed batches; chains are made in it and removed.
        sizes: How much to do.
        say: Tells people how far it is.
        profile: Where the node's profile goes, if it shall have one.
    """

    def __init__(
        self,
        directory: Path,
        sizes: Sizes,
        say: Callable[[str], None],
        profile: Path | None = None,
    ) -> None:
        self.directory = directory
        self.sizes = sizes
        self.say = say
        self._profile = profile

    def in_a_row(self, chain: Path, *, on: bool) -> Figures:
        """Load the long chain, and measure its first part; with `on`, load all of it."""
        load = _load("chain", self.sizes.chain, PER_BATCH)
        files = self.sign(load)
        first = self.sizes.in_a_row // DEVICES // PER_BATCH
        rest = load.readings // PER_BATCH - first if on else 0
        with self.node(chain) as node:
            self._register(node, load)
            figures = self._rate("readings", node, files, self.sizes.in_a_row, count=first)
            if rest:
                whole = self._rate(
                    "grown", node, files, load.total - self.sizes.in_a_row, first=first, count=rest
                )
                figures["grown_readings_per_s"] = whole["grown_per_s"]
            figures["loaded_peak_mb"] = peak_mb(node.pid)
        per_cpu_s = figures.pop("readings_per_cpu_s")
        return figures | {
            "readings_per_cpu_s": per_cpu_s,
            "times_real_node": per_cpu_s / REAL_NODE_PER_CPU_S,
            "cpu_s_per_1000_readings": 1_000 / per_cpu_s,
        }

    def restart(self, chain: Path) -> Figures:
        """Weigh a chain that was closed, then open it again."""
        log, index = chain / "chain.log", chain / "index"
        log_bytes, index_bytes = log.stat().st_size, _disk_bytes(index)
        with self.node(chain) as node:
            return {
                "bytes_per_reading": (log_bytes + index_bytes) / self.sizes.chain,
                "log_bytes_per_reading": log_bytes / self.sizes.chain,
                "index_bytes_per_reading": index_bytes / self.sizes.chain,
                "restart_s": node.started_s,
                "rss_mb": resident_mb(node.pid),
            }

    def singles(self, chain: Path) -> Figures:
        """Load batches of one transaction, one per POST."""
        load = _load("singles", self.sizes.singles, 1)
        files = self.sign(load)
        with self.node(chain) as node:
            self._register(node, load)
            plan = _plan(node, files, load.readings, per_list=1, window=SINGLES_WINDOW)
            outcome, used_s = self.load("single batches", node, plan)
        return {
            "single_batches_per_s": load.total / outcome.elapsed_s,
            "single_batches_per_cpu_s": load.total / used_s,
        }

    def runs(self, chain: Path) -> Figures:
        """Load runs of consecutive readings, each signed as one transaction."""
        load = _load("runs", self.sizes.runs, RUNS_PER_BATCH, PER_RUN)
        files = self.sign(load)
        with self.node(chain) as node:
            self._register(node, load)
            batches = -(-load.readings // PER_RUN // RUNS_PER_BATCH)
            plan = _plan(node, files, batches, per_list=RUNS_PER_LIST, window=RUNS_WINDOW)
            outcome, used_s = self.load(f"{load.total:,} readings in runs", node, plan)
        log_bytes = (chain / "chain.log").stat().st_size
        return {
            "readings_per_s_runs": load.total / outcome.elapsed_s,
            "readings_per_cpu_s_runs": load.total / used_s,
            "log_bytes_per_reading_runs": log_bytes / load.total,
        }

    def paced(self, chain: Path) -> Figures:
        """Measure latency at a pace that a network may have."""
        load = _load("paced", self.sizes.paced, PACED_PER_BATCH)
        files = self.sign(load)
        with self.node(chain) as node:
            self._register(node, load)
            batches = load.readings // PACED_PER_BATCH
            plan = _plan(node, files, batches, rate_per_s=PACED_PER_S / PACED_PER_BATCH)
            outcome, used_s = self.load(f"{PACED_PER_S} readings/s", node, plan)
        latencies_ms = sorted(1_000 * (fate.decided_s - fate.intended_s) for fate in outcome.fates)
        return {
            "p50_ms": _percentile(latencies_ms, 50),
            "p90_ms": _percentile(latencies_ms, 90),
            "p99_ms": _percentile(latencies_ms, 99),
            "max_ms": latencies_ms[-1],
            "paced_readings_per_s": load.total / outcome.elapsed_s,
            "paced_cpu_s_per_1000_readings": 1_000 * used_s / load.total,
        }

    def sign(self, load: Load) -> list[Path]:
        """Return the files with a fleet's batches."""
        return signed(
            load,
            self.directory / "signed",
            lambda done, of: self.say(f"signed {load.name}: {done} of {of} devices"),
        )

    def node(self, chain: Path) -> AbstractContextManager[Service]:
        """Run a node on the chain in a directory."""
        return node(chain, self._profile)

    def load(self, words: str, node: Service, plan: Plan) -> tuple[Outcome, float]:
        """Let the loader do its plan; return the outcome, and the node's CPU seconds meanwhile."""
        self.say(f"loading {words} …")
        before_s = cpu_s(node.pid)
        outcome = outcome_of(
            ask(["python", "-m", "storage.bench.ledger.loader", json.dumps(asdict(plan))])
        )
        refused = [fate.error for fate in outcome.fates if fate.error]
        if refused:
            raise RejectedError(f"{len(refused)} batches are not committed: {refused[0]}")
        return outcome, cpu_s(node.pid) - before_s

    def _rate(
        self,
        name: str,
        node: Service,
        files: Sequence[Path],
        readings: int,
        *,
        first: int = 0,
        count: int,
    ) -> Figures:
        plan = _plan(node, files, count, first=first, per_list=PER_LIST, window=WINDOW)
        outcome, used_s = self.load(f"{readings:,} {name}", node, plan)
        return {
            f"{name}_per_s": readings / outcome.elapsed_s,
            f"{name}_per_cpu_s": readings / used_s,
            f"{name}_loader_cpu_s": outcome.cpu_s,
        }

    def _register(self, node: Service, load: Load) -> None:
        """Commit who takes part and what they agreed on, in the order in which it was signed."""
        commit(node.addresses["rest"], [*network(), *departures(load)])


def _load(name: str, readings: int, per_batch: int, per_transaction: int = 1) -> Load:
    return Load(name, DEVICES, readings // DEVICES, per_transaction, per_batch)


def _plan(
    node: Service,
    files: Sequence[Path],
    count: int,
    *,
    first: int = 0,
    per_list: int = 1,
    window: int = 0,
    rate_per_s: float = 0.0,
) -> Plan:
    names = [str(path) for path in files]
    return Plan(node.addresses["rest"], names, first, count, per_list, window, rate_per_s)


def _disk_bytes(directory: Path) -> int:
    """Return the bytes that a directory's files occupy: LMDB's may have holes."""
    return sum(path.stat().st_blocks * 512 for path in directory.iterdir())


def _percentile(sorted_values: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile."""
    return sorted_values[math.ceil(percent / 100 * len(sorted_values)) - 1]
