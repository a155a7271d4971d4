"""The timestamps of a load: rates, tables over time, and BEP-23's table."""

import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from storage.bench.ledger.loader import Fate
from storage.bench.run.outcome import Series
from storage.bench.trucks.signed import read_signed

CSV: Final = "bep-23.csv"
Parts = Callable[[bytes], Iterator[tuple[str, int]]]
"""See `LedgerReader.parts`."""
CSV_COLUMNS: Final = (
    "txid", "size", "ts_intended", "ts_send", "ts_accept", "ts_exec", "ts_commit", "ts_error",
)  # fmt: skip
"""BEP-23's columns, and due and execution times; seconds since the first due time, or empty."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """All timestamps of one load.

    Attributes:
        fates: In the order of due times; at least one.
        per_batch: Transactions in each batch.
        executions: Transaction ids and times of all executions; None if unknown.
        scheduled: The load, or the consensus, kept to a schedule.
        loader_share: Of one core, used by the client that made the load.
    """

    fates: Sequence[Fate]
    per_batch: int
    executions: Sequence[tuple[str, float]] | None = field(default=None)
    scheduled: bool = False
    loader_share: float = 0.0

    @property
    def start_s(self) -> float:
        """Return when the first was due."""
        return self.fates[0].intended_s

    @property
    def committed(self) -> Sequence[Fate]:
        """Return the batches that were committed."""
        return [fate for fate in self.fates if not fate.error]

    @property
    def rate_per_s(self) -> float:
        """Return transactions committed per second.

        On a schedule, the rate of the middle three quarters: the time of the first and the last
        batches is latency and not rate. Otherwise the rate of all, from the first submission to
        the last decision.
        """
        ends_s = sorted(fate.decided_s for fate in self.committed)
        if not ends_s:
            return 0.0
        early, late = len(ends_s) // 8, len(ends_s) * 7 // 8
        if self.scheduled and ends_s[late] > ends_s[early]:
            return (late - early) * self.per_batch / (ends_s[late] - ends_s[early])
        return len(ends_s) * self.per_batch / self.span_s

    def busiest_per_s(self, window_s: float) -> float:
        """Return the most transactions per second that were committed in any window."""
        counts = _counts((fate.decided_s for fate in self.committed), self.start_s, window_s)
        return max(counts.values(), default=0) * self.per_batch / window_s

    @property
    def executed_per_s(self) -> float | None:
        """Return executions per second, repeated and unused ones included; None if unknown."""
        if self.executions is None:
            return None
        count = len(self.committed) * self.per_batch
        return self.rate_per_s * len(self.executions) / count if count else 0.0

    @property
    def span_s(self) -> float:
        """Return the time from the first submission until all was decided."""
        ended_s = max(fate.decided_s for fate in self.fates)
        return ended_s - min(fate.sent_s for fate in self.fates)

    def over_time(self, width_s: float) -> Series:
        """Return transactions sent, accepted, executed and committed, and BEP-23's backlog.

        Args:
            width_s: Seconds of one row.
        """
        sent = self._counted((fate.sent_s for fate in self.fates), width_s)
        accepted = self._counted((f.accepted_s for f in self.fates if f.accepted_s), width_s)
        done = self._counted((fate.decided_s for fate in self.committed), width_s)
        known = self.executions is not None
        times = [at_s for _, at_s in self.executions or ()]
        executed = _counts(times, self.start_s, width_s)
        columns = ["seconds", "sent_per_s", "accepted_per_s", "committed_per_s", "backlog"]
        rows: list[list[float]] = []
        backlog = 0
        for number in range(1 + max((*sent, *accepted, *done, *executed))):
            backlog += accepted[number] - done[number]
            row = [number * width_s, sent[number] / width_s, accepted[number] / width_s]
            row += [done[number] / width_s, backlog]
            rows.append(row + ([executed[number] / width_s] if known else []))
        return Series("transactions", columns + (["executed_per_s"] if known else []), rows)

    def latencies_over_time(self, width_s: float) -> Series:
        """Return median times to accept and to commit, by the time of sending."""
        by_row: dict[int, list[Fate]] = {}
        for fate in self.committed:
            by_row.setdefault(int((fate.sent_s - self.start_s) / width_s), []).append(fate)
        rows = [
            (
                number * width_s,
                median(fate.accepted_s - fate.sent_s for fate in some),
                median(fate.decided_s - fate.sent_s for fate in some),
                max(fate.decided_s - fate.sent_s for fate in some),
            )
            for number, some in sorted(by_row.items())
        ]
        columns = ("seconds", "accept_median_s", "commit_median_s", "commit_max_s")
        return Series("latency", columns, rows)

    def table(self, files: Sequence[Path], parts: Parts) -> bytes:
        """Return BEP-23's table as CSV, one row for each transaction of the loaded files.

        Args:
            files: Of signed batches.
            parts: Takes a batch apart.
        """
        executed: dict[str, float] = {}
        for name, at_s in self.executions or ():
            executed.setdefault(name, at_s)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        wires = _wires(files, {fate.batch_id for fate in self.fates})
        for fate in self.fates:
            for name, size in parts(wires[fate.batch_id]):
                writer.writerow([name, size, *self._times(fate, executed.get(name))])
        return out.getvalue().encode()

    def _times(self, fate: Fate, executed_s: float | None) -> list[str]:
        ended_s = fate.decided_s or None
        times = (
            fate.intended_s,
            fate.sent_s,
            fate.accepted_s or None,
            executed_s,
            None if fate.error else ended_s,
            ended_s if fate.error else None,
        )
        return ["" if at_s is None else f"{at_s - self.start_s:.6f}" for at_s in times]

    def _counted(self, times: Iterable[float], width_s: float) -> Counter[int]:
        counts = _counts(times, self.start_s, width_s)
        return Counter({number: count * self.per_batch for number, count in counts.items()})


def percentile(values: Iterable[float], percent: float) -> float:
    """Return the nearest-rank percentile of at least one value."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def _counts(times: Iterable[float], start_s: float, width_s: float) -> Counter[int]:
    return Counter(max(0, int((at_s - start_s) / width_s)) for at_s in times)


def _wires(files: Sequence[Path], names: set[str]) -> Mapping[str, bytes]:
    return {name: wire for path in files for name, wire in read_signed(path) if name in names}
