"""Gives new validators the chain: lists snapshots, and cuts chunks out of the block log.

The log is the snapshot, so any height with a block can be given, also one that is no longer listed.
Listed are two that most validators list alike, so that a receiver gets chunks from all of them.

Source: CometBFT 0.38, ABCI 2.0 specification, "State sync".
"""

import logging
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final, Protocol

from contracts.encoding import canonical
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.abci import Method
from contracts.ledger.cometbft.snapshots.chunks import Piece, encode_chunk
from contracts.ledger.cometbft.snapshots.partition import CHUNKS_MAX, Partition, Span, part_of
from contracts.ledger.engine.blocks import StoredBlock
from contracts.proto.abci_pb2 import (
    RequestLoadSnapshotChunk,
    ResponseListSnapshots,
    ResponseLoadSnapshotChunk,
    Snapshot,
)
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.sawtooth.blocks import network_height

_LOG = logging.getLogger(__name__)

FORMAT: Final = 1
AHEAD: Final = 2
"""A receiver needs the engine's next two headers, so the newest two heights are not listed."""
LISTED: Final = 2
FINE_BLOCKS: Final = 128
"""Up to so many blocks each one may be listed; of a chain twice as long every second, and so on."""


class Signed(Protocol):
    """Tells what the engine has; for one thread."""

    def latest(self) -> int:
        """Return the engine's newest height."""
        ...

    def of_heights(self, heights: Iterable[int]) -> list[SealedHeader]:
        """Return what was signed at each of some heights."""
        ...


class Offering:
    """Answers the engine's snapshot connection, in its thread.

    Args:
        chain: The chain.
        signed: The headers and commits that the engine's validators signed.
    """

    def __init__(self, chain: Chain, signed: Signed) -> None:
        self._chain = chain
        self._signed = signed
        self._partition = Partition()

    @property
    def methods(self) -> dict[str, Method]:
        """Return what answers each request, by its name in ABCI."""
        return {
            "list_snapshots": self.list_snapshots,
            "load_snapshot_chunk": self.load_snapshot_chunk,
        }

    def list_snapshots(self, _: object) -> ResponseListSnapshots:
        """Name the snapshots that a new validator may take; none of a chain that is too short."""
        try:
            return ResponseListSnapshots(snapshots=map(self._snapshot, self._numbers()))
        except WaysealError as error:
            _LOG.warning("no snapshot is offered: %s", error)
            return ResponseListSnapshots()

    def load_snapshot_chunk(self, request: RequestLoadSnapshotChunk) -> ResponseLoadSnapshotChunk:
        """Return a chunk; an empty answer, which another validator is asked after, if it cannot."""
        try:
            return ResponseLoadSnapshotChunk(chunk=self._chunk(request))
        except WaysealError as error:
            _LOG.warning(
                "chunk %d of the snapshot at height %d is not given: %s",
                request.chunk,
                request.height,
                error,
            )
            return ResponseLoadSnapshotChunk()

    def _numbers(self) -> list[int]:
        """Return which blocks' snapshots are listed."""
        limit = self._signed.latest() - AHEAD
        stored = self._chain.head
        while stored is not None and _height(stored) > limit:
            stored = self._chain.by_num(stored.num - 1)
        if stored is None or _height(stored) < 1:
            return []
        step = 1 << (stored.num // FINE_BLOCKS).bit_length()
        newest = stored.num // step * step
        found = [self._chain.by_num(newest - step * back) for back in range(LISTED)]
        return [each.num for each in found if each is not None and _height(each) >= 1]

    def _snapshot(self, number: int) -> Snapshot:
        stored = self._block(number)
        chunks = len(self._spans(number))
        if chunks > CHUNKS_MAX:
            raise RejectedError(
                f"{number + 1} blocks make {chunks} chunks, CometBFT allows {CHUNKS_MAX}: a new "
                "validator has to execute all heights"
            )
        return Snapshot(
            height=_height(stored),
            format=FORMAT,
            chunks=chunks,
            hash=bytes.fromhex(stored.id),
            metadata=self._partition.metadata(number),
        )

    def _chunk(self, request: RequestLoadSnapshotChunk) -> bytes:
        head = self._chain.head
        number = bisect_left(
            range(0 if head is None else head.num + 1),
            request.height,
            key=lambda each: _height(self._block(each)),
        )
        stored = self._chain.by_num(number)
        if request.format != FORMAT or stored is None or _height(stored) != request.height:
            raise RejectedError(f"no block at that height, or format {request.format} is unknown")
        spans = self._spans(number)
        if request.chunk >= len(spans):
            raise RejectedError(f"there are {len(spans)} chunks")
        return encode_chunk(self._pieces(spans[request.chunk]))

    def _pieces(self, span: Span) -> list[Piece]:
        numbers = range(span.last, span.first - 1, -1)
        if span.part:  # the seal came with the first part
            seals: dict[int, bytes] = {}
        else:
            seals = self._seals(numbers)
        records = ((number, self._chain.record(number)) for number in numbers)
        return [
            Piece(
                number,
                part_of(record, span.part, span.parts),
                seals.get(number, b""),
                span.part,
                span.parts,
            )
            for number, record in records
        ]

    def _seals(self, numbers: Iterable[int]) -> dict[int, bytes]:
        sealed_at = {
            number: height + 1 for number in numbers if (height := self._sealed(number)) is not None
        }
        seals = self._signed.of_heights(sealed_at.values())
        return {number: canonical(seal) for number, seal in zip(sealed_at, seals, strict=True)}

    def _sealed(self, number: int) -> int | None:
        """Return the height of a block that a header of the engine names; None for one before it.

        Of the blocks that were there when the engine began, it names the newest.
        """
        height = _height(self._block(number))
        if height:
            return height
        after = self._chain.by_num(number + 1)
        return 0 if after is None or _height(after) else None

    def _spans(self, number: int) -> list[Span]:
        while self._partition.blocks <= number:
            self._partition.add(self._chain.record_length(self._partition.blocks))
        return self._partition.spans(number)

    def _block(self, number: int) -> StoredBlock:
        stored = self._chain.by_num(number)
        if stored is None:
            raise UnavailableError(f"block {number} is missing")
        return stored


def _height(stored: StoredBlock) -> int:
    return network_height(stored.header) or 0
