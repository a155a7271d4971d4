"""The modes of a workload: flat out, open loop at a rate, or a search for the highest rate."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from storage.bench.ledger.consensus import near
from storage.bench.ledger.ledgers import NODE, Ledger, LedgerTarget, Pacing
from storage.bench.ledger.loader import LoadPlan, carried_out
from storage.bench.ledger.processor import executions
from storage.bench.ledger.refusals import validated
from storage.bench.ledger.timeline import CSV, Timeline, percentile
from storage.bench.ledger.watch import ProcessSamples, watching
from storage.bench.ledger.workloads import LedgerWorkload
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.latency import latencies
from storage.bench.run.outcome import Better, Metric, Observation, Outcome, Series, Work
from storage.bench.run.plan import Place
from storage.bench.trucks.signed import signed

PER_LIST: Final = 10
"""Batches in one submission, flat out."""
WINDOW: Final = 40
"""Undecided batches of one lane, flat out: more would not make a ledger faster."""
NETWORK_SLOWER: Final = 10
"""A network at a URL, whatever its engine, gets a tenth of the load: a Sawtooth commits a hundredth
of our node's rate, and a network for tests is shared."""
LOADER_BUSY: Final = 0.9
"""From this share of a core on, the loader may be what limits the rate."""
ON_TIME: Final = 0.95
"""Share of the intended rate below which a figure is behind schedule."""
TAIL_SAMPLES: Final = 10
"""A percentile with fewer operations above it is flagged."""
WINDOW_SHARE: Final = 0.4
"""Of the block interval: the window for the busiest moment, 10 s of 25 s."""
_RESPONSES: Final = (50.0, 95.0, 99.0)
_BEP23: Final = (68.0, 95.0, 99.7)


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a run.

    Attributes:
        rate_per_s: Transactions a second in open loop.
        open_s: How long, seconds.
        scale: Transactions flat out, and records, as a multiple of a quick run's.
        latency_s: A rate is met if the latency is at most this.
        latency_percent: Percentile of the response time that counts.
        probes: Number of rates that a search tries.
        probe_s: How long each at most, seconds.
        writes: Share of the transactions that write.
        sample_s: Between two looks at the processes.
        seed: Of the batches for ledgers that begin empty.
        signed: Directory of signed batches.
    """

    rate_per_s: float
    open_s: float
    scale: int
    latency_s: float
    latency_percent: float
    probes: int
    probe_s: float
    writes: float
    sample_s: float
    seed: int
    signed: Path


@dataclass(frozen=True, slots=True)
class Measurement:
    """One workload on one ledger.

    Attributes:
        pacing: Of blocks; None for as fast as the ledger can.
    """

    workload: LedgerWorkload
    target: LedgerTarget
    choices: Choices
    pacing: Pacing | None = None

    @property
    def _flat_out(self) -> float:
        """Return the number of transactions flat out."""
        count = self.workload.flat_out * self.choices.scale
        return count / NETWORK_SLOWER if self.target.lasting else count

    def flat_out(self, place: Place) -> Outcome:
        """Submit as fast as the ledger takes the batches."""
        batches = self.workload.batches(self._flat_out)
        with self._ready(place, batches) as ready:
            return ready.submitted(batches)

    def paced(self, place: Place, blocks: int) -> Outcome:
        """Submit batches for so many blocks at once, and watch the consensus commit them."""
        if self.pacing is None:
            raise ValueError("without a pacing there is nothing to wait for")
        batches = self.workload.batches(
            blocks * self.pacing.batches_per_block * self.workload.per_batch
        )
        with self._ready(place, batches) as ready:
            return ready.submitted(batches)

    def open_loop(self, place: Place) -> Outcome:
        """Submit at the rate asked for."""
        rate_per_s = self.choices.rate_per_s
        batches = self.workload.batches(rate_per_s * self.choices.open_s)
        with self._ready(place, batches) as ready:
            return ready.at(rate_per_s, batches)

    def search(self, place: Place) -> Outcome:
        """Find the highest rate that meets the latency: by bisection, from flat out down."""
        first = self.workload.batches(self._flat_out / 2)
        pool = first * self.choices.probes
        with self._ready(place, first + pool) as ready:
            return ready.searched(first, pool)

    @contextmanager
    def _ready(self, place: Place, batches: int) -> Iterator["Ready"]:
        choices, lasting = self.choices, self.target.lasting
        seed = place.seed if lasting else choices.seed
        tag = f"-{seed:08x}" if lasting else ""
        load = self.workload.load(tag, batches, choices.writes, seed, choices.scale)
        directory = place.scratch if lasting else choices.signed
        files = signed(self.target.translated(load), directory, lambda _, __: None)
        with self.target.opened(load, self.pacing) as ledger:
            yield Ready(self, ledger, files, place)


@dataclass(frozen=True, slots=True)
class Ready:
    """A running ledger, and the batches signed for it."""

    bench: Measurement
    ledger: Ledger
    files: Sequence[Path]
    place: Place

    def submitted(self, batches: int) -> Outcome:
        """Submit all batches as fast as the ledger takes them."""
        before = self.ledger.reader.head()
        single, paced = self.bench.workload.per_batch == 1, self.bench.pacing is not None
        per_list = batches if paced else 1 if single else PER_LIST
        with (
            self.place.counted(),
            watching(self.ledger.processes, self.bench.choices.sample_s) as watched,
        ):
            timeline = self.load(0, batches, per_list=per_list, window=WINDOW)
        wrong = self.wrong(timeline, before)
        return Outcome(
            [*self._rates(timeline, wrong), *self._costs(timeline, watched)],
            [*self._series(timeline), *map(watched.series, watched.samples)],
            (),
            self._table(timeline) if self.bench.pacing else {},
            _work(timeline),
        )

    def at(self, rate_per_s: float, batches: int) -> Outcome:
        """Submit at a rate."""
        before = self.ledger.reader.head()
        with (
            self.place.counted(),
            watching(self.ledger.processes, self.bench.choices.sample_s) as watched,
        ):
            timeline = self.load(0, batches, rate_per_s=rate_per_s)
        wrong = [*self.wrong(timeline, before), *behind(timeline, rate_per_s)]
        committed = timeline.committed
        responses = [fate.decided_s - fate.intended_s for fate in committed]
        services = [fate.decided_s - fate.sent_s for fate in committed]
        accepts = [fate.accepted_s - fate.sent_s for fate in committed]
        finals = [fate.decided_s - fate.accepted_s for fate in committed]
        quantiles = [*percentiles("response", responses, _RESPONSES)]
        quantiles += percentiles("service", services, (95.0,))
        if self.bench.workload.per_batch == 1:
            quantiles += percentiles("accept", accepts, _BEP23)
            quantiles += percentiles("finalise", finals, _BEP23)
        return Outcome(
            [*self._rates(timeline, wrong), *quantiles, *self._costs(timeline, watched)],
            [*self._series(timeline), *map(watched.series, watched.samples)],
            [
                latencies("commit-response", responses, intended=True),
                latencies("commit-service", services, intended=False),
                latencies("accept-service", accepts, intended=False),
            ],
            self._table(timeline) if self.bench.workload.per_batch == 1 else {},
            _work(timeline),
        )

    def searched(self, first: int, pool: int) -> Outcome:
        """Bisect the rates between 0 and flat out until the probes are used up."""
        choices, per_batch = self.bench.choices, self.bench.workload.per_batch
        flat = self.load(0, first, per_list=PER_LIST, window=WINDOW)
        low, high, used = 0.0, flat.rate_per_s, first
        rows: list[list[float]] = []
        for left in range(choices.probes, 0, -1):
            rate_per_s = (low + high) / 2
            wanted = self.bench.workload.batches(rate_per_s * choices.probe_s)
            batches = min(wanted, (first + pool - used) // left)
            probe = self.load(used, batches, rate_per_s=rate_per_s)
            used += batches
            response_s = _response(probe, choices.latency_percent)
            met = response_s <= choices.latency_s and not behind(probe, rate_per_s)
            low, high = (rate_per_s, high) if met else (low, rate_per_s)
            rows.append(
                [
                    rate_per_s,
                    batches * self.bench.workload.lanes * per_batch,
                    probe.rate_per_s,
                    response_s,
                    int(met),
                ]
            )
        ceiling = self.ledger.consensus.ceiling(per_batch)
        why = f"expected p{choices.latency_percent:g} within {choices.latency_s:g} s at some rate"
        missed = Raised(Flag.BEHIND_SCHEDULE, f"{why}, got no such rate")
        flags = near(low, ceiling) if low else (missed,)
        found = Observation(Metric("highest-rate", "1/s"), low, ceiling, flags)
        columns = ("rate_per_s", "transactions", "committed_per_s", "response_s", "met")
        return Outcome([found], [Series("probes", columns, rows)])

    def load(
        self,
        first: int,
        count: int,
        *,
        per_list: int = 1,
        window: int = 0,
        rate_per_s: float = 0.0,
    ) -> Timeline:
        """Submit batches and return their timestamps; see `LoadPlan`."""
        per_batch = self.bench.workload.per_batch
        plan = LoadPlan(
            self.ledger.url,
            [str(path) for path in self.files],
            first,
            count,
            per_list,
            window,
            rate_per_s / per_batch,
            self.ledger.engine,
        )
        began_s = time.monotonic()
        made = carried_out(plan)
        noted, executed = self.ledger.executions, None
        if noted is not None and not self.bench.workload.readings:
            executed = [entry for entry in executions(noted) if entry[1] >= began_s]
        scheduled = bool(rate_per_s) or self.bench.pacing is not None
        return Timeline(made.fates, per_batch, executed, scheduled, made.cpu_share)

    def wrong(self, timeline: Timeline, before: int) -> list[Raised]:
        """Check the ledger's statuses of the batches against its blocks."""
        raised: list[Raised] = []
        refused = [fate for fate in timeline.fates if fate.error]
        for flag, some in (
            (Flag.INVALID, [fate for fate in refused if not validated(fate.error)]),
            (Flag.REFUSED, [fate for fate in refused if validated(fate.error)]),
        ):
            if some:
                why = f"{len(some)} of {len(timeline.fates)} batches are not committed"
                raised.append(Raised(flag, f"{why}: {some[0].error[:200]}"))
        if len(refused) == len(timeline.fates):
            raise UnavailableError(f"no batch was committed: {refused[0].error}")
        names = {fate.batch_id for fate in timeline.committed}
        expected = len(names) * timeline.per_batch
        found = self.ledger.reader.committed(before + 1, names, self.files)
        if found != expected:
            why = f"expected {expected} transactions in the blocks, as the ledger said, got {found}"
            raised.append(Raised(Flag.INVALID, why))
        return raised

    def _rates(self, timeline: Timeline, wrong: Sequence[Raised]) -> Iterator[Observation]:
        workload, pacing = self.bench.workload, self.bench.pacing
        ceiling = self.ledger.consensus.ceiling(workload.per_batch)
        rate_per_s = timeline.rate_per_s
        flags = (*wrong, *near(rate_per_s, ceiling), *limited(timeline))
        yield Observation(Metric("committed-rate", "1/s"), rate_per_s, ceiling, flags)
        window_s = WINDOW_SHARE * pacing.interval_s if pacing else self.bench.choices.sample_s
        busiest = timeline.busiest_per_s(window_s)
        yield Observation(Metric("committed-max", "1/s"), busiest, None, tuple(wrong))
        counts = Counter(validated(fate.error) for fate in timeline.fates)
        for code in sorted({*self.ledger.codes, *counts} - {""}):
            name = f"refused-{code.lower().replace('_', '-')}"
            metric = Metric(name, "1", Better.LOWER)
            yield Observation(metric, counts[code] * timeline.per_batch, None, tuple(wrong))
        executed = timeline.executed_per_s
        if executed is not None:
            yield Observation(Metric("executed-rate", "1/s"), executed, None, tuple(wrong))
        if workload.readings > 1:
            metric = Metric("readings-rate", "1/s")
            yield Observation(metric, rate_per_s * workload.readings, None, flags)

    def _costs(self, timeline: Timeline, watched: ProcessSamples) -> Iterator[Observation]:
        count = len(timeline.committed) * timeline.per_batch
        own = Metric("loader-cpu-share", "1", Better.NEITHER)
        yield Observation(own, timeline.loader_share)
        for name in watched.samples:
            used_s = watched.used_cpu_s(name)
            each = Metric(f"{name}-cpu-per-transaction", "s", Better.LOWER)
            yield Observation(each, used_s / count)
            share = Metric(f"{name}-cpu-share", "1", Better.NEITHER)
            yield Observation(share, used_s / timeline.span_s / (os.cpu_count() or 1))
        if NODE in watched.samples:
            written = watched.written(NODE)
            mean = Metric("node-written-mean", "B/s", Better.NEITHER)
            yield Observation(mean, written / timeline.span_s)
            most = Metric("node-written-max", "B/s", Better.NEITHER)
            yield Observation(most, max(row[2] for row in watched.series(NODE).rows))
            each = Metric("node-written-per-transaction", "B", Better.LOWER)
            yield Observation(each, written / count)

    def _series(self, timeline: Timeline) -> Iterator[Series]:
        width_s = self.bench.choices.sample_s
        yield timeline.over_time(width_s)
        yield timeline.latencies_over_time(width_s)

    def _table(self, timeline: Timeline) -> dict[str, bytes]:
        return {CSV: timeline.table(self.files, self.ledger.reader.parts)}


def _work(timeline: Timeline) -> Work:
    return Work(transactions=len(timeline.committed) * timeline.per_batch)


def limited(timeline: Timeline) -> tuple[Raised, ...]:
    """Return the flag of a rate that the client may have limited, or no flag."""
    share = timeline.loader_share
    if share < LOADER_BUSY:
        return ()
    why = f"expected less than {LOADER_BUSY:.0%} of a core for the loader, got {share:.0%}"
    return (Raised(Flag.AT_LOADER_LIMIT, why),)


def behind(timeline: Timeline, rate_per_s: float) -> list[Raised]:
    """Return the flag of a load that did not keep to its rate, or no flag."""
    if timeline.rate_per_s >= ON_TIME * rate_per_s:
        return []
    why = f"expected {rate_per_s:.4g}/s committed, got {timeline.rate_per_s:.4g}/s"
    return [Raised(Flag.BEHIND_SCHEDULE, why)]


def _response(timeline: Timeline, percent: float) -> float:
    """Return a percentile of the response time; refused batches count as infinite."""
    return percentile(
        (
            float("inf") if fate.error else fate.decided_s - fate.intended_s
            for fate in timeline.fates
        ),
        percent,
    )


def percentiles(
    name: str, seconds: Sequence[float], percents: Sequence[float]
) -> Iterator[Observation]:
    """Yield percentiles of durations, and the longest; those with too few samples are flagged."""
    for percent in percents:
        above = len(seconds) * (1 - percent / 100)
        why = f"expected at least {TAIL_SAMPLES} operations above it, got {above:.1f}"
        flags = () if above >= TAIL_SAMPLES else (Raised(Flag.FEW_SAMPLES, why),)
        metric = Metric(f"{name}-p{percent:g}".replace(".", "-"), "s", Better.LOWER)
        yield Observation(metric, percentile(seconds, percent), None, flags)
    metric = Metric(f"{name}-max", "s", Better.LOWER)
    yield Observation(metric, max(seconds))
