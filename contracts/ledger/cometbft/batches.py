"""Batches as CometBFT carries them: one of its transactions is one serialised batch, compressed.

A batch of 100 readings has 108 kB, a quarter of it as a Zstandard frame. CometBFT passes each
transaction on to all others, up to three times, in packets of one kilobyte, and writes it twice; so
its CPU goes by bytes. A batch that is not compressed is as good; while the network's setting does
not say that all validators know compressed ones, none is sent.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.ledger.blocks.compression import MAGIC, compressed, expanded
from contracts.ledger.cometbft.home import MEMPOOL_BATCHES
from contracts.ledger.cometbft.proposals import Carried
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.ledger.engine.governed import Governed
from contracts.ledger.engine.ports import BlockReader
from contracts.ledger.execution.settings import Readable, setting_in_force
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.counts import check_transactions_of
from contracts.sawtooth.settings import CARRIED, ZSTD

REMEMBERED_BATCHES: Final = MEMPOOL_BATCHES
REMEMBERED_BYTES: Final = 128 << 20
"""Serialised batches. A proposer looks at the first 4 MiB of its mempool again at each height."""
EXPANSION_MAX: Final = 32
"""How many times longer a batch may be than its frame: ten bytes must not cost a validator 16 MiB.
Readings are 4 to 5 times longer."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A batch in a transaction of the engine, and whether that is a frame."""

    batch: VerifiedBatch
    is_frame: bool


class CarriedBatches:
    """Parses and verifies each transaction of the engine once; safe in any thread.

    The batch that was not asked for the longest time is forgotten first: batches that proposers
    are shown are asked for at each height, and those that wait behind them are not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._bytes = 0

    def get(self, tx: bytes, *, frames: bool) -> VerifiedBatch:
        """Return the batch in a transaction of the engine, all of its signatures checked.

        Args:
            tx: The transaction.
            frames: Whether it may be a frame.

        Raises:
            RejectedError: It is not a batch, or not a valid one. Each validator says the same.
        """
        with self._lock:
            known = self._known.get(tx)
            if known is not None:
                self._known.move_to_end(tx)
        if known is None:
            known = _verified(tx, frames=frames)
            self._add(tx, known)
        if known.is_frame and not frames:
            raise RejectedError("compressed batch, before the network carries batches compressed")
        return known.batch

    def add(self, tx: bytes, batch: VerifiedBatch) -> None:
        """Remember a batch that was verified elsewhere in this process, and made to `tx` here."""
        self._add(tx, _Known(batch, is_frame=tx.startswith(MAGIC)))

    def forget(self, txs: Iterable[bytes]) -> None:
        """Drop what was decided."""
        with self._lock:
            for tx in txs:
                if (known := self._known.pop(tx, None)) is not None:
                    self._bytes -= known.batch.size

    def _add(self, tx: bytes, known: _Known) -> None:
        with self._lock:
            if tx not in self._known:
                self._known[tx] = known
                self._bytes += known.batch.size
            while len(self._known) > REMEMBERED_BATCHES or self._bytes > REMEMBERED_BYTES:
                _, forgotten = self._known.popitem(last=False)
                self._bytes -= forgotten.batch.size


class AllowedBatches:
    """Reads what the engine carries as the chain allows after its newest block; for one thread.

    Args:
        chain: Says whether a batch may be compressed.
        batches: The batches that were verified already.
    """

    def __init__(self, chain: BlockReader, batches: CarriedBatches) -> None:
        self._batches = batches
        self._frames = Governed(chain, may_be_compressed, before=False)

    def get(self, tx: bytes) -> VerifiedBatch:
        """Return the batch in a transaction of the engine, all of its signatures checked.

        Raises:
            RejectedError: It is not a batch, or not a valid one, or compressed too early. Each
                validator says the same after the same block.
        """
        return self._batches.get(tx, frames=self._frames.now())

    def within(self, txs: Iterable[bytes], size_max: int) -> Iterator[Carried]:
        """Yield transactions with their batches, up to the first beyond `size_max` bytes together.

        Raises:
            RejectedError: See `get`.
        """
        size = 0
        for tx in txs:
            yield Carried(tx, batch := self.get(tx))
            size += batch.size
            if size > size_max:
                return


def may_be_compressed(state: Readable) -> bool:
    """Say whether a batch may come compressed: the setting is there, whatever it says.

    Once it is, it stays, so a batch that was under way when its value changed is still read.
    """
    return setting_in_force(state, CARRIED) is not None


def are_compressed(state: Readable) -> bool:
    """Say whether the network carries batches compressed, because all validators know such ones."""
    return setting_in_force(state, CARRIED) == ZSTD


def carried(batch: Batch) -> bytes:
    """Return a batch as a network carries it that compresses."""
    wire = canonical(batch)
    frame = compressed(wire)
    return frame if len(frame) < len(wire) <= EXPANSION_MAX * len(frame) else wire


def _verified(tx: bytes, *, frames: bool) -> _Known:
    """Return the batch in a transaction of the engine.

    A batch with a field that nobody knows may begin like a frame. Validators from before there were
    frames take it, so the others have to take it too.
    """
    try:
        return _Known(verify_batch(_parse(tx)), is_frame=False)
    except RejectedError:
        if not (frames and tx.startswith(MAGIC)):
            raise
    most = min(BLOCK_BATCH_BYTES_MAX, EXPANSION_MAX * len(tx))
    return _Known(verify_batch(_parse(expanded(tx, most, "batch"))), is_frame=True)


def _parse(wire: bytes) -> Batch:
    """Parse a batch; drops what no signature covers, as `parse_batches` does."""
    if len(wire) > BLOCK_BATCH_BYTES_MAX:
        raise RejectedError(f"batch of {len(wire)} bytes, at most {BLOCK_BATCH_BYTES_MAX} allowed")
    check_transactions_of(wire)
    batch = parse(Batch, wire)
    batch.DiscardUnknownFields()
    batch.ClearField("trace")
    return batch
