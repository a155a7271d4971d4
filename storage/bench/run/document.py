"""The result of a run as a JSON document. Its schema: result.schema.json beside this module."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Final

from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Observation
from storage.bench.run.plan import REPETITIONS
from storage.bench.run.record import Execution, Record
from storage.bench.stats.interval import interval

SCHEMA: Final = "wayseal-bench-result/1"
"""The number grows when readers of the old schema would misread the new one."""

Document = dict[str, Any]
"""JSON of the schema."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a result: everything known before the run measures.

    Attributes:
        run: Its name, and its folder's.
        command: As typed.
        seed: Of the order and of all data.
        quick: Sizes are small and repetitions few: the figures are indicative.
        settings: All options, chosen or default; hashed.
        machine: Its fingerprint.
        targets: Each with at least `name` and `interface`.
        guarantees: See `Prepared.guarantees`.
    """

    run: str
    version: str
    command: Sequence[str]
    seed: int
    quick: bool
    started_at: str
    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    targets: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = field(default=())
    guarantees: Sequence[Mapping[str, Any]] = field(default=())


def document(heading: Heading, record: Record, ended: str | None, ended_at: str) -> Document:
    """Return the result.

    Args:
        heading: Of the run.
        record: Its measurements.
        ended: None if the plan was carried out, else the reason, as in `interrupted by SIGINT`.
        ended_at: RFC 3339.
    """
    settings = json.dumps(heading.settings, sort_keys=True, separators=(",", ":"))
    return {
        "schema": SCHEMA,
        **json.loads(json.dumps(asdict(heading))),
        "settings_sha256": sha256(settings.encode()).hexdigest(),
        "ended_at": ended_at,
        "complete": ended is None,
        "ended": ended or "as planned",
        "figures": [_figure(values) for _, values in record.figures()],
        "executions": [_execution(done) for done in record.executions],
        "failures": [asdict(failure) for failure in record.failures],
    }


def _figure(values: Sequence[tuple[Execution, Observation]]) -> Document:
    done, seen = values[0]
    found = interval([each.value for _, each in values])
    raised = [asdict(flag) for _, each in values for flag in each.flags]
    if len(values) < REPETITIONS:
        why = f"expected at least {REPETITIONS} repetitions, got {len(values)}"
        raised.append(asdict(Raised(Flag.FEW_REPETITIONS, why)))
    return {
        "part": done.part,
        "workload": done.workload,
        "target": done.target,
        "metric": seen.metric.name,
        "unit": seen.metric.unit,
        "better": seen.metric.better,
        "values": [each.value for _, each in values],
        **asdict(found),
        "ceiling": None if seen.ceiling is None else asdict(seen.ceiling),
        "flags": [dict(flag) for flag in dict.fromkeys(tuple(each.items()) for each in raised)],
    }


def _execution(done: Execution) -> Document:
    return {
        "part": done.part,
        "workload": done.workload,
        "target": done.target,
        "repetition": done.repetition,
        "ordinal": done.ordinal,
        "started_at_ms": done.started_at_ms,
        "elapsed_s": done.elapsed_s,
        "folder": folder_of(done),
        "series": [each.name for each in done.outcome.series],
        "latencies": [asdict(each) for each in done.outcome.latencies],
    }


def folder_of(done: Execution) -> str:
    """Return the folder of an execution's tables and raw files, relative to the run's folder."""
    return f"raw/{done.ordinal:03}-{done.part}-{done.workload}-{done.target}-{done.repetition}"
