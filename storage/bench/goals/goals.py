"""The goals of our own figures, and the table of figures beside them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.runtime.files import write_file

EVERYONE_READS: Final = 0o644
DIRECTORY: Final = Path("build/bench")
"""Target of the runs; keeps their JSON objects."""
RUNS: Final = DIRECTORY / "runs"


@dataclass(frozen=True, slots=True)
class Goal:
    """The bound of one figure.

    Attributes:
        words: What the figure is.
        bound: The least, or with `most` the most, that the figure may be.
        unit: Of both.
        most: Whether less is better.
    """

    words: str
    bound: float
    unit: str
    most: bool = False

    def met_by(self, value: float) -> bool:
        """Say whether a value meets the goal."""
        return value <= self.bound if self.most else value >= self.bound


Goals = Mapping[str, Goal]
"""By the names of the figures."""

LEDGER_GOALS: Final[Goals] = {
    "readings_per_s": Goal("readings, one per transaction, batches of 100", 5_000, "/s"),
    "late_ratio": Goal("the last readings of the long chain, beside the first", 0.8, ""),
    "readings_per_s_runs": Goal("readings in runs of 60 per transaction", 50_000, "/s"),
    "single_batches_per_s": Goal("batches of one transaction, one per POST", 1_500, "/s"),
    "p50_ms": Goal("POST to COMMITTED at 500 readings/s, median", 50, "ms", most=True),
    "p99_ms": Goal("POST to COMMITTED at 500 readings/s, 99 %", 250, "ms", most=True),
    "bytes_per_reading": Goal("disk per reading, ledger and state", 1_500, "bytes", most=True),
    "restart_s": Goal("restart", 5, "s", most=True),
    "rss_mb": Goal("resident after the restart", 400, "MB", most=True),
    "catchup_per_s": Goal("readings that an index takes from /blocks", 20_000, "/s"),
    "index_bytes_per_reading_gateway": Goal("index of a gateway", 225, "bytes", most=True),
    "bft_readings_per_s": Goal("four validators, readings one per transaction", 1_500, "/s"),
    "bft_readings_per_s_runs": Goal("four validators, readings in runs of 60", 15_000, "/s"),
    "bft_cpu_ratio": Goal(
        "CPU of a validator with its engine, beside one node", 1.5, "", most=True
    ),
    "bft_p50_ms": Goal("four validators at 150 readings/s, median", 100, "ms", most=True),
    "bft_pause_s": Goal("one of four killed: longest pause", 3, "s", most=True),
    "end_to_end_ratio": Goal("a truck's journal to its receipt, beside the node alone", 0.7, ""),
}
STORAGE_GOALS: Final[Goals] = {
    "upload_ratio": Goal(
        "upload to two synced copies, beside the slower of dd of both and sha256sum", 1.2, ""
    ),
    "upload_cpu_s_per_gb": Goal("CPU of the gateway for a GB of uploads", 2.2, "s", most=True),
    "cassandra_write_ratio": Goal(
        "recording into Cassandra, beside the best bare driver loop", 0.95, ""
    ),
    "cassandra_read_ratio": Goal(
        "verified stream from Cassandra, beside the best bare driver loop", 0.95, ""
    ),
    "volume_read_ratio": Goal(
        "verified stream from the volume, beside a plain read with sha256", 0.9, ""
    ),
    "rss_mb": Goal("most that the gateway had resident, MB", 300, "MB", most=True),
}
DEVICE_GOALS: Final[Goals] = {
    "rss_mb": Goal("resident at 1 Hz without a camera", 80, "MB", most=True),
    "cpu_percent_at_1hz": Goal("of a core of this machine", 5, "%", most=True),
    "small_cpu_percent_of_its_own": Goal(
        "of a core as small as a Raspberry Pi 3's", 5, "%", most=True
    ),
    "fsyncs_per_s": Goal("calls that wait for the card, at 1 Hz", 1.05, "/s", most=True),
    "offload_ratio": Goal("a long trip, beside the slower of ledger and disk alone", 0.7, ""),
    "people_marked_share": Goal("pictures with people that are marked", 0.95, ""),
    "still_marked_share": Goal("pictures of the still scene that are marked", 0.01, "", most=True),
}


def missed(figures: Mapping[str, float], goals: Goals) -> list[str]:
    """Return the names of the figures that miss their goals."""
    return [
        name for name, goal in goals.items() if name in figures and not goal.met_by(figures[name])
    ]


def row(name: str, value: float, goals: Goals) -> str:
    """Return one line of the table for people."""
    goal = goals.get(name)
    if goal is None:
        return f"{name:28} {value:>12,.2f}"
    word = "at most" if goal.most else "at least"
    verdict = "ok" if goal.met_by(value) else "MISSED"
    return (
        f"{name:28} {value:>12,.2f} {goal.unit:6} {word} {goal.bound:,g}: {verdict:6} {goal.words}"
    )


def written(figures: Mapping[str, Any], path: Path) -> str:
    """Write figures as one JSON object on one line; return the line."""
    text = json.dumps(figures)
    temporary = path.with_suffix(".json.new")
    write_file(path, f"{text}\n".encode(), temporary=temporary, mode=EVERYONE_READS)
    return text
