"""Audits while trucks offload: random reads of whole blobs during paced, durable writes."""

from dataclasses import dataclass, field, replace
from typing import Final

from storage.bench.io.content import BLOCK_BYTES, data
from storage.bench.io.fio import Options
from storage.bench.io.ground import Ground
from storage.bench.io.layout import on_file
from storage.bench.io.measured import Flags, Method, measure, percentiles, timed, transferred
from storage.bench.io.sweep import FILE as READ_FILE
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place, Step
from storage.bench.run.rounds import Rounds

FILE: Final = "ingest.dat"
SYNC_EVERY: Final = 16
"""Blocks between two fsyncs of the writer."""
READERS: Final = 2
"""Blobs that are read at a time."""
ON_SCHEDULE: Final = 0.95
"""Share of the given rate that the writer must reach."""
_PERCENTILES: Final = (50.0, 99.0)


@dataclass(frozen=True, slots=True)
class Mixed:
    """The workload on one target.

    Attributes:
        ingest: Bytes per second of the writer.
        working_bytes: Of the file that is read.
    """

    ground: Ground
    method: Method
    ingest: int
    seconds: int
    working_bytes: int
    rounds: Rounds = field(default_factory=Rounds)

    @property
    def step(self) -> Step:
        """Return it for a plan."""
        return Step("ingest-and-audit", self.ground.name, self.execute)

    def execute(self, place: Place) -> Outcome:
        """Write a new file at the pace with an fsync now and then; read another at random."""
        jobs = {"writer": self._writer(place.seed), "reader": self._reader(place.seed)}
        self.ground.remove(FILE)
        with place.counted():
            found = measure("ingest-and-audit", self.ground, self.method, jobs, self.seconds)
        self.ground.remove(FILE)
        writer, reader = (found.report.jobs[name] for name in ("writer", "reader"))
        paced = replace(found, flags=(*found.flags, *self._behind(writer.write.rate)))
        operations = {
            "write": writer.write.timings,
            "fsync": writer.sync,
            "read": reader.read.timings,
        }
        figures = [
            *transferred(paced, "write", writer.write, self.rounds),
            *transferred(paced, "read", reader.read, self.rounds),
        ]
        for name, timings in operations.items():
            figures += percentiles(name, timings, _PERCENTILES, paced.flags)
        return paced.outcome(figures, timed(operations))

    def _writer(self, seed: int) -> Options:
        return {
            **on_file(FILE, self.ground, self.method),
            **data(seed),
            "rw": "write",
            "bs": BLOCK_BYTES,
            "size": max(self.ingest * self.seconds, BLOCK_BYTES),
            "runtime": self.seconds,
            "rate": self.ingest,
            "fsync": SYNC_EVERY,
            "end_fsync": 1,
            "fallocate": "none",
            "create_on_open": 1,
        }

    def _reader(self, seed: int) -> Options:
        return {
            **on_file(READ_FILE, self.ground, self.method),
            **data(seed),
            "rw": "randread",
            "bs": BLOCK_BYTES,
            "iodepth": READERS,
            "size": self.working_bytes,
            "norandommap": 1,
            "time_based": 1,
            "runtime": self.seconds,
        }

    def _behind(self, rate: float) -> Flags:
        if rate >= ON_SCHEDULE * self.ingest:
            return ()
        why = f"expected the writer at {self.ingest} B/s, got {rate:.0f} B/s"
        return (Raised(Flag.BEHIND_SCHEDULE, why),)
