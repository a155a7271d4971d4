"""The ceiling that consensus settings set, whatever the storage: batches per block and interval.

Source: Sawtooth 1.2 administration guide, and the documentation of each engine, 1.0 to 1.2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contracts.sawtooth.settings import BATCH_INJECTORS, MAX_BATCHES_PER_BLOCK
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Ceiling

ALGORITHM: Final = "sawtooth.consensus.algorithm.name"
NEAR: Final = 0.95
"""From this share of the ceiling on, a figure shows the settings."""
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
        batches_per_block: Of clients, at most; 0 means any number.
        interval_s: From block to block, at least or on average; 0 means no pause.
    """

    algorithm: str
    batches_per_block: int
    interval_s: float

    def ceiling(self, per_batch: int) -> Ceiling | None:
        """Return the most transactions a second; None if the settings do not limit them.

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
    """Read the consensus from a ledger's settings.

    Args:
        setting: Returns the value of an on-chain setting; empty if it is not set.
        interval_s: The interval, if it is known; else the settings give it.
    """
    algorithm = setting(ALGORITHM)
    most = setting(MAX_BATCHES_PER_BLOCK)
    if interval_s is None:
        name, default, unit_s = _INTERVALS.get(algorithm.lower(), ("", 0.0, 1.0))
        interval_s = _number(setting(name) if name else "", default) * unit_s
    batches = int(_number(most, 0.0))
    if batches and setting(BATCH_INJECTORS):
        batches = max(batches - 1, 1)  # each block begins with one of its signer's own
    return Consensus(algorithm, batches, interval_s)


def near(rate: float, ceiling: Ceiling | None) -> tuple[Raised, ...]:
    """Return the flag of a rate that shows only the settings."""
    if ceiling is None or rate < NEAR * ceiling.value:
        return ()
    why = f"{rate:.3g}/s is at the ceiling of {ceiling.value:.3g}/s ({ceiling.why})"
    return (Raised(Flag.AT_CONSENSUS_CEILING, why),)


def _number(text: str, default: float) -> float:
    try:
        return float(text)
    except ValueError:
        return default
