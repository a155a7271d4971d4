"""Times of blocks in the evidence, as the rules read them during the replay."""

from dataclasses import dataclass, field

from contracts.encoding import parse
from contracts.proto.block_info_pb2 import BlockInfoTxn
from contracts.sawtooth.block_info import entries_of


@dataclass(slots=True)
class BlockTimesTold:
    """The time of the block whose batches are replayed.

    A block of the file without its time leaves the rules without one: an earlier block's time
    would make honest readings look too late.

    Attributes:
        blocks: Blocks of the file with batches that are replayed.
        timed: Those of them that begin with a time.
    """

    blocks: set[int] = field(default_factory=set)
    timed: set[int] = field(default_factory=set)
    _now: dict[str, bytes] = field(default_factory=dict)

    def tell(self, payload: bytes, block_num: int, state: dict[str, bytes]) -> None:
        """Take the time with which a block begins.

        Raises:
            RejectedError: This is not a payload of family block_info.
        """
        self._forget(state)
        told = parse(BlockInfoTxn, payload)
        if told.HasField("block"):
            self._now = entries_of(told.block)
            state.update(self._now)
            self.timed.add(block_num)

    def enter(self, block_num: int, state: dict[str, bytes]) -> None:
        """Take a transaction of a block: the time of another block no longer counts."""
        self.blocks.add(block_num)
        if self._now and block_num not in self.timed:
            self._forget(state)

    def _forget(self, state: dict[str, bytes]) -> None:
        for place in self._now:
            state.pop(place, None)
        self._now = {}
