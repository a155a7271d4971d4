"""Batches as CometBFT carries them: compressed in frames, or as they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.ledger.blocks.compression import MAGIC, compressed
from contracts.ledger.cometbft import application
from contracts.ledger.cometbft.batches import carried
from contracts.ledger.cometbft.decisions import Code
from contracts.proto.abci_pb2 import RequestCheckTx
from contracts.sawtooth.batches import build_batch
from support.ledgers.heights import FOUNDER, POWERS, Heights, founded, heights, tx
from support.ledgers.nodes import intkey, intkey_batch


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Heights]:
    with founded(tmp_path / "data") as made:
        yield made


def test_a_compressed_batch_is_the_same_batch(ledger: Heights, tmp_path: Path) -> None:
    batch = intkey_batch(FOUNDER, 1, 20)
    plain, short = tx(batch), carried(batch)
    assert len(short) < len(plain) / 2
    assert ledger.check(short) == Code.TAKEN
    assert ledger.propose([short]) == [short]
    assert ledger.accepts([short])
    genesis = ledger.chain.by_num(0)
    assert genesis is not None
    with heights(tmp_path / "other") as other:
        other.begin(list(genesis.block.batches), POWERS)
        assert ledger.decide([short]).app_hash == other.decide([plain]).app_hash
    assert [each.code for each in ledger.decide([plain]).tx_results] == [Code.COMMITTED]
    assert ledger.check(short) == Code.COMMITTED


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
    assert [each.code for each in ledger.decide([spoilt]).tx_results] == [Code.MALFORMED]


def test_a_batch_that_begins_like_a_frame_is_a_batch(ledger: Heights) -> None:
    """Validators from before there were frames take it: two unknown fields, then the batch."""
    batch = intkey_batch(FOUNDER, 1)
    hostile = MAGIC + b"\x01" + bytes(4) + tx(batch)
    assert ledger.check(hostile) == Code.TAKEN
    assert ledger.propose([hostile]) == [hostile]
    assert ledger.accepts([hostile])
    assert [each.code for each in ledger.decide([hostile]).tx_results] == [Code.TAKEN]
    assert ledger.check(tx(batch)) == Code.COMMITTED


def test_no_more_than_a_block_is_expanded(ledger: Heights, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [intkey_batch(FOUNDER, 10 * number, 5) for number in range(4)]
    txs = [carried(batch) for batch in found]
    known = ledger.application.batches
    monkeypatch.setattr(application, "BLOCK_BATCH_BYTES_MAX", found[0].ByteSize() + 1)
    assert ledger.propose(txs) == txs[:2]
    assert not ledger.accepts(txs)
    assert len(known._known) == 2  # noqa: SLF001 - what was expanded
