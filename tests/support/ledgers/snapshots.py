"""Snapshots without CometBFT: one application gives chunks, and another takes them."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.record import decode_record, encode_record
from contracts.ledger.cometbft.executing import Executing
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.snapshots.chunks import Piece
from contracts.ledger.cometbft.snapshots.offering import FORMAT, Offering
from contracts.ledger.cometbft.snapshots.remaking import Remaking
from contracts.ledger.cometbft.snapshots.restoring import Restoring
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.execution.jobs import NoProcessors
from contracts.proto.abci_pb2 import (
    RequestApplySnapshotChunk,
    RequestLoadSnapshotChunk,
    RequestOfferSnapshot,
    ResponseApplySnapshotChunk,
    ResponseOfferSnapshot,
    Snapshot,
)
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.proto.sawtooth_pb2 import Batch, Block
from contracts.sawtooth.blocks import network_height
from support.ledgers.heights import CHAIN, VALIDATOR, Heights
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.sealing import Member, seal

MEMBERS = [Member(VALIDATOR)]
POWERS = {VALIDATOR.public_key: 1}
ACCEPT = ResponseApplySnapshotChunk.ACCEPT
RETRY = ResponseApplySnapshotChunk.RETRY
ABORT = ResponseApplySnapshotChunk.ABORT
TAKEN = ResponseOfferSnapshot.ACCEPT
BLOCKS = 10
"""Of the chain that is given, after its first one."""


@dataclass
class Engine:
    """What an engine would have of a chain; implements `Signed`.

    Attributes:
        chain: The chain.
        ahead: Heights after the newest block.
        members: Who signs.
    """

    chain: Chain
    ahead: int = 2
    members: Sequence[Member] = field(default_factory=lambda: MEMBERS)

    def latest(self) -> int:
        head = self.chain.head
        assert head is not None
        return (network_height(head.header) or 0) + self.ahead

    def of_heights(self, heights: Iterable[int]) -> list[SealedHeader]:
        return [self._seal(height) for height in heights]

    def _seal(self, height: int) -> SealedHeader:
        head = self.chain.head
        assert head is not None
        blocks = map(self.chain.by_num, range(head.num, -1, -1))
        named = next(
            each.id
            for each in blocks
            if each is not None and (network_height(each.header) or 0) < height
        )
        return seal(named, self.members, height=height, chain_id=CHAIN)


def offering(given: Heights) -> Offering:
    """Return what gives the chain of an application."""
    return Offering(given.chain, Engine(given.chain))


def chunks_of(given: Offering, snapshot: Snapshot) -> list[bytes]:
    """Return all chunks of a snapshot."""
    return [
        given.load_snapshot_chunk(
            RequestLoadSnapshotChunk(height=snapshot.height, format=FORMAT, chunk=index)
        ).chunk
        for index in range(snapshot.chunks)
    ]


def forged(piece: Piece, batches: Sequence[Batch]) -> Piece:
    """Return a block with other batches under the same ids, and the same header."""
    stored = decode_record(piece.record)
    block = Block()
    block.CopyFrom(stored.block)
    for mine, other in zip(block.batches, batches, strict=True):
        name = mine.header_signature
        mine.CopyFrom(other)
        mine.header_signature = name
    told = StoredBlock(block, stored.header, stored.receipt_bytes)
    return replace(piece, record=encode_record(told))


@dataclass
class Taker:
    """A validator that takes a snapshot."""

    restoring: Restoring
    chain: Chain
    stopping: threading.Event

    def offer(self, snapshot: Snapshot, app_hash: bytes | None = None) -> int:
        trusted = snapshot.hash if app_hash is None else app_hash
        request = RequestOfferSnapshot(snapshot=snapshot, app_hash=trusted)
        return self.restoring.offer_snapshot(request).result

    def apply(self, index: int, chunk: bytes, sender: str = "good") -> ResponseApplySnapshotChunk:
        request = RequestApplySnapshotChunk(index=index, chunk=chunk, sender=sender)
        return self.restoring.apply_snapshot_chunk(request)


@contextmanager
def taker(directory: Path, founding: Founding) -> Iterator[Taker]:
    """Open an empty chain that is to begin with a snapshot."""
    chain = Chain.open(directory)
    stopping = threading.Event()
    executing = Executing(FAMILIES, NoProcessors(), stopping)

    def write(*made: object) -> None:
        chain.commit(*made, sync=False)  # type: ignore[arg-type]  # passed on as it comes

    remaking = Remaking(chain, FAMILIES, executing, founding, 0, write)
    try:
        restoring = Restoring(directory, CHAIN, POWERS, remaking, chain.sync, stopping)
        yield Taker(restoring, chain, stopping)
    finally:
        chain.close()


def states(taken: Taker, given: Heights, newest: int) -> None:
    """Check that a taken chain is the given one up to a block: blocks, receipts and state."""
    assert taken.chain.head is not None
    assert taken.chain.head.num == newest
    for number in range(newest + 1):
        one, other = taken.chain.by_num(number), given.chain.by_num(number)
        assert one == other
