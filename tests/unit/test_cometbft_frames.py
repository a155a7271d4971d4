"""Batches as CometBFT carries them: compressed in frames, or as they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.ledger.blocks.compression import MAGIC, compressed
from contracts.ledger.cometbft import application
from contracts.ledger.cometbft.batches import carried
from contracts.ledger.cometbft.decisions import Code
from contracts.ledger.execution.verify import verify_batch
from contracts.proto.abci_pb2 import RequestCheckTx
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import CARRIED, ZSTD, propose
from support.ledgers.heights import FOUNDER, POWERS, Heights, founded, heights, tx
from support.ledgers.nodes import intkey, intkey_batch


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Heights]:
    """A network from before there were frames: its ledger does not name them."""
    with founded(tmp_path / "older") as made:
        yield made


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Heights]:
    with founded(tmp_path / "data") as made:
        made.decide([tx(says(ZSTD))])
        yield made


def says(value: str) -> Batch:
    """Return a batch with which an administrator says how batches are carried."""
    return build_batch(FOUNDER, [propose(FOUNDER, CARRIED, value)])


def codes(ledger: Heights, *txs: bytes) -> list[int]:
    """Decide a height."""
    return [each.code for each in ledger.decide(txs).tx_results]


def test_a_compressed_batch_is_the_same_batch(ledger: Heights, tmp_path: Path) -> None:
    batch = intkey_batch(FOUNDER, 1, 20)
    plain, short = tx(batch), carried(batch)
    assert len(short) < len(plain) / 2
    assert ledger.check(short) == Code.TAKEN
    assert ledger.propose([short]) == [short]
    assert ledger.accepts([short])
    with heights(tmp_path / "other") as other:
        begin_as(ledger, other)
        other.decide([tx(batch) for batch in batches_of(ledger, 1)])
        assert ledger.decide([short]).app_hash == other.decide([plain]).app_hash
    assert codes(ledger, plain) == [Code.COMMITTED]
    assert ledger.check(short) == Code.COMMITTED


def test_no_frame_is_taken_before_the_ledger_names_them(older: Heights) -> None:
    """A hostile validator proposes one while others do not know them: all say the same of it."""
    batch = intkey_batch(FOUNDER, 1, 20)
    frame = carried(batch)
    before = older.chain.head
    assert older.check(frame) == Code.MALFORMED
    assert not older.accepts([frame])
    assert not older.accepts([tx(intkey_batch(FOUNDER, 50)), frame])
    assert codes(older, frame) == [Code.MALFORMED]
    assert older.chain.head == before
    assert codes(older, tx(says(ZSTD)), frame) == [Code.TAKEN, Code.MALFORMED]
    assert older.check(frame) == Code.TAKEN
    assert older.accepts([frame])
    assert codes(older, frame) == [Code.TAKEN]


def test_what_a_validator_remembers_of_a_frame_changes_nothing(older: Heights) -> None:
    batch = intkey_batch(FOUNDER, 1, 20)
    frame = carried(batch)
    older.application.batches.add(frame, verify_batch(batch))
    assert older.check(frame) == Code.MALFORMED
    assert not older.accepts([frame])
    assert codes(older, frame) == [Code.MALFORMED]


def test_frames_under_way_are_decided_after_the_value_has_changed(ledger: Heights) -> None:
    """Else they would stay in the mempools, and no proposer could get past them."""
    frames = [carried(intkey_batch(FOUNDER, first, 20)) for first in (1, 50)]
    assert [ledger.check(frame) for frame in frames] == [Code.TAKEN, Code.TAKEN]
    assert codes(ledger, tx(says("none")), frames[0]) == [Code.TAKEN, Code.TAKEN]
    assert ledger.propose(frames[1:]) == frames[1:]
    assert ledger.accepts(frames[1:])
    assert codes(ledger, frames[1]) == [Code.TAKEN]


def test_a_newcomer_says_the_same_of_each_old_height(older: Heights, tmp_path: Path) -> None:
    """It knows frames from its first height on, and executes those before the setting too."""
    frames = [carried(intkey_batch(FOUNDER, first, 20)) for first in (1, 50, 100)]
    history = [[frames[0]], [tx(says(ZSTD)), frames[0]], frames[:2], [tx(says("none"))], frames]
    told = [older.decide(txs) for txs in history]
    with heights(tmp_path / "newcomer") as newcomer:
        begin_as(older, newcomer)
        assert [newcomer.decide(txs) for txs in history] == told
    with heights(tmp_path / "restarted") as first:
        begin_as(older, first)
        assert [first.decide(txs) for txs in history[:2]] == told[:2]
    with heights(tmp_path / "restarted") as again:
        again.height, again.time_s = first.height, first.time_s
        assert [again.decide(txs) for txs in history[2:]] == told[2:]


def begin_as(ledger: Heights, other: Heights) -> None:
    """Begin a network with the first block of another one."""
    other.begin(batches_of(ledger, 0), POWERS)


def batches_of(ledger: Heights, block_num: int) -> list[Batch]:
    found = ledger.chain.by_num(block_num)
    assert found is not None
    return list(found.block.batches)


def test_a_batch_is_compressed_only_where_that_makes_it_shorter() -> None:
    for batch in (intkey_batch(FOUNDER, 1), build_batch(FOUNDER, [intkey(FOUNDER, "inc", "x", 1)])):
        assert len(carried(batch)) <= len(tx(batch))
    wide = intkey_batch(FOUNDER, 1)
    wide.transactions[0].payload = bytes(1 << 20)
    assert carried(wide) == tx(wide)  # a frame of it would be refused


FRAME = carried(intkey_batch(FOUNDER, 1, 20))


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        (FRAME + b"x", "unused data"),
        (FRAME[:-1], "did not decompress"),
        (FRAME[:5], "compressed: "),
        (compressed(bytes(1 << 20)), "says it holds 1048576 bytes"),
        (compressed(b"\xffno batch"), "a field of wire type 7"),
    ],
)
def test_a_frame_that_holds_no_batch_is_refused(ledger: Heights, spoilt: bytes, why: str) -> None:
    answer = ledger.application.check_tx(RequestCheckTx(tx=spoilt))
    assert answer.code == Code.MALFORMED
    assert why in answer.log
    assert not ledger.accepts([spoilt])
    assert codes(ledger, spoilt) == [Code.MALFORMED]


@pytest.mark.parametrize("named", ["older", "ledger"])
def test_a_batch_that_begins_like_a_frame_is_a_batch(
    named: str, request: pytest.FixtureRequest
) -> None:
    """Validators from before there were frames take it: two unknown fields, then the batch."""
    ledger: Heights = request.getfixturevalue(named)
    batch = intkey_batch(FOUNDER, 1)
    hostile = MAGIC + b"\x01" + bytes(4) + tx(batch)
    assert ledger.check(hostile) == Code.TAKEN
    assert ledger.propose([hostile]) == [hostile]
    assert ledger.accepts([hostile])
    assert codes(ledger, hostile) == [Code.TAKEN]
    assert ledger.check(tx(batch)) == Code.COMMITTED


def test_no_more_than_a_block_is_expanded(ledger: Heights, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [intkey_batch(FOUNDER, 10 * number, 5) for number in range(4)]
    txs = [carried(batch) for batch in found]
    known = ledger.application.batches
    monkeypatch.setattr(application, "PROPOSAL_BYTES", found[0].ByteSize() // 2 + 1)
    monkeypatch.setattr(application, "BLOCK_BATCH_BYTES_MAX", found[0].ByteSize() + 1)
    assert ledger.propose(txs) == txs[:1]
    assert not ledger.accepts(txs)
    frames = [each for each in known._known if each in txs]  # noqa: SLF001 - what was expanded
    assert len(frames) == 2
