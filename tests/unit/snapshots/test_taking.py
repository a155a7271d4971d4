"""Snapshots, call by call, as the engine makes them."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.history import History
from contracts.ledger.cometbft.snapshots import partition
from contracts.ledger.cometbft.snapshots.chunks import decode_chunk, encode_chunk
from contracts.ledger.cometbft.snapshots.offering import Offering
from contracts.proto.abci_pb2 import (
    RequestLoadSnapshotChunk,
    ResponseOfferSnapshot,
    Snapshot,
)
from support.ledgers.heights import CHAIN, FOUNDER, Heights, first_batches, heights, tx
from support.ledgers.nodes import intkey_batch
from support.ledgers.sealing import members, seal
from support.ledgers.snapshots import (
    ABORT,
    ACCEPT,
    BLOCKS,
    POWERS,
    RETRY,
    TAKEN,
    Engine,
    Taker,
    chunks_of,
    forged,
    offering,
    states,
    taker,
)


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


@pytest.fixture
def cut_small(given: Heights, monkeypatch: pytest.MonkeyPatch) -> tuple[Snapshot, list[bytes]]:
    """A snapshot and its chunks, cut so small that blocks come in parts."""
    monkeypatch.setattr(partition, "PART_BYTES", 300)
    giver = offering(given)
    snapshot = giver.list_snapshots(None).snapshots[0]
    return snapshot, chunks_of(giver, snapshot)


def test_a_block_may_come_in_parts(
    given: Heights, taking: Taker, cut_small: tuple[Snapshot, list[bytes]]
) -> None:
    snapshot, chunks = cut_small
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
    given: Heights, taking: Taker, cut_small: tuple[Snapshot, list[bytes]]
) -> None:
    """The first part has the seal, which is checked once all is there."""
    snapshot, chunks = cut_small
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
    taking: Taker, cut_small: tuple[Snapshot, list[bytes]]
) -> None:
    snapshot, chunks = cut_small
    (piece,) = decode_chunk(chunks[0])
    assert taking.offer(snapshot) == TAKEN
    for index in range(piece.parts):
        assert taking.apply(index, chunks[index]).result == ACCEPT
    garbage = encode_chunk([replace(piece, record=b"!" * len(piece.record))])
    assert taking.apply(0, garbage, "liar").result == RETRY


def _cuts(*cuts: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">QI", *cut) for cut in cuts)


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
