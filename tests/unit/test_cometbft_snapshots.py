"""Snapshots, call by call, as the engine makes them; and chunks of senders that lie."""

import struct
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from contracts.encoding import canonical
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.blocks.record import decode_record, encode_record
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.history import History
from contracts.ledger.cometbft.snapshots import chunks as chunkbytes
from contracts.ledger.cometbft.snapshots import links, partition
from contracts.ledger.cometbft.snapshots.chunks import decode_chunk, encode_chunk
from contracts.ledger.cometbft.snapshots.offering import Offering
from contracts.ledger.engine.blocks import StoredBlock
from contracts.proto.abci_pb2 import (
    RequestLoadSnapshotChunk,
    ResponseOfferSnapshot,
    Snapshot,
)
from contracts.proto.sawtooth_pb2 import Batch, Block, Transaction
from support.ledgers.heights import CHAIN, FOUNDER, Heights, first_batches, heights, tx
from support.ledgers.nodes import intkey_batch
from support.ledgers.sealing import members, seal
from support.ledgers.snapshots import (
    ABORT,
    ACCEPT,
    MEMBERS,
    POWERS,
    RETRY,
    TAKEN,
    Engine,
    Taker,
    chunks_of,
    forged,
    offering,
    taker,
)

BLOCKS = 10


@pytest.fixture(scope="module")
def founding() -> Founding:
    return Founding(first_batches())


@pytest.fixture(scope="module")
def given(founding: Founding, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heights]:
    """A chain of which each second height is empty, as with the real engine."""
    with heights(tmp_path_factory.mktemp("given") / "data") as made:
        made.begin_as(founding, POWERS)
        for number in range(BLOCKS):
            made.decide([tx(intkey_batch(FOUNDER, number))])
            made.decide([])
        yield made


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "CHUNK_BLOCKS", 3)


@pytest.fixture
def giver(given: Heights) -> Offering:
    return offering(given)


@pytest.fixture
def snapshot(giver: Offering) -> Snapshot:
    return giver.list_snapshots(None).snapshots[0]


@pytest.fixture
def chunks(giver: Offering, snapshot: Snapshot) -> list[bytes]:
    return chunks_of(giver, snapshot)


@pytest.fixture
def taking(founding: Founding, tmp_path: Path) -> Iterator[Taker]:
    with taker(tmp_path / "data", founding) as made:
        yield made


def states(taken: Taker, given: Heights, newest: int) -> None:
    """Check that a taken chain is the given one up to a block: blocks, receipts and state."""
    assert taken.chain.head is not None
    assert taken.chain.head.num == newest
    for number in range(newest + 1):
        one, other = taken.chain.by_num(number), given.chain.by_num(number)
        assert one == other


def test_listed_are_two_blocks_whose_next_two_headers_exist(given: Heights) -> None:
    listed = Offering(given.chain, Engine(given.chain, ahead=2)).list_snapshots(None).snapshots
    assert [each.height for each in listed] == [2 * BLOCKS - 1, 2 * BLOCKS - 3]
    earlier = Offering(given.chain, Engine(given.chain, ahead=1)).list_snapshots(None).snapshots
    assert [each.height for each in earlier] == [2 * BLOCKS - 3, 2 * BLOCKS - 5]


def test_a_network_without_two_heights_lists_nothing(founding: Founding, tmp_path: Path) -> None:
    with heights(tmp_path / "data") as young:
        young.begin_as(founding, POWERS)
        assert not offering(young).list_snapshots(None).snapshots
        young.decide([tx(intkey_batch(FOUNDER, 1))])
        engine = Engine(young.chain, ahead=1)
        assert not Offering(young.chain, engine).list_snapshots(None).snapshots


def test_a_snapshot_makes_the_same_chain(
    given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes], tmp_path: Path
) -> None:
    assert len(chunks) == 4
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate(chunks):
        assert not taking.restoring.restored
        assert taking.apply(index, chunk).result == ACCEPT
    assert taking.restoring.restored
    states(taking, given, BLOCKS)
    assert not (tmp_path / "data/snapshot").exists()
    history = History.open(tmp_path / "data")
    assert history is not None
    assert (history.newest, history.changes) == (2 * BLOCKS, [])
    engine = Engine(given.chain)
    for height in (1, 2, 4, 2 * BLOCKS):
        assert [history.at(height)] == engine.of_heights([height])
    assert history.at(3) is history.at(99) is None
    history.close()


def test_a_block_may_come_in_parts(
    given: Heights, taking: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition, "PART_BYTES", 300)
    giver = offering(given)
    snapshot = giver.list_snapshots(None).snapshots[0]
    chunks = chunks_of(giver, snapshot)
    assert len(chunks) > BLOCKS
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate(chunks[:-1]):
        assert taking.apply(index, chunk, f"sender {index}").result == ACCEPT
    (piece,) = decode_chunk(chunks[-1])
    bad = encode_chunk([replace(piece, record=piece.record[:-1] + b"!")])
    refused = taking.apply(len(chunks) - 1, bad, "liar")
    assert refused.result == RETRY
    assert list(refused.refetch_chunks) == list(
        range(len(chunks) - piece.parts, len(chunks))
    )  # any part may be the wrong one
    for index in refused.refetch_chunks:
        assert taking.apply(index, chunks[index], "another").result == ACCEPT
    states(taking, given, BLOCKS)


def test_all_parts_of_a_block_are_fetched_again_and_checked_again(
    given: Heights, taking: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first part has the seal, which is checked once all is there."""
    monkeypatch.setattr(partition, "PART_BYTES", 300)
    giver = offering(given)
    snapshot = giver.list_snapshots(None).snapshots[0]
    chunks = chunks_of(giver, snapshot)
    (piece,) = decode_chunk(chunks[0])
    block = given.chain.by_num(piece.number)
    assert block is not None
    wrong = seal(block.id, members(1), height=2 * piece.number, chain_id=CHAIN)
    lie = encode_chunk([replace(piece, seal=canonical(wrong))])
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate([lie, *chunks[1:]]):
        answer = taking.apply(index, chunk, f"sender {index}")
    parts = list(range(piece.parts))
    assert len(parts) > 1
    assert (answer.result, list(answer.refetch_chunks)) == (ACCEPT, parts)
    assert list(answer.reject_senders) == ["sender 0"]
    garbage = encode_chunk([replace(piece, record=b"!" * len(piece.record))])
    for index, chunk in enumerate([garbage, *chunks[1 : len(parts)]]):
        answer = taking.apply(index, chunk, f"second {index}")
    assert (answer.result, list(answer.refetch_chunks)) == (RETRY, parts)
    for index in parts:
        assert taking.apply(index, chunks[index], "another").result == ACCEPT
    states(taking, given, BLOCKS)


def test_a_part_that_comes_twice_is_checked_twice(
    taking: Taker, monkeypatch: pytest.MonkeyPatch, given: Heights
) -> None:
    monkeypatch.setattr(partition, "PART_BYTES", 300)
    giver = offering(given)
    snapshot = giver.list_snapshots(None).snapshots[0]
    chunks = chunks_of(giver, snapshot)
    (piece,) = decode_chunk(chunks[0])
    assert taking.offer(snapshot) == TAKEN
    for index in range(piece.parts):
        assert taking.apply(index, chunks[index]).result == ACCEPT
    garbage = encode_chunk([replace(piece, record=b"!" * len(piece.record))])
    assert taking.apply(0, garbage, "liar").result == RETRY


def _cuts(*cuts: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">QI", *cut) for cut in cuts)


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


@pytest.mark.parametrize("name", ["snapshot/000003", ".part-history.seals"])
def test_a_full_disk_is_one_clear_error(
    name: str, taking: Taker, snapshot: Snapshot, chunks: list[bytes], tmp_path: Path
) -> None:
    assert taking.offer(snapshot) == TAKEN
    (tmp_path / "data" / name).symlink_to("/dev/full")
    for index, chunk in enumerate(chunks[:-1]):
        assert taking.apply(index, chunk).result == ACCEPT
    with pytest.raises(UnavailableError, match="No space left on device"):
        taking.apply(3, chunks[3])
    assert not taking.restoring.restored


def test_a_node_that_stops_makes_no_further_block(
    taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    assert "no validator has offered one yet" in taking.restoring.words
    assert taking.offer(snapshot) == TAKEN
    taking.stopping.set()
    for index, chunk in enumerate(chunks[:-1]):
        assert taking.apply(index, chunk).result == ACCEPT
    assert taking.restoring.words == "3 of 4 chunks are there"
    with pytest.raises(UnavailableError, match="stopped while a snapshot was taken"):
        taking.apply(len(chunks) - 1, chunks[-1])
    assert "their blocks are checked and executed" in taking.restoring.words
    assert taking.chain.head is None


def test_a_chunk_that_comes_twice_changes_nothing(
    given: Heights, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate(chunks[:-1]):
        assert taking.apply(index, chunk).result == ACCEPT
        assert taking.apply(index, chunk, "other").result == ACCEPT
    assert taking.apply(len(chunks) - 1, chunks[-1]).result == ACCEPT
    states(taking, given, BLOCKS)
    assert taking.apply(0, chunks[0]).result == ABORT  # the engine asked for nothing more


def test_chunks_out_of_order_are_refused(
    taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    assert taking.apply(0, chunks[0]).result == ABORT  # nothing was offered
    assert taking.offer(snapshot) == TAKEN
    assert taking.apply(1, chunks[1]).result == ABORT


def test_a_snapshot_begins_again_after_some_blocks_were_made(
    given: Heights, giver: Offering, taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    first, *more = decode_chunk(chunks[0])
    lie = encode_chunk([forged(first, [intkey_batch(FOUNDER, 99)]), *more])
    assert taking.offer(snapshot) == TAKEN
    for index, chunk in enumerate([lie, *chunks[1:]]):
        taking.apply(index, chunk)
    assert taking.chain.head is not None
    earlier = giver.list_snapshots(None).snapshots[1]
    assert taking.offer(earlier) == TAKEN
    for index, chunk in enumerate(chunks_of(giver, earlier)):
        assert taking.apply(index, chunk).result == ACCEPT
    states(taking, given, BLOCKS - 1)


@pytest.mark.parametrize(
    ("change", "result"),
    [
        ({"format": 2}, ResponseOfferSnapshot.REJECT_FORMAT),
        ({"hash": bytes(64)}, ResponseOfferSnapshot.REJECT_SENDER),
        ({"chunks": 0}, ResponseOfferSnapshot.REJECT),
        ({"chunks": partition.CHUNKS_MAX + 1}, ResponseOfferSnapshot.REJECT),
        ({"height": 0}, ResponseOfferSnapshot.REJECT),
        ({"chunks": 3}, ResponseOfferSnapshot.REJECT),
        ({"chunks": 5}, ResponseOfferSnapshot.REJECT),
        ({"metadata": b""}, ResponseOfferSnapshot.REJECT),
    ],
)
def test_a_wrong_offer_is_refused(
    change: dict[str, object], result: int, taking: Taker, snapshot: Snapshot
) -> None:
    trusted = snapshot.hash
    wrong = Snapshot()
    wrong.CopyFrom(snapshot)
    for name, value in change.items():
        setattr(wrong, name, value)
    assert taking.offer(wrong, trusted) == result


@pytest.mark.parametrize(
    ("wire", "chunks", "words"),
    [
        (bytes(11), 1, "12 bytes for each, got 11"),
        (_cuts((9, 0)), 1, "12 bytes for each, got 12"),
        (_cuts((0, 1), (9, 1)), 2, "go up from block 0"),
        (_cuts((1, 1), (9, 0)), 1, "go up from block 0"),
        (_cuts((0, 1), (5, 1), (5, 1), (9, 0)), 3, "go up from block 0"),
        (_cuts((0, 1), (9, 1), (8, 0)), 2, "up to block 8, got one at block 9"),
        (_cuts((0, 1), (1 << 63, 0)), 1, f"up to block {1 << 63}"),
        (_cuts((0, 0), (9, 0)), 0, "1 to 32 parts"),
        (_cuts((0, 33), (0, 0)), 33, "1 to 32 parts"),
        (_cuts((0, 1), (5, 1), (9, 0)), 3, "cuts of 3 chunks, got those of 2"),
        (_cuts((0, 2), (9, 0)), 2, "alone in its chunks"),
    ],
)
def test_cuts_that_cut_no_chain_are_refused(wire: bytes, chunks: int, words: str) -> None:
    with pytest.raises(RejectedError, match=words):
        partition.read_metadata(wire, chunks)


def test_another_newest_block_is_found_with_the_first_chunk(
    taking: Taker, snapshot: Snapshot, chunks: list[bytes]
) -> None:
    first = decode_chunk(chunks[0])[0].number
    wrong = Snapshot()
    wrong.CopyFrom(snapshot)
    wrong.metadata = snapshot.metadata[:-12] + _cuts((first + 1, 0))
    assert taking.offer(wrong) == TAKEN
    more = [replace(each, number=each.number + 1) for each in decode_chunk(chunks[0])]
    for sender, lie in (("one", chunks[0]), ("other", encode_chunk(more))):
        assert taking.apply(0, lie, sender).result == RETRY


def test_the_chain_of_another_network_is_refused(
    snapshot: Snapshot, chunks: list[bytes], tmp_path: Path
) -> None:
    with taker(tmp_path / "data", Founding(first_batches())) as other:
        assert other.offer(snapshot) == TAKEN
        answers = [other.apply(index, chunk) for index, chunk in enumerate(chunks)]
        assert answers[-1].result == RETRY
        assert other.chain.head is None


@pytest.mark.parametrize(
    ("height", "chunk", "form"), [(4, 0, 1), (19, 9, 1), (19, 0, 2), (99, 0, 1)]
)
def test_a_chunk_that_is_not_there_is_an_empty_answer(
    height: int, chunk: int, form: int, giver: Offering
) -> None:
    request = RequestLoadSnapshotChunk(height=height, format=form, chunk=chunk)
    assert not giver.load_snapshot_chunk(request).chunk


def test_cuts_stay_where_they_are_when_the_chain_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "CHUNK_BYTES", 100)
    monkeypatch.setattr(partition, "PART_BYTES", 100)
    cuts = partition.Partition()
    for length in (40, 40, 40, 250, 10, 10, 10, 10, 101):
        cuts.add(length)
    spans = [(each.first, each.last, each.part, each.parts) for each in cuts.spans(8)]
    assert spans[:2] == [(8, 8, 0, 2), (8, 8, 1, 2)]
    assert spans[2:4] == [(7, 7, 0, 1), (4, 6, 0, 1)]
    assert spans[4:] == [(3, 3, 0, 3), (3, 3, 1, 3), (3, 3, 2, 3), (2, 2, 0, 1), (0, 1, 0, 1)]
    earlier = [(each.first, each.last) for each in cuts.spans(5)]
    assert earlier == [(4, 5), (3, 3), (3, 3), (3, 3), (2, 2), (0, 1)]
    for newest in (5, 8):
        held = cuts.spans(newest)
        assert partition.read_metadata(cuts.metadata(newest), len(held)) == held
