"""What the ledger must reach."""

from typing import Final

from storage.bench.ours.targets import Target, Targets

Figures = dict[str, float]
"""Values by the names that the JSON object has."""
REAL_NODE_PER_CPU_S: Final = 130
"""Transactions per second of CPU that a Sawtooth 1.2.6 node committed on two such cores."""


TARGETS: Final[Targets] = {
    "readings_per_s": Target("readings, one per transaction, batches of 100", 5_000, "/s"),
    "readings_per_s_runs": Target("readings in runs of 60 per transaction", 50_000, "/s"),
    "single_batches_per_s": Target("batches of one transaction, one per POST", 1_500, "/s"),
    "p50_ms": Target("POST to COMMITTED at 500 readings/s, median", 50, "ms", most=True),
    "p99_ms": Target("POST to COMMITTED at 500 readings/s, 99 %", 250, "ms", most=True),
    "bytes_per_reading": Target("disk per reading, ledger and state", 1_500, "bytes", most=True),
    "restart_s": Target("restart", 5, "s", most=True),
    "rss_mb": Target("resident after the restart", 400, "MB", most=True),
    "catchup_per_s": Target("readings that an index takes from /blocks", 20_000, "/s"),
}
