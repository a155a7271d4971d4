"""The measurements of a node: loads, restart, size of its chain, latency at a pace."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

from contracts.errors import RejectedError
from storage.bench.goals.ledger.figures import Figures
from storage.bench.ledger.committing import commit
from storage.bench.ledger.loader import LoadOutcome, LoadPlan, carried_out
from storage.bench.ledger.timeline import percentile
from storage.bench.servers.checkpoint import node
from storage.bench.servers.processes import Service
from storage.bench.servers.usage import cpu_s, peak_mb, resident_mb, written_bytes
from storage.bench.trucks.fleet import DEVICES, Load, departures, network
from storage.bench.trucks.signed import signed

REAL_NODE_PER_CPU_S: Final = 130
"""Transactions per second of CPU that a Sawtooth 1.2.6 node committed on two such cores."""
PER_BATCH: Final = 100
PER_LIST: Final = 5
"""Batches in one POST, where batches of 100 are loaded: half a megabyte."""
WINDOW: Final = 20
"""Most uncommitted batches of a device."""
PER_RUN: Final = 60
RUNS_PER_BATCH: Final = 10
RUNS_PER_LIST: Final = 5
RUNS_WINDOW: Final = 20
PACED_PER_S: Final = 500
PACED_PER_BATCH: Final = 10
SINGLES_WINDOW: Final = 100
WINDOWS: Final = 10
_MOMENT_S: Final = 1e-3


@dataclass(frozen=True, slots=True)
class LedgerSizes:
    """The sizes of the measurements, in readings; each a multiple of the fleet and its batches.

    Attributes:
        in_a_row: Loaded without a pause for `readings_per_s`.
        chain: On the chain that is restarted and followed; includes those in a row.
        runs: In runs of `PER_RUN`, each one transaction.
        singles: In batches of their own.
        paced: At `PACED_PER_S` a second.
        network: To a network of validators, and to one node beside it.
        network_runs: The same in runs.
        network_paced: To the network at a tenth of its goal.
        network_killed: To the network at half of its goal, while a validator is killed.
        trip: Of one truck that offloads through a gateway.
        trucks: Of many trucks, a hundred each, that offload through a gateway.
    """

    in_a_row: int
    chain: int
    runs: int
    singles: int
    paced: int
    network: int
    network_runs: int
    network_paced: int
    network_killed: int
    trip: int
    trucks: int


WHOLE: Final = LedgerSizes(
    in_a_row=100_000,
    chain=1_000_000,
    runs=600_000,
    singles=15_000,
    paced=30_000,
    network=40_000,
    network_runs=240_000,
    network_paced=4_000,
    network_killed=20_000,
    trip=20_000,
    trucks=100_000,
)
QUICK: Final = LedgerSizes(
    in_a_row=20_000,
    chain=100_000,
    runs=60_000,
    singles=3_000,
    paced=5_000,
    network=10_000,
    network_runs=60_000,
    network_paced=2_000,
    network_killed=10_000,
    trip=4_000,
    trucks=10_000,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a chain that was loaded without a pause.

    Attributes:
        readings: How many it has.
        elapsed_s: Seconds from the first submission until all were committed.
        median_per_s: Readings a second, the median of `WINDOWS` equal shares.
        per_cpu_s: Readings per second of the node's CPU.
        loader_cpu_s: CPU seconds of the loader.
        written_bytes: Bytes that the node wrote.
    """

    readings: int
    elapsed_s: float
    median_per_s: float
    per_cpu_s: float
    loader_cpu_s: float
    written_bytes: int


def median_rate(decided_s: Sequence[float]) -> float:
    """Return decisions a second: the median of `WINDOWS` equal shares of them.

    Args:
        decided_s: When each was decided, in any order; more than `WINDOWS` of them.
    """
    ordered = sorted(decided_s)
    share = (len(ordered) - 1) // WINDOWS
    marks = ordered[::share][: WINDOWS + 1]
    # Batches of one block are decided at the same time, so a share may take no time at all.
    return median(share / max(end - begin, _MOMENT_S) for begin, end in pairwise(marks))


class NodeMeasurements:
    """The measurements of one node.

    Args:
        directory: Keeps signed batches for later runs.
        sizes: Of the measurements.
        say: Shows people the current activity.
        profile: File for the node's profile; None runs the node without.
    """

    def __init__(
        self,
        directory: Path,
        sizes: LedgerSizes,
        say: Callable[[str], None],
        profile: Path | None = None,
    ) -> None:
        self.directory = directory
        self.sizes = sizes
        self.say = say
        self._profile = profile

    def in_a_row(self, chain: Path, *, on: bool) -> Figures:
        """Load the long chain, and measure its first part; with `on`, load all of it."""
        load = fleet_load("chain", self.sizes.chain, PER_BATCH)
        files = self.sign(load)
        count = self.sizes.in_a_row // DEVICES // PER_BATCH
        with self.node(chain) as node:
            self.register(node, load)
            whole = load_plan(node, load, files, per_list=PER_LIST, window=WINDOW)
            plan = replace(whole, count=count)
            first = self._piece("readings in a row", node, plan)
            late = self._grow(node, plan, whole.count, first) if on else {}
            return late | {
                "readings_per_s": first.readings / first.elapsed_s,
                "readings_loader_cpu_s": first.loader_cpu_s,
                "readings_per_cpu_s": first.per_cpu_s,
                "readings_written_bytes": first.written_bytes / first.readings,
                "times_real_node": first.per_cpu_s / REAL_NODE_PER_CPU_S,
                "cpu_s_per_1000_readings": 1_000 / first.per_cpu_s,
                "loaded_peak_mb": peak_mb(node.pid),
            }

    def _grow(self, node: Service, plan: LoadPlan, end: int, first: Piece) -> Figures:
        """Load the rest of a chain in pieces, and compare the last one with the first.

        Args:
            node: The node.
            plan: Of the first piece.
            end: How many batches each file has.
            first: The first piece.
        """
        pieces = [
            self._piece(
                "more readings", node, replace(plan, first=at, count=min(plan.count, end - at))
            )
            for at in range(plan.count, end, plan.count)
        ]
        if not pieces:
            return {}
        late, grown = pieces[-1], sum(piece.readings for piece in pieces)
        return {
            "grown_readings_per_s": grown / sum(piece.elapsed_s for piece in pieces),
            "grown_written_bytes": sum(piece.written_bytes for piece in pieces) / grown,
            "late_readings_per_s": late.readings / late.elapsed_s,
            "late_readings_per_cpu_s": late.per_cpu_s,
            "late_ratio": late.median_per_s / first.median_per_s,
            "late_cpu_ratio": late.per_cpu_s / first.per_cpu_s,
        }

    def restart(self, chain: Path) -> Figures:
        """Measure the size of a closed chain, then open it again."""
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
        load = fleet_load("singles", self.sizes.singles, 1)
        files = self.sign(load)
        with self.node(chain) as node:
            self.register(node, load)
            plan = load_plan(node, load, files, window=SINGLES_WINDOW)
            outcome, used_s = self.load("single batches", plan, node.pid)
        return {
            "single_batches_per_s": load.total / outcome.elapsed_s,
            "single_batches_per_cpu_s": load.total / used_s,
        }

    def runs(self, chain: Path) -> Figures:
        """Load runs of consecutive readings, each signed as one transaction."""
        load = fleet_load("runs", self.sizes.runs, RUNS_PER_BATCH, PER_RUN)
        files = self.sign(load)
        with self.node(chain) as node:
            self.register(node, load)
            plan = load_plan(node, load, files, per_list=RUNS_PER_LIST, window=RUNS_WINDOW)
            outcome, used_s = self.load(f"{load.total:,} readings in runs", plan, node.pid)
        log_bytes = (chain / "chain.log").stat().st_size
        return {
            "readings_per_s_runs": load.total / outcome.elapsed_s,
            "readings_per_cpu_s_runs": load.total / used_s,
            "log_bytes_per_reading_runs": log_bytes / load.total,
        }

    def paced(self, chain: Path) -> Figures:
        """Measure latency at the pace of a real network."""
        load = fleet_load("paced", self.sizes.paced, PACED_PER_BATCH)
        files = self.sign(load)
        with self.node(chain) as node:
            self.register(node, load)
            plan = load_plan(node, load, files, rate_per_s=PACED_PER_S / PACED_PER_BATCH)
            outcome, used_s = self.load(f"{PACED_PER_S} readings/s", plan, node.pid)
        took_ms = latencies_ms(outcome)
        return {
            "p50_ms": percentile(took_ms, 50),
            "p90_ms": percentile(took_ms, 90),
            "p99_ms": percentile(took_ms, 99),
            "max_ms": max(took_ms),
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

    def load(self, words: str, plan: LoadPlan, *pids: int) -> tuple[LoadOutcome, float]:
        """Let the loader carry out a plan; return its outcome and the processes' CPU seconds."""
        self.say(f"loading {words} …")
        before_s = sum(map(cpu_s, pids))
        outcome = carried_out(plan)
        refused = [fate.error for fate in outcome.fates if fate.error]
        if refused:
            raise RejectedError(
                f"expected every batch committed, got {len(refused)} refused: {refused[0]}"
            )
        return outcome, sum(map(cpu_s, pids)) - before_s

    def _piece(self, words: str, node: Service, plan: LoadPlan) -> Piece:
        readings = plan.count * len(plan.files) * PER_BATCH
        before = written_bytes(node.pid)
        outcome, used_s = self.load(f"{readings:,} {words} from {plan.first}", plan, node.pid)
        return Piece(
            readings,
            outcome.elapsed_s,
            median_rate([fate.decided_s for fate in outcome.fates]) * PER_BATCH,
            readings / used_s,
            outcome.cpu_s,
            written_bytes(node.pid) - before,
        )

    def register(self, node: Service, load: Load) -> None:
        """Commit the parties, devices, deliveries and trips of a load, in the order of signing."""
        commit(node.addresses["rest"], [*network(), *departures(load)])


def fleet_load(name: str, readings: int, per_batch: int, per_transaction: int = 1) -> Load:
    """Return the load of the whole fleet, so many readings of all devices together."""
    return Load(name, DEVICES, readings // DEVICES, per_transaction, per_batch)


def load_plan(
    node: Service,
    load: Load,
    files: Sequence[Path],
    *,
    per_list: int = 1,
    window: int = 0,
    rate_per_s: float = 0.0,
) -> LoadPlan:
    """Return the plan of a whole load, which was signed into files; see `LoadPlan`."""
    names = [str(path) for path in files]
    return LoadPlan(
        node.addresses["rest"], names, 0, load.batches_each, per_list, window, rate_per_s
    )


def latencies_ms(outcome: LoadOutcome) -> list[float]:
    """Return for each batch the milliseconds from its intended time until it was decided."""
    return [1_000 * (fate.decided_s - fate.intended_s) for fate in outcome.fates]


def _disk_bytes(directory: Path) -> int:
    """Return the bytes that a directory's files occupy: files of LMDB may have holes."""
    return sum(path.stat().st_blocks * 512 for path in directory.iterdir())
