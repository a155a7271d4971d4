"""Time until a small append is durable: a journal and a ledger wait for it."""

from dataclasses import dataclass, field
from typing import Final

from storage.bench.io.content import data
from storage.bench.io.ground import Ground
from storage.bench.io.layout import on_file
from storage.bench.io.measured import Method, measure, percentiles, timed, transferred
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place, Step
from storage.bench.run.rounds import Rounds

FILE: Final = "appends.dat"
APPEND_BYTES: Final = 4096
_PERCENTILES: Final = (50.0, 90.0, 95.0, 99.0, 99.7, 99.9)


@dataclass(frozen=True, slots=True)
class Appends:
    """The workload on one target.

    Attributes:
        count: Appends, unless the time ends first.
        seconds: At most.
    """

    ground: Ground
    method: Method
    count: int
    seconds: int
    rounds: Rounds = field(default_factory=Rounds)

    @property
    def step(self) -> Step:
        """Return it for a plan."""
        return Step("fsync", self.ground.name, self.execute)

    def execute(self, place: Place) -> Outcome:
        """Append to a new file, one at a time, with fdatasync after each."""
        job = {
            **on_file(FILE, self.ground, self.method),
            **data(place.seed),
            "ioengine": "psync",
            "rw": "write",
            "bs": APPEND_BYTES,
            "size": APPEND_BYTES * self.count,
            "runtime": self.seconds,
            "fdatasync": 1,
            "fallocate": "none",
            "create_on_open": 1,  # otherwise fio makes it in full size: no appends
        }
        self.ground.remove(FILE)
        with place.counted():
            found = measure("appends", self.ground, self.method, {"appends": job}, self.seconds)
        self.ground.remove(FILE)
        done = found.report.jobs["appends"]
        operations = {"append": done.write.timings, "fsync": done.sync}
        figures = [
            *transferred(found, "write", done.write, self.rounds),
            *percentiles("fsync", done.sync, _PERCENTILES, found.flags),
        ]
        return found.outcome(figures, timed(operations))
