"""Sweeps: block size x requests under way x share of reads, at random places or in sequence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final, Literal

from storage.bench.io.content import data
from storage.bench.io.fio import Job, Timings, Transfer
from storage.bench.io.ground import Ground
from storage.bench.io.layout import on_file
from storage.bench.io.measured import Measured, Method, measure, percentiles, timed, transferred
from storage.bench.io.sampler import Way
from storage.bench.run.outcome import Observation, Outcome, Work
from storage.bench.run.plan import Place, Step
from storage.bench.run.rounds import Rounds

FILE: Final = "working-set.dat"
WARM_UP_S: Final = 1
"""Cut off before each point, unless the run is quick."""
PERCENTILES: Final = (50.0, 99.0, 99.9)
_ALL: Final = 100
_UNITS: Final = ((1 << 20, "m"), (1 << 10, "k"))

Pattern = Literal["random", "sequential"]
PATTERNS: Final[Sequence[Pattern]] = ("random", "sequential")


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One point of a sweep.

    Attributes:
        depth: Requests under way.
        read_percent: Of the requests; the others write.
    """

    pattern: Pattern
    block_bytes: int
    depth: int
    read_percent: int

    @property
    def name(self) -> str:
        """Return it as a workload: `random-4k-qd32-read70`."""
        block = size_words(self.block_bytes)
        return f"{self.pattern}-{block}-qd{self.depth}-read{self.read_percent}"

    @property
    def ways(self) -> Sequence[Way]:
        """Return the directions of its requests."""
        reads: Sequence[Way] = ("read",) if self.read_percent else ()
        writes: Sequence[Way] = ("write",) if self.read_percent < _ALL else ()
        return (*reads, *writes)

    @property
    def rw(self) -> str:
        """Return fio's word for it."""
        word = self.ways[0] if len(self.ways) == 1 else "rw"
        return f"rand{word}" if self.pattern == "random" else word


@dataclass(frozen=True, slots=True)
class Grid:
    """All points of a sweep, and the size of each.

    Attributes:
        seconds: Measured at each point.
        warm_up_s: Before the measured seconds.
        working_bytes: Size of the file; all requests are within it.
    """

    patterns: Sequence[Pattern]
    block_bytes: Sequence[int]
    depths: Sequence[int]
    read_percents: Sequence[int]
    seconds: int
    warm_up_s: int
    working_bytes: int

    def points(self) -> Iterator[SweepPoint]:
        """Yield each combination."""
        for each in product(self.patterns, self.block_bytes, self.depths, self.read_percents):
            yield SweepPoint(*each)


@dataclass(frozen=True, slots=True)
class Swept:
    """One point on one target."""

    ground: Ground
    method: Method
    grid: Grid
    point: SweepPoint
    rounds: Rounds = field(default_factory=Rounds)

    @property
    def step(self) -> Step:
        """Return it for a plan."""
        return Step(self.point.name, self.ground.name, self.execute)

    def execute(self, place: Place) -> Outcome:
        """Keep the point's requests under way for its time."""
        job = {
            **on_file(FILE, self.ground, self.method),
            **data(place.seed),
            "rw": self.point.rw,
            "rwmixread": self.point.read_percent,
            "bs": self.point.block_bytes,
            "iodepth": self.point.depth,
            "size": self.grid.working_bytes,
            "norandommap": 1,  # each offset is drawn independently, so one may come again
            "time_based": 1,
            "runtime": self.grid.seconds,
            "ramp_time": self.grid.warm_up_s,
        }
        needed_s = self.grid.seconds + self.grid.warm_up_s
        with place.counted():
            found = measure("point", self.ground, self.method, {"point": job}, needed_s)
        figures: list[Observation] = []
        histograms: dict[str, Timings] = {}
        for way in self.point.ways:
            transfer = _way(found.report.jobs["point"], way)
            figures += transferred(found, way, transfer, self.rounds)
            figures += percentiles(way, transfer.timings, PERCENTILES, found.flags)
            histograms[way] = transfer.timings
        outcome = found.outcome(figures, timed(histograms))
        return replace(outcome, work=self._work(found)) if self.grid.warm_up_s else outcome

    def _work(self, found: Measured) -> Work:
        """Return the device's own count: fio leaves out the warm-up, which takes CPU as well."""
        return Work(found.samples.read_bytes + found.samples.written_bytes)


def _way(job: Job, way: Way) -> Transfer:
    return job.read if way == "read" else job.write


def size_words(size_bytes: int) -> str:
    """Return a block size as fio has it: `4k`, `1m`."""
    for unit, word in _UNITS:
        if not size_bytes % unit:
            return f"{size_bytes // unit}{word}"
    return str(size_bytes)
