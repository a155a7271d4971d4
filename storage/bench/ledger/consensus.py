"""What the consensus settings allow, whatever the storage: transactions per block and interval.

Source: Sawtooth 1.2 administration guide, and the documentation of each engine, 1.0 to 1.2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contracts.sawtooth.settings import MAX_BATCHES_PER_BLOCK
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Ceiling

ALGORITHM: Final = "sawtooth.consensus.algorithm.name"
NEAR: Final = 0.95
"""From so much of the ceiling on, a figure shows the settings."""
_INTERVALS: Final = {
    "pbft": ("sawtooth.consensus.pbft.block_publishing_delay", 1_000.0, 0.001),
    "poet": ("sawtooth.poet.target_wait_time", 20.0, 1.0),
    "raft": ("sawtooth.consensus.raft.period", 3_000.0, 0.001),
    "devmode": ("sawtooth.consensus.min_wait_time", 0.0, 1.0),
}
"""By algorithm: the setting, its default, and seconds in its unit."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """The pace of a ledger's blocks.

    Attributes:
        algorithm: As on-chain.
        batches_per_block: At most; 0 means any number.
        interval_s: From block to block, at least or on average; 0 means no pause.
    """

    algorithm: str
    batches_per_block: int
    interval_s: float

    def ceiling(self, per_batch: int) -> Ceiling | None:
        """Return the most transactions a second, if the settings limit them.

        Args:
            per_batch: Transactions in one batch; Sawtooth counts batches.
        """
        if not self.batches_per_block or not self.interval_s:
            return None
        return Ceiling(
            self.batches_per_block * per_batch / self.interval_s,
            f"{self.algorithm}: {self.batches_per_block} batches of {per_batch} in a block, "
            f"a block every {self.interval_s:g} s",
        )


def read_consensus(setting: Callable[[str], str], interval_s: float | None = None) -> Consensus:
    """Return what a ledger's settings say.

    Args:
        setting: Returns the value of an on-chain setting, empty when there is none.
        interval_s: When the interval is known without.
    """
    algorithm = setting(ALGORITHM)
    most = setting(MAX_BATCHES_PER_BLOCK)
    if interval_s is None:
        name, default, unit_s = _INTERVALS.get(algorithm.lower(), ("", 0.0, 1.0))
        interval_s = _number(setting(name) if name else "", default) * unit_s
    return Consensus(algorithm, int(_number(most, 0.0)), interval_s)


def near(rate: float, ceiling: Ceiling | None) -> tuple[Raised, ...]:
    """Return the flag of a rate that shows the settings and nothing else."""
    if ceiling is None or rate < NEAR * ceiling.value:
        return ()
    why = f"{rate:.3g}/s is at the ceiling of {ceiling.value:.3g}/s ({ceiling.why})"
    return (Raised(Flag.AT_CONSENSUS_CEILING, why),)


def _number(text: str, default: float) -> float:
    try:
        return float(text)
    except ValueError:
        return default
