"""A fleet's report on a gateway: figures for programs, a table for people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from device.fleet.truck import Load, Offloaded

ERRORS_SHOWN_MAX: Final = 10
"""Errors in the table; the JSON line has all of them."""
_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a fleet's offloads.

    Attributes:
        trucks: Number of trucks.
        load: What each truck brings.
        offloaded: The trucks that got their final receipts.
        errors: Why the others got none, by device id.
        recorded_s: How long it took to record and sign all trips, before any offload.
    """

    trucks: int
    load: Load
    offloaded: Sequence[Offloaded]
    errors: Mapping[str, str]
    recorded_s: float

    @property
    def complete(self) -> bool:
        """Say whether every truck got its receipt."""
        return len(self.offloaded) == self.trucks

    def document(self) -> dict[str, Any]:
        """Return all figures in SI units; None where no truck got a receipt."""
        times_s = sorted(each.ended_s - each.began_s for each in self.offloaded)
        elapsed_s = self._elapsed_s()
        readings = sum(each.readings for each in self.offloaded)
        size = len(self.offloaded) * self.load.video_bytes
        return {
            "trucks": self.trucks,
            "receipted": len(self.offloaded),
            "failed": len(self.errors),
            "readings": readings,
            "bytes": size,
            "recorded_s": round(self.recorded_s, 3),
            "elapsed_s": elapsed_s and round(elapsed_s, 3),
            "offload_p50_s": _percentile(times_s, 50),
            "offload_p95_s": _percentile(times_s, 95),
            "offload_max_s": _percentile(times_s, 100),
            "readings_per_s": elapsed_s and round(readings / elapsed_s, 1),
            "bytes_per_s": elapsed_s and round(size / elapsed_s),
            "offloads_s": [round(each, 3) for each in times_s],
            "errors": [{"device_id": name, "why": why} for name, why in self.errors.items()],
        }

    def text(self) -> str:
        """Return the table."""
        found = self.document()
        lines = [f"{'receipted':22}{found['receipted']} of {found['trucks']} trucks"]
        if found["elapsed_s"] is not None:
            lines += [
                f"{'offload, median':22}{found['offload_p50_s']:,.2f} s",
                f"{'offload, 95 %':22}{found['offload_p95_s']:,.2f} s",
                f"{'all of them':22}{found['elapsed_s']:,.2f} s",
                f"{'readings':22}{found['readings_per_s']:,.0f} /s",
                f"{'video':22}{found['bytes_per_s'] / _MB:,.1f} MB/s",
            ]
        errors = list(self.errors.items())
        lines += [f"FAILED {name}: {why}" for name, why in errors[:ERRORS_SHOWN_MAX]]
        if len(errors) > ERRORS_SHOWN_MAX:
            lines.append(f"and {len(errors) - ERRORS_SHOWN_MAX} more")
        return "\n".join(lines)

    def _elapsed_s(self) -> float | None:
        if not self.offloaded:
            return None
        began_s = min(each.began_s for each in self.offloaded)
        return max(each.ended_s for each in self.offloaded) - began_s


def _percentile(sorted_values: Sequence[float], percent: int) -> float | None:
    """Return the nearest-rank percentile."""
    if not sorted_values:
        return None
    return round(sorted_values[math.ceil(percent / 100 * len(sorted_values)) - 1], 3)
