"""Makes blocks again that validators made: executes their batches, and compares each block's id.

A block's header names its batches by their signatures, and the state after it by its root. Only
when all batches are verified and executed is it sure that these are the batches which the
validators executed; receipts come of it, too. So nothing of a snapshot is taken on trust.
"""

from collections.abc import Callable, Sequence

from contracts.errors import RejectedError
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.repeating import executed_again
from contracts.ledger.cometbft.executing import Executing
from contracts.ledger.cometbft.founding import BEFORE, Founding, begun, network_block
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.ledger.state.merkle import Update
from contracts.proto.sawtooth_pb2 import Batch, Block, TransactionReceipt
from contracts.sawtooth.blocks import network_height

Write = Callable[[Block, Sequence[TransactionReceipt], Update], None]


def verified(stored: StoredBlock) -> list[VerifiedBatch]:
    """Verify the batches of a block that somebody sent.

    Raises:
        RejectedError: One of them is invalid.
    """
    return [verify_batch(_plain(batch)) for batch in stored.block.batches]


class Remaking:
    """Puts one block after the other on a chain.

    Args:
        chain: Empty, or left by blocks of the same network.
        families: Rules of the families in this process.
        executing: Executes batches, those of other processes' families too.
        founding: How the network begins.
        began_s: When it began, seconds since 1970, UTC.
        write: Commits a block.
    """

    def __init__(
        self,
        chain: Chain,
        families: Families,
        executing: Executing,
        founding: Founding,
        began_s: int,
        write: Write,
    ) -> None:
        self._chain = chain
        self._families = families
        self._executing = executing
        self._founding = founding
        self._began_s = began_s
        self._write = write

    def has(self, stored: StoredBlock) -> bool:
        """Say whether the chain has a block already.

        Raises:
            RejectedError: It has another one of that number.
        """
        known = self._chain.by_num(stored.num)
        if known is not None and known.id != stored.id:
            raise RejectedError(f"block {stored.num} here is {known.id[:16]}…, of another chain")
        return known is not None

    def make(self, stored: StoredBlock, batches: Sequence[VerifiedBatch]) -> None:
        """Execute and commit the next block.

        Raises:
            RejectedError: The batches do not make the block with that id.
            UnavailableError: The disk failed, or the node stops while a processor is awaited.
        """
        height = network_height(stored.header) or BEFORE
        candidate = self._candidate(stored, batches)
        block, update = network_block(self._chain, candidate, height)
        if block.header_signature != stored.id:
            raise RejectedError(
                f"block {stored.num}: its batches lead to state root {update.root_hash[:16]}… and "
                f"block {block.header_signature[:16]}…, the validators made state root "
                f"{stored.header.state_root_hash[:16]}… and block {stored.id[:16]}…"
            )
        self._write(block, candidate.receipts, update)

    def _candidate(self, stored: StoredBlock, batches: Sequence[VerifiedBatch]) -> Candidate:
        chain, predecessor = self._chain, self._founding.predecessor
        first = 0 if predecessor is None else predecessor.block_num + 1
        if stored.num == first:  # by the network file, so that no other network's chain is taken
            return begun(chain, self._founding, self._families, self._began_s)
        return executed_again(chain, self._families, batches, stored.num, self._executing.add)


def _plain(batch: Batch) -> Batch:
    """Drop what no signature covers, as the engine's batches do without it."""
    batch.DiscardUnknownFields()
    batch.ClearField("trace")
    return batch
