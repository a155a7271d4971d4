"""One call of fio with the device's counters, and the flags of its figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from storage.bench.io.ceilings import half_duplex
from storage.bench.io.fio import Job, Options, Report, Timings, Transfer, run
from storage.bench.io.ground import Ground
from storage.bench.io.sampler import Samples, Way, sampling
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.latency import counted
from storage.bench.run.outcome import (
    Better,
    Ceiling,
    Latencies,
    Metric,
    Observation,
    Outcome,
    Series,
    Work,
)
from storage.bench.run.rounds import Rounds, not_steady

COUNTED_LEAST: Final = 0.9
"""Share of a workload's bytes that the device must count, or a cache did the work."""
SAMPLES_BEYOND: Final = 10
"""Operations needed above a percentile: 10,000 in all for 99.9 %."""
WHOLE_SECONDS_LEAST: Final = 5
"""Needed for a maximum and a mean over seconds."""
_MEMORY: Final = ("tmpfs", "ramfs")
_WAYS: Final[Sequence[Way]] = ("read", "write")

Flags = tuple[Raised, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """How all workloads of a run are executed.

    Attributes:
        engine: Of fio.
        preconditioned: The working set was written twice before.
    """

    engine: str
    preconditioned: bool

    def options(self, ground: Ground) -> Options:
        """Return fio's options for every job on a target."""
        direct = int(ground.direct)
        # A buffered run wants the page cache as it is; fio would empty it first.
        return {"ioengine": self.engine, "direct": direct, "invalidate": direct}

    @property
    def flags(self) -> Flags:
        """Return the flags of every figure."""
        if self.preconditioned:
            return ()
        why = "expected the drive purged and written twice before, got it as it is"
        return (Raised(Flag.NOT_PRECONDITIONED, why),)


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of one call of fio.

    Attributes:
        name: Of the call, as in `write`.
        samples: Of the device; empty if no device counts.
        flags: Of all its figures.
    """

    name: str
    ground: Ground
    report: Report
    samples: Samples
    flags: Flags

    def outcome(self, observations: Sequence[Observation], timed: Iterable[Latencies]) -> Outcome:
        """Return figures with series, histograms and fio's output."""
        raw = {f"{self.name}.fio.json": self.report.raw}
        work = Work(self.moved_bytes)
        observations = both_ways(observations, self.ground)
        return Outcome(observations, self.samples.series(self.name), tuple(timed), raw, work)

    @property
    def moved_bytes(self) -> int:
        """Return the bytes that all jobs read and wrote, by fio's own count."""
        jobs = self.report.jobs.values()
        return sum(job.read.moved_bytes + job.write.moved_bytes for job in jobs)


def measure(
    name: str,
    ground: Ground,
    method: Method,
    jobs: Mapping[str, Options],
    expected_s: float,
) -> Measured:
    """Let fio run jobs on a target, and sample the device during them.

    Raises:
        UnavailableError: fio failed.
    """
    with sampling(ground) as samples:
        report = run(jobs, expected_s)
    flags = (*method.flags, *cached(ground, report, samples))
    return Measured(name, ground, report, samples, flags)


def cached(ground: Ground, report: Report, samples: Samples) -> Flags:
    """Return a flag for each sign that memory did the device's work."""
    reasons = []
    if ground.filesystem in _MEMORY:
        reasons.append(f"expected a drive, got {ground.filesystem}, which is memory")
    if not ground.direct:
        reasons.append("expected O_DIRECT, got the page cache")
    for way in _WAYS if samples.device else ():
        moved = sum(_way(job, way).moved_bytes for job in report.jobs.values())
        found = samples.moved(way)
        if found < COUNTED_LEAST * moved:
            why = f"expected {samples.device} to {way} {moved} bytes, it counted {found}"
            reasons.append(why)
    return tuple(Raised(Flag.CACHED, why) for why in reasons)


def _way(job: Job, way: Way) -> Transfer:
    return job.read if way == "read" else job.write


def rate(metric: str, value: float, ground: Ground, flags: Flags) -> Observation:
    """Return bytes per second with the ceiling of the link, flagged above it."""
    limit = ground.ceiling
    return Observation(Metric(metric, "B/s"), value, limit, (*flags, *_over(value, limit)))


def _over(value: float, limit: Ceiling | None) -> Flags:
    if limit is None or value <= limit.value:
        return ()
    why = f"expected at most {limit.value:.4g} B/s of {limit.why}, got {value:.4g} B/s"
    return (Raised(Flag.OVER_LINK_RATE, why),)


def both_ways(figures: Sequence[Observation], ground: Ground) -> list[Observation]:
    """Return figures; rates of both ways are flagged if their sum is above the link's ceiling."""
    limit, names = ground.ceiling, [f"{way}-rate" for way in _WAYS]
    rates = [each.value for each in figures if each.metric.name in names]
    total = sum(rates)
    if len(rates) < len(names) or limit is None or not half_duplex(limit) or total <= limit.value:
        return list(figures)
    why = f"expected at most {limit.value:.4g} B/s both ways together, got {total:.4g} B/s"
    over = Raised(Flag.OVER_LINK_RATE, f"{why}: {limit.why} carries one at a time")
    return [
        replace(each, flags=(*each.flags, over)) if each.metric.name in names else each
        for each in figures
    ]


def sampled(samples: Samples, way: Way, ground: Ground, flags: Flags) -> list[Observation]:
    """Return maximum and mean of the device's seconds, as in papers; nothing without a device."""
    if not samples.device:
        return []
    seconds = samples.seconds(way)
    if len(seconds) < WHOLE_SECONDS_LEAST:
        why = f"expected at least {WHOLE_SECONDS_LEAST} whole seconds, got {len(seconds)}"
        flags = (*flags, Raised(Flag.FEW_SAMPLES, why))
    else:
        flags = (*flags, *not_steady(_spans(seconds), "fifths of the time"))
    values = seconds if any(seconds) else samples.busy(way) or [0.0]
    return [
        rate(f"{way}-max", max(values), ground, flags),
        rate(f"{way}-mean", sum(values) / len(values), ground, flags),
    ]


def _spans(seconds: Sequence[float]) -> list[float]:
    """Return the means of spans of equal length, as many as a window has rounds."""
    length = len(seconds) // WHOLE_SECONDS_LEAST
    begins = range(len(seconds) % WHOLE_SECONDS_LEAST, len(seconds), length)
    return [sum(seconds[begin : begin + length]) / length for begin in begins]


def transferred(
    measured: Measured, way: Way, transfer: Transfer, rounds: Rounds
) -> list[Observation]:
    """Return bytes and operations per second of one way, by fio's own clock."""
    name = f"{way}-rate"
    flags = (*measured.flags, *rounds.flags(name, transfer.rate))
    return [
        rate(name, transfer.rate, measured.ground, flags),
        Observation(Metric(f"{way}-operations", "1/s"), transfer.operations_per_s, flags=flags),
    ]


def percentiles(
    name: str, timings: Timings, wanted: Iterable[float], flags: Flags
) -> list[Observation]:
    """Return percentiles of latency; those with few samples are flagged.

    Args:
        name: Of the operation.
        timings: Of fio.
        wanted: Per cents, among those in fio's report.
        flags: Of all of them.
    """
    found = []
    for at in wanted:
        if at not in timings.percentiles_s:
            continue
        least = round(SAMPLES_BEYOND / (1 - at / 100))
        few: Flags = ()
        if timings.count < least:
            few = (Raised(Flag.FEW_SAMPLES, f"expected {least} operations, got {timings.count}"),)
        metric = Metric(f"{name}-latency-p{at:g}", "s", Better.LOWER)
        found.append(Observation(metric, timings.percentiles_s[at], flags=(*flags, *few)))
    return found


def timed(operations: Mapping[str, Timings]) -> list[Latencies]:
    """Return histograms of the kinds of operations that happened."""
    return [
        counted(name, each.bins, intended=False) for name, each in operations.items() if each.count
    ]


def joined(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcomes of several calls as one."""
    series: list[Series] = [each for one in outcomes for each in one.series]
    raw = {name: content for one in outcomes for name, content in one.attachments.items()}
    return Outcome(
        [each for one in outcomes for each in one.observations],
        series,
        [each for one in outcomes for each in one.latencies],
        raw,
        Work(sum(one.work.bytes_moved for one in outcomes)),
    )
