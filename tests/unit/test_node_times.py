"""Family block_info: each block begins with the time of the block before it."""

import json
from pathlib import Path

import pytest

from contracts import address
from contracts.keys import Signer
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.engine.genesis import TIMES_FIRST, own_genesis
from contracts.ledger.execution import blocktimes
from contracts.ledger.execution import executor as executor_module
from contracts.ledger.execution.executor import TransactionContext
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.options import parse_options
from contracts.ledger.solo.publisher import publish
from contracts.ledger.wayseal_node import run
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoConfig, BlockInfoTxn
from contracts.proto.identity_pb2 import Policy
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader, TransactionHeader
from contracts.rules.context import InvalidTransactionError
from contracts.runtime.commands import WRONG_USAGE
from contracts.sawtooth.batches import build_batch, parse_header
from contracts.sawtooth.block_info import (
    ADDRESSES,
    FAMILY,
    block_info_batch,
    latest_block_info,
)
from contracts.sawtooth.identity import ALLOWED_KEYS
from contracts.sawtooth.settings import (
    BATCH_INJECTORS,
    BLOCK_VALIDATION_RULES,
    MAX_BATCHES_PER_BLOCK,
    TRANSACTION_FAMILIES,
    propose,
)
from support.ledgers.founding import untimed_genesis
from support.ledgers.identities import set_policy
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey_batch
from support.ledgers.publishing import SIGNER, publishing

TIMED = own_genesis(SIGNER, [SIGNER.public_key])
UNTIMED = untimed_genesis(SIGNER, [SIGNER.public_key])


def settings(**values: str) -> Batch:
    names = {"injectors": BATCH_INJECTORS, "rules": BLOCK_VALIDATION_RULES}
    return build_batch(
        SIGNER, [propose(SIGNER, names[name], value) for name, value in values.items()]
    )


def test_each_block_begins_with_the_time_of_the_one_before(tmp_path: Path) -> None:
    with publishing(tmp_path, TIMED) as running:
        for number in range(1, 4):
            before, running.clock.now_s = running.head, 1_700_000_000.9 + number
            batch = intkey_batch(SIGNER, number)
            assert running.decide(batch).decided == [batch.header_signature]
            injected, own = running.head.block.batches
            assert own == batch
            assert verify_batch(injected).batch == injected
            (transaction,) = injected.transactions
            header = parse_header(transaction)
            assert (header.family_name, header.family_version) == FAMILY
            assert list(header.inputs) == list(header.outputs) == list(ADDRESSES)
            entry = BlockInfo(
                block_num=number - 1,
                previous_block_id=before.header.previous_block_id,
                signer_public_key=SIGNER.public_key,
                header_signature=before.id,
                timestamp=1_700_000_000 + number,
            )
            assert transaction.payload == BlockInfoTxn(block=entry).SerializeToString()
            assert latest_block_info(running.chain.state.get) == entry


def test_bytes_in_state_are_sawtooths() -> None:
    """Expected bytes: encoded by hand from block_info.proto, with the family's defaults."""
    context = applied(BlockInfo(block_num=0, timestamp=5))
    one, two = (context.changes[place] for place in sorted(context.changes, reverse=True))
    assert one == bytes.fromhex("18800220ac02")
    assert two == b"\x12\x10" + b"0" * 16 + b"\x1a\x42" + b"02" * 33 + b'"\x80\x01' + b"0" * 128 + (
        b"(\x05"
    )


def applied(
    block: BlockInfo, state: dict[str, bytes] | None = None, **config: int
) -> TransactionContext:
    """Apply an entry; what it leaves out has a valid value."""
    full = BlockInfo(
        previous_block_id="0" * 16, signer_public_key="02" * 33, header_signature="0" * 128
    )
    full.MergeFrom(block)
    header = TransactionHeader(inputs=ADDRESSES, outputs=ADDRESSES)
    context = TransactionContext(header, (state or {}).get)
    blocktimes.apply(header, BlockInfoTxn(block=full, **config).SerializeToString(), "", context)
    return context


def entries(count: int, target_count: int) -> dict[str, bytes]:
    """Return state with the entries of blocks 0 to `count` - 1."""
    state: dict[str, bytes] = {}
    for number in range(count):
        before = f"{number:0128x}" if number else "0" * 16
        block = BlockInfo(
            block_num=number, previous_block_id=before, header_signature=f"{number + 1:0128x}"
        )
        context = applied(block, state, target_count=0 if number else target_count)
        for place, value in context.changes.items():
            if value is None:
                del state[place]
            else:
                state[place] = value
    return state


def test_old_entries_are_dropped() -> None:
    state = entries(8, target_count=3)
    config = BlockInfoConfig.FromString(state.pop(address.block_info_config()))
    assert (config.oldest_block, config.latest_block, config.target_count) == (4, 7, 3)
    assert sorted(state) == [address.block_info(number) for number in range(4, 8)]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (BlockInfo(block_num=3), "Current block is 3, but latest block calculated from"),
        (BlockInfo(block_num=2, previous_block_id="7" * 128), "Previous block id must match"),
        (BlockInfo(block_num=2, previous_block_id="x"), "Invalid previous block id 'x'"),
        (BlockInfo(block_num=2, signer_public_key="02"), "Invalid signer public_key '02'"),
        (BlockInfo(block_num=2, header_signature="0"), "Invalid header signature '0'"),
    ],
)
def test_an_entry_follows_the_one_before(block: BlockInfo, expected: str) -> None:
    with pytest.raises(InvalidTransactionError, match=expected):
        applied(block, entries(2, target_count=3))


def test_a_time_is_not_earlier_than_the_one_before() -> None:
    state = {
        place: value or b"" for place, value in applied(BlockInfo(timestamp=9)).changes.items()
    }
    block = BlockInfo(block_num=1, previous_block_id="0" * 128, timestamp=8)
    with pytest.raises(InvalidTransactionError, match="Got 8, expected >9"):
        applied(block, state)


def test_a_block_of_refused_batches_is_not_made(tmp_path: Path) -> None:
    with publishing(tmp_path, TIMED) as running:
        assert running.decide(intkey_batch(SIGNER, 1, 1)).invalid == {}
        head = running.head
        again = build_batch(SIGNER, [propose(SIGNER, MAX_BATCHES_PER_BLOCK, "1")] * 1)
        strange = build_batch(SIGNER, [propose(SIGNER, BATCH_INJECTORS, "nobody")])
        assert "expected block_info or nothing, got 'nobody'" in running.why_invalid(strange)
        assert running.head is head
        assert not running.decide(again).invalid


def test_a_clock_that_runs_back_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with publishing(tmp_path, TIMED) as running:
        for number, now_s in enumerate(
            (1_700_001_000, 1_700_000_900, 1_600_000_000, 1_600_000_001)
        ):
            running.clock.now_s = now_s
            assert not running.decide(intkey_batch(SIGNER, number)).invalid
            latest = latest_block_info(running.chain.state.get)
            assert latest is not None
            assert (latest.block_num, latest.timestamp) == (number, 1_700_001_000)
    told = [each.message for each in caplog.records if "the clock is behind" in each.message]
    assert len(told) == 1


def test_a_client_has_no_word_on_the_time(tmp_path: Path) -> None:
    with publishing(tmp_path, TIMED) as running:
        header = BlockHeader(signer_public_key=SIGNER.public_key, previous_block_id="0" * 16)
        forged = block_info_batch(SIGNER, header, "0" * 128, 0)
        assert "family block_info is the node's own" in running.why_invalid(forged)


def test_a_list_of_families_does_not_stop_the_times(tmp_path: Path) -> None:
    listed = [{"family": "sawtooth_settings", "version": "1.0"}]
    with publishing(tmp_path, TIMED) as running:
        running.decide(
            build_batch(SIGNER, [propose(SIGNER, TRANSACTION_FAMILIES, json.dumps(listed))])
        )
        assert not running.decide(settings(rules="")).invalid
        assert len(running.head.block.batches) == 2


def test_the_injected_batch_counts_among_the_batches_of_a_block(tmp_path: Path) -> None:
    with publishing(tmp_path, TIMED) as running:
        for most, blocks in (("3", 2), ("1", 4)):
            running.decide(build_batch(SIGNER, [propose(SIGNER, MAX_BATCHES_PER_BLOCK, most)]))
            first = running.head.num
            batches = [intkey_batch(SIGNER, 10 * blocks + number) for number in range(4)]
            running.submit(*batches)
            decided: list[str] = []
            while len(decided) < len(batches):
                decided += running.outcome().decided
            assert running.head.num - first == blocks


def test_times_are_switched_on_for_ever(tmp_path: Path) -> None:
    with publishing(tmp_path, UNTIMED) as running:
        running.decide(intkey_batch(SIGNER, 1))
        assert len(running.head.block.batches) == 1
        assert not running.why_invalid(settings(rules=TIMES_FIRST, injectors="block_info"))
        assert len(running.head.block.batches) == 1
        running.decide(intkey_batch(SIGNER, 2))
        assert len(running.head.block.batches) == 2
        assert "while sawtooth.validator.batch_injectors is block_info" in running.why_invalid(
            settings(injectors="")
        )
        assert "cannot be switched off" in running.why_invalid(settings(injectors="", rules=""))
        running.decide(intkey_batch(SIGNER, 3))
        assert len(running.head.block.batches) == 2


def test_the_nodes_own_key_needs_no_permission(tmp_path: Path) -> None:
    other = Signer.from_hex("22" * 32)
    only = [Policy.Entry(type=Policy.PERMIT_KEY, key=other.public_key)]
    restricting = [
        propose(SIGNER, ALLOWED_KEYS, SIGNER.public_key),
        set_policy(SIGNER, "default", only),
    ]
    with publishing(tmp_path, TIMED) as running:
        assert not running.why_invalid(build_batch(SIGNER, restricting))
        assert "is not permitted" in running.why_invalid(intkey_batch(SIGNER, 1))
        assert not running.why_invalid(intkey_batch(other, 1))
        assert len(running.head.block.batches) == 2


def test_no_block_holds_more_of_a_family_than_the_rules_permit(tmp_path: Path) -> None:
    with publishing(tmp_path, UNTIMED) as running:
        assert not running.why_invalid(settings(rules="NofX:3,intkey"))
        assert "4 transactions of family 'intkey'" in running.why_invalid(
            intkey_batch(SIGNER, 0, 4)
        )
        batches = [intkey_batch(SIGNER, 10 * number, 2) for number in range(1, 4)]
        running.submit(*batches)
        decided: list[str] = []
        while len(decided) < len(batches):
            decided += running.outcome().decided
        assert decided == [batch.header_signature for batch in batches]
        assert running.head.num == 1 + 3


def test_after_blocks_without_a_time_none_follows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Another node, which injects nothing, made blocks on the same chain."""
    with publishing(tmp_path, TIMED) as running:
        running.decide(intkey_batch(SIGNER, 1))
        running.publisher.stop()
        candidate = Candidate(running.chain, running.chain.state.get, FAMILIES)
        assert candidate.add(verify_batch(intkey_batch(SIGNER, 2))) is None
        publish(running.chain, SIGNER, candidate)
    with publishing(tmp_path, TIMED) as running:
        for number in (3, 4):
            assert not running.decide(intkey_batch(SIGNER, number)).invalid
            assert len(running.head.block.batches) == 1
    (told,) = [each.message for each in caplog.records if "blocks have no time" in each.message]
    assert "Current block is 2, but latest block calculated from config is 1" in told


def test_a_node_does_not_start_on_demands_that_it_cannot_honour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An older node committed them, which ignored such settings."""
    monkeypatch.setattr(executor_module, "CHECKED_WHEN_SET", frozenset())
    with publishing(tmp_path, UNTIMED) as running:
        assert not running.why_invalid(settings(injectors="poet"))
    status = run(parse_options(["--data", str(tmp_path), "--rest", "127.0.0.1:0"]), FAMILIES)
    assert status == WRONG_USAGE
    told = capsys.readouterr().err
    assert "block 1 demands what this node cannot honour: sawtooth.validator." in told
    assert "got 'poet'" in told
