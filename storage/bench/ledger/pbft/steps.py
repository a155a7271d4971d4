"""The steps of paper 001's comparison, as part of `wayseal-bench ledger --pbft`."""

import asyncio
import json
import tempfile
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.bench.ledger.pbft.authentication import KINDS
from storage.bench.ledger.pbft.client import drive, signed_requests
from storage.bench.ledger.pbft.protocol import PRIMARY
from storage.bench.ledger.pbft.replica import ORDERED, ReplicaPlan
from storage.bench.ledger.timeline import percentile
from storage.bench.ledger.watch import watching
from storage.bench.run.latency import latencies
from storage.bench.run.outcome import Better, Metric, Observation, Outcome, Work
from storage.bench.run.plan import Place, Step
from storage.bench.servers.processes import Service, serving

REPLICAS: Final = 4
TARGET: Final = f"pbft-{REPLICAS}"
REQUEST_BYTES: Final = 512
"""Source: papers 001, section V."""
BATCH: Final = 64
"""Requests of one batch where batching is on; also those that the client has under way."""
REQUESTS: Final = 4_000
QUICK_REQUESTS: Final = 200
DESCRIBED: Final[dict[str, Any]] = {
    "name": TARGET,
    "kind": "pbft",
    "interface": "none",
    "replicas": REPLICAS,
    "request_bytes": REQUEST_BYTES,
    "under_way": BATCH,
}
NOTE: Final = (
    f"pbft: paper 001's comparison on {REPLICAS} replicas of our own, in Python, all on this "
    "machine, connected by sockets. It is the normal case of PBFT alone: no view change, nothing "
    "on a disk, no rules. So it says what MACs and batches save in messages; it is not a ledger "
    "to choose. Clients sign in all variants, as in the paper; macs-internode has signed replies "
    "too. The paper had 15 machines, Go and RSA: its ratios are not comparable with these."
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of the comparison.

    Attributes:
        kind: Of `KINDS`: how a replica proves that a message is its own.
        batch: Requests that are ordered at once, at most.
        requests: How many the client sends.
    """

    kind: str
    batch: int
    requests: int

    @property
    def name(self) -> str:
        """Return the name of the workload."""
        return f"pbft-{self.kind}-{'batched' if self.batch > 1 else 'single'}"

    def execute(self, place: Place) -> Outcome:
        """Run the replicas and send the requests: f + 1 equal replies decide each."""
        requests = signed_requests(self.requests, REQUEST_BYTES)
        # A socket's path has 107 characters at most, so it is not below the run's own folder.
        with tempfile.TemporaryDirectory(prefix="wayseal-pbft-") as made:
            directory = Path(made)
            with ExitStack() as stack:
                pids = [
                    stack.enter_context(_replica(directory, number, self)).pid
                    for number in range(REPLICAS)
                ]
                with place.counted(), watching({"primary": pids[PRIMARY]}) as watched:
                    timed = asyncio.run(drive(directory, REPLICAS, self.kind, requests, BATCH))
            batches = ordered(directory)
        took_s = [each.decided_s - each.sent_s for each in timed]
        span_s = max(each.decided_s for each in timed) - timed[0].sent_s
        rate = Observation(Metric("committed-rate", "1/s"), len(timed) / span_s)
        quantiles = [
            Observation(Metric(f"response-p{each}", "s", Better.LOWER), percentile(took_s, each))
            for each in (50, 95)
        ]
        cpu_s = watched.used_cpu_s("primary") / len(timed)
        cost = Observation(Metric("primary-cpu-per-transaction", "s", Better.LOWER), cpu_s)
        size = Observation(Metric("batch-mean", "1", Better.NEITHER), len(timed) / batches)
        return Outcome(
            [rate, *quantiles, cost, size],
            latencies=[latencies("commit-service", took_s, intended=False)],
            work=Work(transactions=len(timed)),
        )


def steps(*, quick: bool) -> list[Step]:
    """Return the six variants: three kinds of proofs, batching on and off."""
    count = QUICK_REQUESTS if quick else REQUESTS
    variants = [Variant(kind, batch, count) for kind in KINDS for batch in (1, BATCH)]
    return [Step(each.name, TARGET, each.execute) for each in variants]


def _replica(directory: Path, number: int, variant: Variant) -> AbstractContextManager[Service]:
    plan = ReplicaPlan(str(directory), number, REPLICAS, variant.kind, variant.batch)
    command = ("python", "-m", "storage.bench.ledger.pbft.replica", json.dumps(asdict(plan)))
    return serving(command, _log(directory, number))


def _log(directory: Path, number: int) -> Path:
    return directory / f"{number}.log"


def ordered(directory: Path) -> int:
    """Return how many batches the primary ordered, as it said when it ended.

    Raises:
        UnavailableError: It did not say it.
    """
    said = _log(directory, PRIMARY).read_text("utf-8", "replace").splitlines()
    # Other lines may follow: the connections to replicas that ended before it are broken.
    for line in said:
        if line.startswith(ORDERED):
            return int(line.removeprefix(ORDERED))
    raise UnavailableError(f"expected the primary's batches, got {said[-1:]}")
