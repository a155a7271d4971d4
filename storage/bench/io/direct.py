"""The paper's direct workload: one large file, written and read as fast as the volume can."""

from dataclasses import dataclass, field, replace
from typing import Final

from storage.bench.io.content import Content, read_back
from storage.bench.io.fio import Options, unanswered_s
from storage.bench.io.ground import Ground
from storage.bench.io.layout import on_file, write_whole, writing
from storage.bench.io.measured import (
    Flags,
    Measured,
    Method,
    joined,
    measure,
    percentiles,
    sampled,
    timed,
    transferred,
)
from storage.bench.io.sampler import Way
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place, Step
from storage.bench.run.rounds import Rounds

FILE: Final = "direct.dat"
DEPTH: Final = 32
_PERCENTILES: Final = (50.0, 99.0)


@dataclass(frozen=True, slots=True)
class Direct:
    """The workload on one target.

    Attributes:
        blocks: Of 1 MiB.
    """

    ground: Ground
    method: Method
    blocks: int
    rounds: Rounds = field(default_factory=Rounds)

    @property
    def step(self) -> Step:
        """Return it for a plan."""
        return Step("direct", self.ground.name, self.execute)

    def lay_out(self, seed: int, passes: int) -> None:
        """Write the file so many times; it is then overwritten in place.

        Raises:
            UnavailableError: fio failed.
        """
        write_whole(FILE, self.ground, self.method, Content(self.blocks, DEPTH, seed), passes)

    def remove(self) -> None:
        """Remove the file."""
        self.ground.remove(FILE)

    def execute(self, place: Place) -> Outcome:
        """Write with the final fsync, read, and compare the bytes.

        Each time writes a new file, as a gateway does; a preconditioned file is overwritten.
        """
        content = Content(self.blocks, DEPTH, place.seed)
        if not self.method.preconditioned:
            self.ground.remove(FILE)
        with place.counted():
            written = self._measure("write", writing(content))
            read = self._measure("read", {**content.options, "rw": "read"})
        wrong = read_back(content, self.ground.file(FILE), direct=self.ground.direct)
        if not self.method.preconditioned:
            self.ground.remove(FILE)
        return joined([self._outcome(written, "write", wrong), self._outcome(read, "read", wrong)])

    def _measure(self, name: str, options: Options) -> Measured:
        jobs = {name: {**on_file(FILE, self.ground, self.method), **options}}
        size = self.blocks << 20
        return measure(name, self.ground, self.method, jobs, unanswered_s([size]))

    def _outcome(self, found: Measured, way: Way, wrong: Flags) -> Outcome:
        judged = replace(found, flags=(*wrong, *found.flags))
        job = found.report.jobs[way]
        transfer = job.write if way == "write" else job.read
        figures = [
            *sampled(judged.samples, way, judged.ground, judged.flags),
            *transferred(judged, way, transfer, self.rounds),
            *percentiles(way, transfer.timings, _PERCENTILES, judged.flags),
        ]
        return judged.outcome(figures, timed({way: transfer.timings}))
