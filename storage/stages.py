"""Port: records how long each piece of an offload took, by stage.

Pieces of different stages and of several offloads overlap. So the sum of a stage is the time that
threads spent in it, and may exceed the time that passed.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from typing import Final, NamedTuple, Protocol


class Stage(StrEnum):
    """A stage of an offload at the checkpoint."""

    INTAKE = "intake"
    """Messages of readings and offers: parsed, signatures checked, durable in the inbox."""
    RECEIVE = "receive"
    """Waiting for and taking the bytes of a recording, without waits for our own disks."""
    HASH = "hash"
    """SHA-256 of the whole, and of each leaf: every byte twice."""
    BLOBS = "blobs"
    """Put into the blob store, durable."""
    VOLUME = "volume"
    """Written to the whole file on a volume, and synced."""
    LEDGER = "ledger"
    """Batches submitted to the ledger, and the wait until it says what became of them."""
    INDEX = "index"
    """Blocks projected and written into the index."""


class Stages(Protocol):
    """Records each piece of work once it is done, in any thread; never raises, never waits."""

    def took(self, stage: Stage, seconds: float, size: int) -> None:
        """Note a piece of work.

        Args:
            stage: Its stage.
            seconds: By the monotonic clock.
            size: Bytes that were processed; 0 where none are.
        """
        ...


class _NotRecorded:
    def took(self, stage: Stage, seconds: float, size: int) -> None:
        """See `Stages.took`."""


NOT_RECORDED: Final[Stages] = _NotRecorded()
"""Records nothing."""


class StageMeter(NamedTuple):
    """Records the work of one stage, for a caller that has no other.

    Attributes:
        timed: Returns a context that records how long its block takes, also if it fails.
        add_bytes: Adds bytes that were processed.
    """

    timed: Callable[[], AbstractContextManager[object]]
    add_bytes: Callable[[float], object]


NO_METER: Final = StageMeter(nullcontext, lambda _: None)
"""Records nothing."""


@contextmanager
def timed(stages: Stages, stage: Stage, size: int = 0) -> Iterator[None]:
    """Record how long the block takes, also if it fails."""
    start_s = time.perf_counter()
    try:
        yield
    finally:
        stages.took(stage, time.perf_counter() - start_s, size)
