"""Ports: all that REST and the component port know of the engine, which makes the blocks.

The embedded engine (`solo/`) implements both, and so does an engine in memory for tests.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from contracts.errors import UnavailableError
from contracts.ledger.engine.blocks import ChainPosition, StoredBlock
from contracts.ledger.execution.executor import InvalidTransaction
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.ledger.state.reader import StateReader
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.sawtooth.batches import Status


class QueueFullError(UnavailableError):
    """The queue has no room; nothing was taken, and the same batches may be taken later."""


class CannotWriteError(UnavailableError):
    """No block can be written now, for the reason given; reading still works."""


class Submitter(Protocol):
    """Takes verified batches for the next blocks, and knows what became of them.

    For the event loop's thread only; nothing here blocks it.

    Order: Batches are tried in the order of `submit`. Those of one call land in one block, unless
        the network limits how many batches a block holds, or a network of validators makes the
        blocks: it may begin one between two of them.
    Durability: A batch is durable once its status is COMMITTED. Until then it is lost with the
        process, and its sender submits it again.
    Idempotence: A batch that is committed or pending already may be submitted again; it is
        committed once.
    """

    def check(self, size: int) -> None:
        """Check that `size` bytes of batches would be taken now; nothing is reserved.

        Raises:
            CannotWriteError: No block can be written.
            QueueFullError: The queue has no room for them.
        """
        ...

    def hold(self, *, batches: int = 0, size: int = 0) -> None:
        """Reserve `size` bytes of the queue for batches that are still received and verified.

        Raises:
            QueueFullError: There is no room; nothing was reserved.
        """
        ...

    def release(self, *, batches: int = 0, size: int = 0) -> None:
        """Free reserved room, of batches that will not be submitted."""
        ...

    def submit(self, batches: Sequence[VerifiedBatch], size: int) -> None:
        """Put batches at the end of the queue; each is PENDING until it is decided.

        Args:
            batches: In order; room for as many is held.
            size: Bytes held for them. The engine frees both once the batches are decided.
        """
        ...

    def status(self, batch_id: str) -> Status:
        """Return what became of a batch; UNKNOWN once it is forgotten.

        Raises:
            UnavailableError: The chain cannot be read.
        """
        ...

    def refusal(self, batch_id: str) -> InvalidTransaction | None:
        """Return why a batch is invalid, or never decided; None for another batch."""
        ...

    async def wait(self, batch_ids: Sequence[str], timeout_s: float) -> None:
        """Return once none of the batches is pending, or after `timeout_s` seconds."""
        ...


class Sealer(Protocol):
    """Tells what a network's validators signed about a block; any thread."""

    def seals(self, block_num: int) -> Sequence[SealedHeader]:
        """Return the sealed headers that lead from the network's first validators to a block.

        The last one names the block; nothing is returned while that one is not signed yet, which
        takes a moment after the block.

        Raises:
            UnavailableError: The engine does not answer, or no longer has those headers.
        """
        ...


class BlockReader(Protocol):
    """Reads committed blocks and the state after them; safe in any thread.

    Order: A block becomes visible after all before it, together with its receipts and its state.
    Durability: A visible block has been synced and is never taken back.
    Errors: All but `head`, `governed_since` and `follow` raise `UnavailableError` when what is
        stored cannot be read.
    """

    @property
    def head(self) -> StoredBlock | None:
        """Return the newest block; None before the genesis block."""
        ...

    @property
    def governed_since(self) -> int:
        """Return the newest block that may have changed what later blocks obey; 0 if none is known.

        Settings and roles that were read stay true as long as this number does. It changes after
        `head` has, so it is read first.
        """
        ...

    def by_num(self, number: int) -> StoredBlock | None:
        """Return the block with `number`, any integer; None if no block has it."""
        ...

    def by_id(self, block_id: str) -> StoredBlock | None:
        """Return the block with `block_id`, any text; None if no block has it."""
        ...

    def find_batch(self, batch_id: str) -> ChainPosition | None:
        """Return where a batch is committed; None when it is not."""
        ...

    def find_transaction(self, transaction_id: str) -> ChainPosition | None:
        """Return where a transaction is committed; None when it is not."""
        ...

    def state_after(self, block_num: int) -> StateReader:
        """Return the state after a block.

        Raises:
            NotKeptError: It is no longer kept.
        """
        ...

    def follow(self, notice: Callable[[], None]) -> None:
        """Have `notice` called after every new block becomes visible.

        It may be called in any thread, and must neither block nor fail. Several blocks may share
        one call, so a follower reads on from the last block that it has seen.
        """
        ...
