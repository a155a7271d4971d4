"""Chunks of senders that lie: who is named, and what is taken of them."""

import struct
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
import zstandard

from contracts.encoding import canonical
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.blocks.record import decode_record, encode_record
from contracts.ledger.cometbft.snapshots import chunks as chunkbytes
from contracts.ledger.cometbft.snapshots import links, partition
from contracts.ledger.cometbft.snapshots.chunks import decode_chunk, encode_chunk
from contracts.ledger.engine.blocks import StoredBlock
from contracts.proto.abci_pb2 import (
    Snapshot,
)
from contracts.proto.sawtooth_pb2 import Batch, Block, Transaction
from support.ledgers.heights import CHAIN, FOUNDER, Heights
from support.ledgers.nodes import intkey_batch
from support.ledgers.sealing import members, seal
from support.ledgers.snapshots import (
    ACCEPT,
    BLOCKS,
    MEMBERS,
    RETRY,
    TAKEN,
    Taker,
    forged,
    states,
)


def _other_block(chunks: Sequence[bytes]) -> bytes:
    return chunks[2]


def _cut(chunks: Sequence[bytes]) -> bytes:
    return chunks[1][:-1]


def _longer(chunks: Sequence[bytes]) -> bytes:
    return chunks[1] + decode_chunk(chunks[2])[0].record


def _too_long(_: Sequence[bytes]) -> bytes:
    return bytes(chunkbytes.CHUNK_MESSAGE_BYTES_MAX + 1)


def _empty(_: Sequence[bytes]) -> bytes:
    return b""


def _rotten(chunks: Sequence[bytes]) -> bytes:
    """Return the chunk with one bit of a block's header changed."""
    first, *more = decode_chunk(chunks[1])
    stored = decode_record(first.record)
    header = stored.block.header.replace(b"CometBFT", b"CometBFS")
    block = Block(header=header, header_signature=stored.id, batches=stored.block.batches)
    rotten = StoredBlock(block, stored.header, stored.receipt_bytes)
    return encode_chunk([replace(first, record=encode_record(rotten)), *more])


def _without_a_batch(chunks: Sequence[bytes]) -> bytes:
    first, *more = decode_chunk(chunks[1])
    stored = decode_record(first.record)
    block = Block(header=stored.block.header, header_signature=stored.id)
    less = StoredBlock(block, stored.header, [])
    return encode_chunk([replace(first, record=encode_record(less)), *more])


def _cut_record(chunks: Sequence[bytes]) -> bytes:
    first, *more = decode_chunk(chunks[1])
    return encode_chunk([replace(first, record=first.record[:-9]), *more])


def _reversed(chunks: Sequence[bytes]) -> bytes:
    return encode_chunk(reversed(decode_chunk(chunks[1])))


def _without_seal(chunks: Sequence[bytes]) -> bytes:
    first, *more = decode_chunk(chunks[1])
    return encode_chunk([replace(first, seal=b""), *more])


def _other_seal(chunks: Sequence[bytes]) -> bytes:
    first, *more = decode_chunk(chunks[1])
    return encode_chunk([replace(first, seal=more[0].seal), *more])


def _a_part(chunks: Sequence[bytes]) -> bytes:
    first, *more = decode_chunk(chunks[1])
    return encode_chunk([replace(first, part=0, parts=2), *more])


def _a_lone_part(chunks: Sequence[bytes]) -> bytes:
    return encode_chunk([replace(decode_chunk(chunks[1])[0], part=0, parts=2)])


def _without_the_last_block(chunks: Sequence[bytes]) -> bytes:
    return encode_chunk(decode_chunk(chunks[1])[:-1])


def _and_the_next_block(chunks: Sequence[bytes]) -> bytes:
    return encode_chunk([*decode_chunk(chunks[1]), decode_chunk(chunks[2])[0]])


def _whole_chain(chunks: Sequence[bytes]) -> bytes:
    return b"".join(chunks[1:])


@pytest.mark.parametrize(
    "lie",
    [
        _other_block,
        _cut,
        _longer,
        _too_long,
        _empty,
        _rotten,
        _without_a_batch,
        _cut_record,
        _reversed,
        _without_seal,
        _other_seal,
        _a_part,
        _a_lone_part,
        _without_the_last_block,
        _and_the_next_block,
        _whole_chain,
    ],
)
def test_a_lie_is_found_at_once_and_its_sender_named(
    lie: object, given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    assert callable(lie)
    assert taking.offer(snapshot) == TAKEN
    assert taking.apply(0, chunks[0]).result == ACCEPT
    refused = taking.apply(1, lie(chunks), "liar")
    assert refused.result == RETRY
    assert (list(refused.refetch_chunks), list(refused.reject_senders)) == ([1], ["liar"])
    assert taking.chain.head is None
    for index, chunk in enumerate(chunks[1:], 1):
        assert taking.apply(index, chunk, "honest").result == ACCEPT
    states(taking, given, BLOCKS)


def _record(*parts: bytes) -> bytes:
    """Return a compressed record, whatever it holds."""
    return b"\x01" + zstandard.compress(b"".join(parts))


def _peak(do: Callable[[], object]) -> int:
    """Return how many bytes something took at once."""
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_small_chunk_takes_no_gigabytes(
    taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    """A block of 64 MiB in 6 kB, and 16 million receipts behind the right one."""
    first, *more = decode_chunk(chunks[0])
    block = decode_record(first.record).block.SerializeToString()
    zeros = bytes(64 << 20)
    long = _record(struct.pack(">I", len(zeros)), zeros)
    receipts = _record(struct.pack(">I", len(block)), block, zeros)
    del zeros
    assert taking.offer(snapshot) == TAKEN
    for record, result in ((long, RETRY), (receipts, ACCEPT)):
        chunk = encode_chunk([replace(first, record=record), *more])
        assert len(chunk) < 20_000
        answers = []
        peak = _peak(lambda: answers.append(taking.apply(0, chunk, str(result)).result))  # noqa: B023 - called at once
        assert answers == [result]
        assert peak < 16 << 20


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (Block(batches=[Batch()] * 50_065), "more than 50000 batches"),
        (Block(batches=[Batch(transactions=[Transaction()] * 25_001)] * 2), "50000 transactions"),
    ],
)
def test_batches_are_counted_before_they_are_parsed(block: Block, words: str) -> None:
    wire = block.SerializeToString()
    with pytest.raises(RejectedError, match=words):
        links.sent_block(_record(struct.pack(">I", len(wire)), wire))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (b"", "unknown form"),
        (b"\x02", "unknown form 02"),
        (b"\x00\0\0", "cut short"),
        (b"\x00\0\0\0\x05four", "cut short"),
        (b"\x01none", "compressed"),
        (_record(b"\0\0\0\x05four"), "cut short"),
    ],
)
def test_a_record_of_no_block_is_refused(record: bytes, words: str) -> None:
    with pytest.raises(RejectedError, match=words):
        links.sent_block(record)


def test_nothing_is_taken_of_a_sender_that_lied(
    given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    """The engine may have asked it for more before; what it sends is not even decoded."""
    assert taking.offer(snapshot) == TAKEN
    assert taking.apply(0, b"", "liar").result == RETRY
    for again in (chunks[0], b""):
        refused = taking.apply(0, again, "liar")
        assert refused.result == RETRY
        assert (list(refused.refetch_chunks), list(refused.reject_senders)) == ([0], ["liar"])
    for index, chunk in enumerate(chunks):
        assert taking.apply(index, chunk, "honest").result == ACCEPT
    states(taking, given, BLOCKS)


def test_other_batches_under_the_same_ids_are_found_by_executing(
    given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    first, *more = decode_chunk(chunks[1])
    lie = encode_chunk([forged(first, [intkey_batch(FOUNDER, 99)]), *more])
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate([chunks[0], lie, *chunks[2:-1]]):
        sender = "liar" if index in {1, 2} else "honest"
        assert taking.apply(index, chunk, sender).result == ACCEPT
    refused = taking.apply(3, chunks[3], "honest")
    assert refused.result == ACCEPT  # or the engine would give it again after the other ones
    assert (list(refused.refetch_chunks), list(refused.reject_senders)) == ([1, 2], ["liar"])
    for index in (1, 2):  # nothing of a sender that lied once is kept
        assert taking.apply(index, chunks[index], "another").result == ACCEPT
    assert taking.restoring.restored
    states(taking, given, BLOCKS)


def test_receipts_of_a_sender_are_not_believed(
    given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    first, *more = decode_chunk(chunks[0])
    stored = decode_record(first.record)
    lie = StoredBlock(stored.block, stored.header, [b"" for _ in stored.receipt_bytes])
    chunks[0] = encode_chunk([replace(first, record=encode_record(lie)), *more])
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate(chunks):
        assert taking.apply(index, chunk).result == ACCEPT
    states(taking, given, BLOCKS)


@pytest.mark.parametrize("changed", ["changed", ""])
def test_seals_of_others_than_the_validators_are_found(
    changed: str, given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    """Also where the liar has the validators before name his own."""
    strangers = members(1)
    first, *more = decode_chunk(chunks[1])
    block = decode_record(first.record)
    height = 2 * first.number
    wrong = seal(block.id, strangers, height=height, chain_id=CHAIN)
    lies = [replace(first, seal=canonical(wrong)), *more]
    if changed:
        second = decode_record(more[0].record)
        change = seal(second.id, MEMBERS, height=height - 2, next_validators=strangers)
        change.commit.signatures[0].signature = bytes(64)
        lies[1] = replace(more[0], seal=canonical(change))
    assert taking.offer(snapshot) == TAKEN
    assert taking.apply(0, chunks[0], "a").result == ACCEPT
    assert taking.apply(1, encode_chunk(lies), "liar").result == ACCEPT
    assert taking.apply(2, chunks[2], "b").result == ACCEPT
    refused = taking.apply(3, chunks[3], "c")
    assert (list(refused.refetch_chunks), list(refused.reject_senders)) == ([1], ["liar"])
    assert taking.chain.head is None  # before anything is executed
    assert taking.apply(1, chunks[1], "honest").result == ACCEPT
    states(taking, given, BLOCKS)


def test_what_several_send_alike_is_not_called_their_fault(
    taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    first, *more = decode_chunk(chunks[1])
    lie = encode_chunk([forged(first, [intkey_batch(FOUNDER, 99)]), *more])
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate([chunks[0], lie, *chunks[2:]]):
        taking.apply(index, chunk, f"sender {index}")
    words = "Both sender 1 and another sent this block. .* compare its version of wayseal-node"
    with pytest.raises(UnavailableError, match=words):
        taking.apply(1, lie, "another")


def test_a_chunk_that_is_fetched_again_has_to_fit_the_others(
    given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    """Also the first one, of which nothing else is known than its newest block."""
    first, *more = decode_chunk(chunks[0])
    lie = encode_chunk([forged(first, [intkey_batch(FOUNDER, 99)]), *more])
    shorter = encode_chunk([first, *more[:-1]])
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate([lie, *chunks[1:]]):
        answer = taking.apply(index, chunk, f"sender {index}")
    assert list(answer.refetch_chunks) == [0]
    for again, sender in ((chunks[1], "second"), (shorter, "third")):
        refused = taking.apply(0, again, sender)
        assert (refused.result, list(refused.reject_senders)) == (RETRY, [sender])
    assert taking.apply(0, chunks[0], "honest").result == ACCEPT
    states(taking, given, BLOCKS)


def test_a_block_beyond_all_limits_is_refused_before_it_is_kept(
    taking: Taker, snapshot: Snapshot, chunks: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert taking.offer(snapshot) == TAKEN
    monkeypatch.setattr(links, "SENT_BLOCK_BYTES_MAX", 100)
    assert taking.apply(0, chunks[0]).result == RETRY
    monkeypatch.setattr(links, "PART_BYTES", 100)
    (piece,) = decode_chunk(chunks[0])[:1]
    with pytest.raises(RejectedError, match="a part of at most 100 bytes"):
        links.check_cut(partition.Span(piece.number, piece.number, 0, 2), [replace(piece, parts=2)])
