"""The application behind CometBFT, height by height, as the engine calls it."""

from collections.abc import Iterator
from pathlib import Path

import cbor2
import pytest

from contracts import address, validators
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft import application, batches
from contracts.ledger.cometbft.decisions import Code
from contracts.ledger.cometbft.home import BLOCK_BYTES_MAX, MEMPOOL_BATCHES
from contracts.ledger.cometbft.times import NO_SIGNER, time_batch
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.ledger.engine.genesis import own_genesis
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.ledger.solo.publisher import found
from contracts.proto.abci_pb2 import (
    Misbehavior,
    RequestFinalizeBlock,
    RequestInfo,
    RequestQuery,
    Validator,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch, build_transaction
from contracts.sawtooth.block_info import latest_block_info
from contracts.sawtooth.blocks import network_height
from contracts.sawtooth.settings import MAX_BATCHES_PER_BLOCK, propose
from contracts.validators import SETTING, encode
from support.ledgers.heights import (
    CHAIN,
    FOUNDER,
    POWERS,
    VALIDATOR,
    Heights,
    first_batches,
    founded,
    heights,
    named,
    tx,
)
from support.ledgers.intkey_node import FAMILIES, INTKEY, address_of
from support.ledgers.nodes import intkey, intkey_batch

OTHER = Signer.from_hex("33" * 32)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Heights]:
    with founded(tmp_path / "data") as made:
        yield made


@pytest.fixture
def timed(tmp_path: Path) -> Iterator[Heights]:
    with heights(tmp_path / "data") as made:
        made.begin(
            [own_genesis(FOUNDER, [FOUNDER.public_key]), named(POWERS)],
            POWERS,
        )
        yield made


def head_id(ledger: Heights) -> bytes:
    assert ledger.chain.head is not None
    return bytes.fromhex(ledger.chain.head.id)


def test_the_hash_of_the_application_is_the_newest_block(ledger: Heights) -> None:
    answer = ledger.decide([tx(intkey_batch(FOUNDER, 1))])
    assert answer.app_hash == head_id(ledger)
    assert [each.code for each in answer.tx_results] == [Code.TAKEN]
    head = ledger.chain.head
    assert head is not None
    assert (head.num, network_height(head.header)) == (1, 1)
    info = ledger.application.info(RequestInfo())
    assert (info.last_block_height, info.last_block_app_hash) == (1, head_id(ledger))


def test_a_height_that_takes_nothing_makes_no_block(ledger: Heights) -> None:
    before = head_id(ledger)
    assert ledger.decide([]).app_hash == before
    bad = tx(build_batch(FOUNDER, [intkey(FOUNDER, "inc", "x", 1)]))
    answer = ledger.decide([b"\xff", bad])
    assert [each.code for each in answer.tx_results] == [Code.MALFORMED, Code.INVALID]
    assert answer.app_hash == before == head_id(ledger)


def test_it_makes_the_state_that_one_signer_makes(ledger: Heights, tmp_path: Path) -> None:
    batches = [intkey_batch(FOUNDER, first, 3) for first in range(0, 30, 3)]
    for batch in batches:
        ledger.decide([tx(batch)])
    with heights(tmp_path / "other") as other:
        other.begin(first_batches(), POWERS)
        other.decide([tx(batch) for batch in batches])
        roots = {
            each.chain.head.header.state_root_hash
            for each in (ledger, other)
            if each.chain.head is not None
        }
    assert len(roots) == 1


def test_validators_make_the_same_blocks(ledger: Heights, tmp_path: Path) -> None:
    genesis = ledger.chain.by_num(0)
    assert genesis is not None
    with heights(tmp_path / "other") as other:
        other.begin(list(genesis.block.batches), POWERS)
        for first in range(3):
            txs = [tx(intkey_batch(FOUNDER, first))]
            assert ledger.decide(txs).app_hash == other.decide(txs).app_hash


def test_what_was_executed_and_not_committed_is_executed_again(tmp_path: Path) -> None:
    batch = intkey_batch(FOUNDER, 1)
    with heights(tmp_path / "data") as first:
        first.begin(first_batches(), POWERS)
        genesis = head_id(first)
        told = first.execute([tx(batch)]).app_hash
        assert head_id(first) == genesis
    with heights(tmp_path / "data") as again:
        info = again.application.info(RequestInfo())
        assert (info.last_block_height, info.last_block_app_hash) == (0, genesis)
        assert again.begin(first_batches(), POWERS) == genesis  # a second InitChain is the same
        assert again.decide([tx(batch)]).app_hash == told


def test_dependencies_are_put_in_order_and_orphans_are_early(ledger: Heights) -> None:
    first = intkey(FOUNDER, "set", "a", 1)
    second = intkey(FOUNDER, "set", "b", 1, dependencies=[first.header_signature])
    before, after = tx(build_batch(FOUNDER, [first])), tx(build_batch(FOUNDER, [second]))
    assert ledger.check(after) == Code.EARLY
    assert ledger.check(before) == Code.TAKEN
    assert ledger.check(after) == Code.TAKEN  # its dependency is on the way
    assert ledger.propose([after, before]) == [before, after]
    assert [each.code for each in ledger.decide([after]).tx_results] == [Code.EARLY]
    codes = [each.code for each in ledger.decide([before, after]).tx_results]
    assert codes == [Code.TAKEN, Code.TAKEN]
    assert ledger.check(after) == Code.COMMITTED


def test_a_batch_is_committed_once(ledger: Heights) -> None:
    batch = tx(intkey_batch(FOUNDER, 1))
    codes = [each.code for each in ledger.decide([batch, batch]).tx_results]
    assert codes == [Code.TAKEN, Code.COMMITTED]


def test_the_networks_limit_of_batches_holds(ledger: Heights) -> None:
    ledger.decide([tx(build_batch(FOUNDER, [propose(FOUNDER, MAX_BATCHES_PER_BLOCK, "2")]))])
    txs = [tx(intkey_batch(FOUNDER, first)) for first in range(3)]
    assert ledger.propose(txs) == txs[:2]
    assert not ledger.accepts(txs)
    assert ledger.accepts(txs[:2])
    codes = [each.code for each in ledger.decide(txs).tx_results]
    assert codes == [Code.TAKEN, Code.TAKEN, Code.NO_ROOM]


def test_a_proposer_asks_for_no_more_than_a_second_or_two_of_work(
    ledger: Heights, monkeypatch: pytest.MonkeyPatch
) -> None:
    txs = [tx(intkey_batch(FOUNDER, 10 * first, count)) for first, count in enumerate((5, 1, 1))]
    monkeypatch.setattr(application, "PROPOSAL_BYTES", len(txs[1]) + len(txs[2]))
    assert ledger.propose(txs) == txs[:1]  # a batch that is larger alone still gets its height
    assert ledger.propose(txs[1:]) == txs[1:]
    assert ledger.propose(txs[1:] + txs[:1]) == txs[1:]
    assert ledger.accepts(txs)  # other validators may want more


def test_a_proposer_does_not_look_far_beyond_what_it_asks_for(
    ledger: Heights, monkeypatch: pytest.MonkeyPatch
) -> None:
    txs = [tx(intkey_batch(FOUNDER, first)) for first in range(3)]
    monkeypatch.setattr(application, "PROPOSAL_BYTES", len(txs[0]))
    assert ledger.propose([*txs, b"no batch, and nobody looks at it"]) == txs[:1]


def test_what_a_proposer_is_shown_again_is_not_verified_again(
    ledger: Heights, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[Batch] = []

    def verify(batch: Batch) -> VerifiedBatch:
        verified.append(batch)
        return verify_batch(batch)

    monkeypatch.setattr(batches, "verify_batch", verify)
    monkeypatch.setattr(batches, "REMEMBERED_BATCHES", 8)
    waiting = [tx(intkey_batch(FOUNDER, first)) for first in range(20)]
    shown = waiting[:6]
    for each in shown:
        ledger.check(each)
    for later in waiting[6:]:
        assert ledger.propose(shown) == shown
        ledger.check(later)
    assert len(verified) == len(waiting)
    assert batches.REMEMBERED_BATCHES < len(waiting) <= MEMPOOL_BATCHES


def test_a_proposal_of_garbage_is_refused(ledger: Heights) -> None:
    assert ledger.accepts([])
    assert not ledger.accepts([b"\xff"])
    forged = Batch.FromString(tx(intkey_batch(FOUNDER, 1)))
    forged.transactions[0].payload += b"x"
    assert not ledger.accepts([canonical(forged)])


def test_a_time_comes_first_where_the_network_wants_one(timed: Heights) -> None:
    batch = tx(intkey_batch(FOUNDER, 1))
    assert timed.propose([]) == []
    time, *rest = timed.propose([batch])
    assert rest == [batch]
    assert timed.accepts([time, batch])
    for refused in ([batch], [batch, time], [time, time, batch]):
        assert not timed.accepts(refused)
    timed.decide([time, batch])
    entry = latest_block_info(timed.chain.state.get)
    assert entry is not None
    assert (entry.block_num, entry.timestamp) == (0, timed.time_s - 1)
    assert entry.signer_public_key == NO_SIGNER
    assert timed.check(time) == Code.INVALID  # a client may not tell the time


def test_a_batch_as_long_as_a_block_is_taken_beside_the_time(timed: Heights) -> None:
    """Validators would refuse whatever any of them proposes, for as long as it waits."""
    longest = tx(long_batch(BLOCK_BATCH_BYTES_MAX))
    assert timed.check(longest) == Code.TAKEN
    proposed = timed.propose([longest], BLOCK_BYTES_MAX)
    assert proposed[1:] == [longest]
    assert timed.accepts(proposed)
    assert not timed.accepts([*proposed, tx(intkey_batch(FOUNDER, 1))])
    assert [each.code for each in timed.decide(proposed).tx_results] == [Code.TAKEN] * 2
    assert timed.chain.find_batch(Batch.FromString(longest).header_signature) is not None


def long_batch(size: int) -> Batch:
    """Return a batch that sets one name and has so many bytes."""
    place, filling = [address_of("k1")], size
    while True:
        signed = build_transaction(
            FOUNDER,
            INTKEY,
            cbor2.dumps({"Verb": "set", "Name": "k1", "Value": 1, "Filling": bytes(filling)}),
            batcher_public_key=FOUNDER.public_key,
            inputs=place,
            outputs=place,
        )
        batch = build_batch(FOUNDER, [signed])
        if batch.ByteSize() == size:
            return batch
        filling -= batch.ByteSize() - size


@pytest.mark.parametrize("off_s", [-1, 1, 3600])
def test_another_time_than_the_heights_is_refused(timed: Heights, off_s: int) -> None:
    head = timed.chain.head
    assert head is not None
    lie = tx(time_batch(OTHER, head, timed.chain.state.get, timed.time_s + off_s))
    batch = tx(intkey_batch(FOUNDER, 1))
    assert not timed.accepts([lie, batch])
    codes = [each.code for each in timed.decide([lie, batch]).tx_results]
    assert codes == [Code.INVALID, Code.TAKEN]


def test_administrators_change_the_validators(ledger: Heights) -> None:
    changed = {VALIDATOR.public_key: 2, OTHER.public_key: 3}
    answer = ledger.decide([tx(build_batch(FOUNDER, [propose(FOUNDER, SETTING, encode(changed))]))])
    told = {each.pub_key.secp256k1.hex(): each.power for each in answer.validator_updates}
    assert told == changed
    alone = {OTHER.public_key: 3}
    answer = ledger.decide([tx(build_batch(FOUNDER, [propose(FOUNDER, SETTING, encode(alone))]))])
    told = {each.pub_key.secp256k1.hex(): each.power for each in answer.validator_updates}
    assert told == {VALIDATOR.public_key: 0}
    assert not ledger.decide([tx(intkey_batch(FOUNDER, 1))]).validator_updates


@pytest.mark.parametrize("value", ["", "{}", "[]", '{"02":1}', f'{{"{OTHER.public_key}":0}}'])
def test_a_malformed_list_of_validators_is_refused(ledger: Heights, value: str) -> None:
    answer = ledger.decide([tx(build_batch(FOUNDER, [propose(FOUNDER, SETTING, value)]))])
    assert [each.code for each in answer.tx_results] == [Code.INVALID]
    assert validators.validators_in(ledger.chain.state.get) == POWERS


@pytest.mark.parametrize(
    ("batches", "why"),
    [
        (first_batches()[:1], "expected wayseal.validators"),
        ([*first_batches()[:1], named({OTHER.public_key: 1})], "expected wayseal.validators"),
        (
            [*first_batches()[:1], named(POWERS, "other")],
            f"expected wayseal.chain_id to be '{CHAIN}'",
        ),
        ([], "at least one batch"),
    ],
)
def test_a_genesis_that_does_not_fit_is_refused(
    tmp_path: Path, batches: list[Batch], why: str
) -> None:
    with heights(tmp_path / "data") as made:
        with pytest.raises(RejectedError, match=why):
            made.begin(batches, POWERS)
        assert made.chain.head is None


def test_who_signs_twice_is_named(ledger: Heights, caplog: pytest.LogCaptureFixture) -> None:
    liar = Validator(address=b"\x0a" * 20, power=1)
    ledger.application.finalize_block(
        RequestFinalizeBlock(
            height=1,
            misbehavior=[Misbehavior(type=Misbehavior.DUPLICATE_VOTE, validator=liar, height=1)],
        )
    )
    assert ledger.application.misbehaved == {"0A" * 20: 1}
    assert "0A" * 20 in caplog.text


def test_a_query_reads_the_newest_state(ledger: Heights) -> None:
    ledger.decide([tx(intkey_batch(FOUNDER, 7))])
    place = address_of("k7")
    assert ledger.application.query(RequestQuery(path=place)).value == ledger.chain.state.get(place)
    assert ledger.application.query(RequestQuery(path=address.setting("none"))).value == b""


def test_a_chain_of_one_signer_is_not_a_networks(tmp_path: Path) -> None:
    chain = Chain.open(tmp_path / "data")
    found(chain, FOUNDER, FAMILIES, first_batches())
    chain.close()
    with (
        heights(tmp_path / "data") as made,
        pytest.raises(RejectedError, match="made by one signer"),
    ):
        made.application.info(RequestInfo())


def test_blocks_outlive_the_process(tmp_path: Path) -> None:
    with heights(tmp_path / "data") as made:
        made.begin(first_batches(), POWERS)
        made.decide([tx(intkey_batch(FOUNDER, 1))])
        told = head_id(made)
    with heights(tmp_path / "data") as again:
        assert head_id(again) == told
        assert again.application.info(RequestInfo()).last_block_height == 1
