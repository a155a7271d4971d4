"""The executions and failures of a run so far, in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from storage.bench.run.outcome import Observation, Outcome
from storage.bench.run.plan import Part


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution of a step.

    Attributes:
        repetition: Counted from 0.
        ordinal: Position in the order of the whole run, from 0.
        started_at_ms: UTC.
        elapsed_s: By the monotonic clock.
    """

    part: Part
    workload: str
    target: str
    repetition: int
    ordinal: int
    started_at_ms: int
    elapsed_s: float
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Failure:
    """One step, or the start of a group, that ended with an error.

    Attributes:
        why: In words.
    """

    part: Part
    workload: str
    target: str
    why: str


@dataclass(slots=True)
class Record:
    """Everything done, in order."""

    executions: list[Execution] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def figures(self) -> Iterator[tuple[Execution, list[tuple[Execution, Observation]]]]:
        """Yield for each figure of a workload on a target the first execution and all values."""
        by_figure: dict[tuple[str, ...], list[tuple[Execution, Observation]]] = {}
        for done in self.executions:
            for seen in done.outcome.observations:
                key = (done.part, done.workload, done.target, seen.metric.name)
                by_figure.setdefault(key, []).append((done, seen))
        for values in by_figure.values():
            yield values[0][0], values
