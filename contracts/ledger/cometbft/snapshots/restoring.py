"""Takes a snapshot that the engine fetched: checks each chunk, then makes the chain of them.

Chunks come newest first and wait in files, until the first block is there. Then all seals are
checked, and all blocks are made again, the oldest first. A chunk that is wrong is fetched again
from another validator, and its sender is asked for nothing more.

Source: CometBFT 0.38, ABCI 2.0 specification, "State sync".
"""

import hashlib
import logging
import shutil
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.blocks.progress import Progress
from contracts.ledger.blocks.record import block_bytes
from contracts.ledger.cometbft.abci import Method
from contracts.ledger.cometbft.history import write_history
from contracts.ledger.cometbft.snapshots.chunks import Piece, decode_chunk
from contracts.ledger.cometbft.snapshots.links import (
    SENT_BLOCK_BYTES_MAX,
    Link,
    check_cut,
    follow,
    sent_block,
)
from contracts.ledger.cometbft.snapshots.offering import FORMAT
from contracts.ledger.cometbft.snapshots.partition import CHUNKS_MAX, Span, read_metadata
from contracts.ledger.cometbft.snapshots.remaking import Remaking, verified
from contracts.ledger.cometbft.snapshots.trusting import Trusting
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.proto.abci_pb2 import (
    RequestApplySnapshotChunk,
    RequestOfferSnapshot,
    ResponseApplySnapshotChunk,
    ResponseOfferSnapshot,
)
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.runtime.files import disk_errors, make_directory
from contracts.validators import Powers

_LOG = logging.getLogger(__name__)

CHUNKS: Final = "snapshot"
"""Directory below the data directory, for chunks that wait."""
AHEAD_BLOCKS: Final = 8
"""Blocks whose signatures are verified while one before them is executed."""
AHEAD_THREADS: Final = 2
_ID_BYTES: Final = 64
_Apply = ResponseApplySnapshotChunk
_Offer = ResponseOfferSnapshot


class _BadChunksError(RejectedError):
    """Some chunks are wrong.

    Args:
        why: The fault.
        chunks: Which ones may be.
    """

    def __init__(self, why: object, chunks: Sequence[int]) -> None:
        super().__init__(str(why))
        self.chunks = chunks


@dataclass(frozen=True, slots=True)
class _Whole:
    """A block of the snapshot, and in which chunks it came."""

    piece: Piece
    chunks: Sequence[int]


@dataclass(slots=True)
class _Taking:
    """A snapshot under way.

    Attributes:
        spans: The content of each chunk, as the snapshot says.
        links: What each chunk begins with, as far as that is known; after the last one, nothing.
        senders: The sender of each chunk that is there.
        liars: Senders of whom nothing more is taken.
    """

    spans: Sequence[Span]
    links: list[Link]
    senders: dict[int, str] = field(default_factory=dict)
    liars: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        """Return how many chunks there are."""
        return len(self.spans)

    def parts(self, index: int) -> range:
        """Return the chunks with the parts of a block of which one is the chunk `index`."""
        first = index - self.spans[index].part
        return range(first, first + self.spans[index].parts)

    def sent_by(self, chunks: Sequence[int]) -> str:
        """Return the senders of some chunks, for messages."""
        return " and ".join(sorted({self.senders[index] for index in chunks}))


class Restoring:
    """Answers the engine's snapshot connection, in its thread, while a validator begins.

    Args:
        directory: The data directory.
        chain_id: Name of the network.
        first: The validators with which it begins.
        remaking: Makes the blocks.
        sync: Makes durable what was made.
        stopping: Ends making them.
    """

    def __init__(
        self,
        directory: Path,
        chain_id: str,
        first: Powers,
        remaking: Remaking,
        sync: Callable[[], None],
        stopping: threading.Event,
    ) -> None:
        self._directory = directory
        self._chain_id = chain_id
        self._first = first
        self._remaking = remaking
        self._sync = sync
        self._stopping = stopping
        self._taking: _Taking | None = None
        self._refused: dict[int, tuple[bytes, str]] = {}
        self.restored = False
        """Whether the chain of a snapshot is there, whole."""

    @property
    def methods(self) -> dict[str, Method]:
        """Return what answers each request, by its name in ABCI."""
        return {
            "offer_snapshot": self.offer_snapshot,
            "apply_snapshot_chunk": self.apply_snapshot_chunk,
        }

    @property
    def words(self) -> str:
        """Say how far it is."""
        taking = self._taking
        if self.restored:
            return "the snapshot is there; waiting for the engine to go on from it"
        if taking is None:
            return (
                "no validator has offered one yet. They do once the network has about three "
                "heights. If it has, check that this machine reaches the others where network.json "
                "says"
            )
        if len(taking.senders) == taking.count:
            return "all chunks are there, and their blocks are checked and executed"
        return f"{len(taking.senders)} of {taking.count} chunks are there"

    def offer_snapshot(self, request: RequestOfferSnapshot) -> ResponseOfferSnapshot:
        """Begin with a snapshot, or say what is wrong with it."""
        offered = request.snapshot
        if self.restored:
            return _Offer(result=_Offer.ABORT)
        if offered.format != FORMAT:
            _LOG.warning("a snapshot of format %d is refused, expected %d", offered.format, FORMAT)
            return _Offer(result=_Offer.REJECT_FORMAT)
        if offered.hash != request.app_hash or len(request.app_hash) != _ID_BYTES:
            _LOG.warning(
                "a snapshot of block %s… is refused: at height %d the validators signed %s…",
                offered.hash.hex()[:16],
                offered.height,
                request.app_hash.hex()[:16],
            )
            return _Offer(result=_Offer.REJECT_SENDER)
        if not 0 < offered.chunks <= CHUNKS_MAX or offered.height < 1:
            _LOG.warning("a snapshot of %d chunks is refused", offered.chunks)
            return _Offer(result=_Offer.REJECT)
        try:
            spans = read_metadata(offered.metadata, offered.chunks)
        except RejectedError as error:
            _LOG.warning("a snapshot is refused: %s", error)
            return _Offer(result=_Offer.REJECT)
        _LOG.info("taking the snapshot at height %d, %d chunks", offered.height, offered.chunks)
        make_directory(self._directory / CHUNKS)
        self._taking = _Taking(spans, [Link(spans[0].last, request.app_hash.hex())])
        return _Offer(result=_Offer.ACCEPT)

    def apply_snapshot_chunk(
        self, request: RequestApplySnapshotChunk
    ) -> ResponseApplySnapshotChunk:
        """Take a chunk; with the last one, make the chain.

        Raises:
            UnavailableError: The disk failed, these blocks make other ones here, or the node stops.
        """
        taking = self._taking
        due = -1 if taking is None else len(taking.links) - 1
        if taking is None or self.restored or request.index > min(due, taking.count - 1):
            _LOG.error("chunk %d came without the one before it", request.index)
            return _Apply(result=_Apply.ABORT)
        index, sender = request.index, request.sender
        if sender in taking.liars:  # the engine may have asked it before
            _LOG.warning("chunk %d is refused: %s lied before", index, sender)
            return _Apply(result=_Apply.RETRY, refetch_chunks=[index], reject_senders=[sender])
        try:
            self._take(taking, request)
            if len(taking.senders) == taking.count:
                self._finish(taking)
        except _BadChunksError as error:
            return self._again(taking, error, index)
        return _Apply(result=_Apply.ACCEPT)

    def _take(self, taking: _Taking, request: RequestApplySnapshotChunk) -> None:
        """Check a chunk and keep it."""
        index = request.index
        taking.senders[index] = request.sender
        try:
            pieces = decode_chunk(request.chunk)
            check_cut(taking.spans[index], pieces)
            after = self._after(taking, pieces, index)
        except _BadChunksError:
            raise
        except RejectedError as error:
            raise _BadChunksError(error, [index]) from error
        path = self._path(index)
        with disk_errors("write", path):
            path.write_bytes(request.chunk)
        if index + 1 == len(taking.links):
            taking.links.append(after)

    def _after(self, taking: _Taking, pieces: Sequence[Piece], index: int) -> Link:
        """Return what has to come after a chunk."""
        link = taking.links[index]
        if pieces[0].parts == 1:
            for piece in pieces:
                link = follow(link, piece, self._chain_id)
            return link
        if not taking.senders.keys() >= set(taking.parts(index)):
            return link  # other parts of it are still to come
        whole = self._joined(pieces[0], index)
        try:
            return follow(link, whole.piece, self._chain_id)
        except RejectedError as error:  # any of the parts may be the wrong one
            raise _BadChunksError(error, whole.chunks) from error

    def _finish(self, taking: _Taking) -> None:
        """Make the chain of chunks that are all there."""
        self._check_seals(taking)
        progress = Progress(lambda: taking.links[0].number + 1, "the snapshot")
        with ThreadPoolExecutor(AHEAD_THREADS, "snapshot") as pool:
            ahead: deque[tuple[_Whole, Future[_Verified]]] = deque()
            for whole in self._forward(taking):
                ahead.append((whole, pool.submit(_verified, whole.piece)))
                if len(ahead) > AHEAD_BLOCKS:
                    self._make(taking, *ahead.popleft())
                    progress.step(whole.piece.number)
            while ahead:
                self._make(taking, *ahead.popleft())
        progress.end()
        self._sync()
        write_history(
            self._directory,
            (each.piece.seal for each in self._forward(taking) if each.piece.seal),
        )
        shutil.rmtree(self._directory / CHUNKS, ignore_errors=True)
        self.restored = True
        _LOG.info(
            "the snapshot's %d blocks were executed: each has the id that the validators signed",
            taking.links[0].number + 1,
        )

    def _check_seals(self, taking: _Taking) -> None:
        trusting = Trusting(self._first)
        for whole in self._forward(taking):
            if not whole.piece.seal:
                continue
            try:
                trusting.add(whole.piece.seal)
            except RejectedError as error:
                raise _BadChunksError(error, whole.chunks[:1]) from error

    def _make(self, taking: _Taking, whole: _Whole, opened: "Future[_Verified]") -> None:
        """Make the next block."""
        number = whole.piece.number
        try:
            stored, batches = opened.result()
            if not self._remaking.has(stored):
                self._remaking.make(stored, batches)
        except RejectedError as error:
            digest = _digest(whole.piece.record)
            sender = taking.sent_by(whole.chunks)
            earlier, other = self._refused.get(number, (b"", sender))
            if digest == earlier and sender != other:
                raise UnavailableError(
                    f"{error}. Both {other} and {sender} sent this block. Unless both lie, it is "
                    "this node that is wrong: compare its version of wayseal-node with theirs"
                ) from error
            self._refused[number] = digest, sender
            raise _BadChunksError(error, whole.chunks) from error

    def _again(
        self, taking: _Taking, error: _BadChunksError, index: int
    ) -> ResponseApplySnapshotChunk:
        """Have chunks, and all others of their senders, fetched again from other senders.

        If a block came in parts, all its parts are fetched again.
        The chunk that has just come stays where it is, unless it is one of them.
        """
        senders = {taking.senders[each] for each in error.chunks}
        theirs = [each for each, sender in taking.senders.items() if sender in senders]
        blocks = {part for each in theirs for part in taking.parts(each)}
        again = sorted(blocks & taking.senders.keys())  # a block is checked once all its parts come
        _LOG.error(
            "chunk %s of the snapshot is refused, and %s asked for nothing more: %s; %d chunks are "
            "fetched again",
            ", ".join(map(str, error.chunks)),
            taking.sent_by(error.chunks),
            error,
            len(again),
        )
        taking.liars |= senders
        for each in again:
            del taking.senders[each]
        result = _Apply.RETRY if index in again else _Apply.ACCEPT
        return _Apply(result=result, refetch_chunks=again, reject_senders=sorted(senders))

    def _forward(self, taking: _Taking) -> Iterator[_Whole]:
        """Yield the blocks, the oldest first, until the node stops."""
        index = taking.count
        while index:
            index -= 1
            pieces = decode_chunk(self._read(index))
            if pieces[0].parts == 1:
                found = [_Whole(piece, [index]) for piece in reversed(pieces)]
            else:
                found = [self._joined(pieces[0], index)]
                index = found[0].chunks[0]
            for whole in found:
                if self._stopping.is_set():
                    raise UnavailableError(
                        "stopped while a snapshot was taken; the next start begins again"
                    )
                yield whole

    def _joined(self, piece: Piece, index: int) -> _Whole:
        """Return a block that came in parts, of which one is the chunk `index`."""
        first = index - piece.part
        chunks = range(first, first + piece.parts)
        parts = [piece if each == index else decode_chunk(self._read(each))[0] for each in chunks]
        record = b"".join(each.record for each in parts)
        return _Whole(Piece(piece.number, record, parts[0].seal), chunks)

    def _path(self, index: int) -> Path:
        return self._directory / CHUNKS / f"{index:06d}"

    def _read(self, index: int) -> bytes:
        path = self._path(index)
        with disk_errors("read", path):
            return path.read_bytes()


_Verified = tuple[StoredBlock, list[VerifiedBatch]]


def _verified(piece: Piece) -> _Verified:
    block = sent_block(piece.record)
    stored = StoredBlock(block, parse(BlockHeader, block.header), ())
    return stored, verified(stored)


def _digest(record: bytes) -> bytes:
    """Return a hash of the block in a record; a record without a block is hashed whole."""
    try:
        return hashlib.sha256(block_bytes(record, SENT_BLOCK_BYTES_MAX)).digest()
    except RejectedError:
        return hashlib.sha256(record).digest()
