"""The publisher's thread: what arrives soon after a block shares the next one."""

import json
from pathlib import Path

import pytest

from contracts import address
from contracts.ledger.blocks import log as log_module
from contracts.ledger.engine import candidate as candidate_module
from contracts.ledger.solo import pace as pace_module
from contracts.ledger.solo.pace import BlockPace, is_full
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from contracts.sawtooth.settings import MAX_BATCHES_PER_BLOCK, TRANSACTION_FAMILIES, propose
from support.ledgers.founding import untimed_genesis
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey_batch
from support.ledgers.publishing import SIGNER, WAIT_S, publishing

GENESIS = untimed_genesis(SIGNER, [SIGNER.public_key])


def test_what_arrives_soon_after_a_block_shares_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace_module, "BLOCK_GAP_S", 1.0)
    batches = [intkey_batch(SIGNER, number) for number in range(3)]
    names = [batch.header_signature for batch in batches]
    with publishing(tmp_path, GENESIS) as running:
        assert running.decide(batches[0]).decided == names[:1]
        running.submit(batches[1])
        running.submit(batches[2])
        assert running.outcome().decided == names[1:]


def test_a_block_waits_for_more_until_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each submission counts as one byte here."""
    monkeypatch.setattr(pace_module, "FULL_BYTES", 3)
    monkeypatch.setattr(
        BlockPace, "more_in_s", lambda _, __, waiting: 0.0 if is_full(waiting.size) else 2 * WAIT_S
    )
    batches = [intkey_batch(SIGNER, number) for number in range(3)]
    with publishing(tmp_path, GENESIS) as running:
        running.submit(batches[0])
        running.submit(batches[1])
        assert running.decide(batches[2]).decided == [each.header_signature for each in batches]


def test_a_publisher_that_waits_for_more_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BlockPace, "more_in_s", lambda *_: 2 * WAIT_S)
    with publishing(tmp_path, GENESIS) as running:
        running.submit(intkey_batch(SIGNER, 0))
        running.publisher.stop()
        assert running.said.empty()


@pytest.mark.parametrize("name", [TRANSACTION_FAMILIES, MAX_BATCHES_PER_BLOCK])
def test_what_is_no_setting_stops_no_block(tmp_path: Path, name: str) -> None:
    vandal, place = Family("vandal", "1.0"), address.setting(name)

    def spoil(_: TransactionHeader, payload: bytes, _id: str, context: Context) -> None:
        context.set(place, payload)

    spoiling = build_transaction(
        SIGNER,
        vandal,
        b"\xff",
        batcher_public_key=SIGNER.public_key,
        inputs=[place],
        outputs=[place],
    )
    with publishing(tmp_path, GENESIS, {**FAMILIES, vandal: spoil}) as running:
        for batch in (build_batch(SIGNER, [spoiling]), intkey_batch(SIGNER, 0)):
            assert not running.decide(batch).invalid


def test_a_family_in_this_process_is_permitted_or_not(tmp_path: Path) -> None:
    listed = json.dumps([{"family": "sawtooth_settings", "version": "1.0"}])
    only, everything = (
        build_batch(SIGNER, [propose(SIGNER, TRANSACTION_FAMILIES, value)])
        for value in (listed, "")
    )
    refused = intkey_batch(SIGNER, 0)
    with publishing(tmp_path, GENESIS) as running:
        assert not running.decide(only).invalid
        assert list(running.decide(refused).invalid) == [refused.header_signature]
        assert not running.decide(everything).invalid
        assert not running.decide(intkey_batch(SIGNER, 1)).invalid


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("BLOCK_EFFECT_BYTES_SOFT", 150),
        ("BLOCK_BATCH_BYTES_MAX", 2_000),
        ("BATCH_ADDRESSES_MAX", 4),
    ],
)
def test_a_block_is_closed_by_what_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    """Each batch has a receipt of about 100 bytes, is of 900, and names two addresses."""
    monkeypatch.setattr(candidate_module, limit, value)
    batches = [intkey_batch(SIGNER, number) for number in range(5)]
    with publishing(tmp_path, GENESIS) as running:
        running.submit(*batches)
        decided: list[str] = []
        while len(decided) < len(batches):
            decided += running.outcome().decided
        assert decided == [batch.header_signature for batch in batches]
        assert running.chain.head is not None
        blocks = [running.chain.by_num(number) for number in range(1, 4)]
        assert [len(block.block.batches) for block in blocks if block is not None] == [2, 2, 1]


def test_a_block_that_the_log_refuses_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = intkey_batch(SIGNER, 0)
    with publishing(tmp_path, GENESIS) as running:
        with monkeypatch.context() as patch:
            patch.setattr(log_module, "RECORD_BYTES_MAX", 100)
            outcome = running.decide(refused)
        assert outcome.decided == [refused.header_signature]
        message = outcome.invalid[refused.header_signature].message
        assert message.startswith("its block cannot be written: record of ")
        assert not running.decide(refused).invalid
