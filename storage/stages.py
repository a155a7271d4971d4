"""Port: told how long each piece of an offload took, by stage, to say where time goes.

Pieces of different stages overlap, and so do those of several offloads: a stage's sum is how long
threads were at it, and may be more than the time that passed.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Protocol


class Stage(StrEnum):
    """What a checkpoint does with what a truck brings."""

    INTAKE = "intake"
    """Messages of readings and offers: parsed, signatures checked, durable in the inbox."""
    RECEIVE = "receive"
    """Bytes of a recording awaited from the sender and taken; waits for our own disks left out."""
    HASH = "hash"
    """SHA-256 of the whole, and of each leaf: every byte twice."""
    BLOBS = "blobs"
    """Put into the blob store, durable."""
    VOLUME = "volume"
    """Written to the whole file on a volume, and synced."""
    LEDGER = "ledger"
    """Batches handed to the ledger, and its answer awaited as to what became of them."""
    INDEX = "index"
    """Blocks projected and written into the index."""


class Stages(Protocol):
    """Told of each piece of work once it is done, by any thread; never raises, never waits."""

    def took(self, stage: Stage, seconds: float, size: int) -> None:
        """Note a piece of work.

        Args:
            stage: Which.
            seconds: By the monotonic clock.
            size: Bytes that went through it; 0 where none do.
        """
        ...


class Untold:
    """Nobody wants to know."""

    def took(self, stage: Stage, seconds: float, size: int) -> None:
        """See `Stages.took`."""


@contextmanager
def timed(stages: Stages, stage: Stage, size: int = 0) -> Iterator[None]:
    """Note how long the block takes, also when it fails."""
    start_s = time.perf_counter()
    try:
        yield
    finally:
        stages.took(stage, time.perf_counter() - start_s, size)
