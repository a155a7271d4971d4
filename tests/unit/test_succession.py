"""An exported chain makes the same state in a new one; old evidence is judged by its end."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from contracts import address
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.trust import Trust
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.copying import committed
from contracts.ledger.blocks.export import read_export, write_export
from contracts.ledger.engine.genesis import own_genesis
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.solo.replay import Replayed, replay
from contracts.proto.sawtooth_pb2 import Setting
from contracts.sawtooth.block_info import latest_block_info
from contracts.succession import SETTING, Predecessor, encode, predecessor_of, predecessors_in
from support.evidence.forgery import STORY, TRUST, verdict_on
from support.ledgers.chains import everything, opened
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey_batch
from support.ledgers.publishing import SIGNER, publishing

NEW: Final = Signer.from_hex("22" * 32)
BLOCKS: Final = 6


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of a chain with block times."""
    data = tmp_path_factory.mktemp("old")
    with publishing(data, own_genesis(SIGNER, [SIGNER.public_key])) as running:
        for number in range(1, BLOCKS):
            running.clock.now_s += 10
            assert not running.decide(intkey_batch(SIGNER, number * 10, 3)).invalid
    return data


@pytest.fixture(scope="module")
def exported(old: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "chain"
    count, _ = write_export(path, (each.block for each in committed(old / "chain.log")))
    assert count == BLOCKS
    return path


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Chain]:
    with opened(tmp_path / "new") as chain:
        yield chain


def replayed(path: Path, chain: Chain, administrator: Signer = SIGNER) -> Replayed:
    return replay(path, chain, NEW, administrator, FAMILIES)


def test_each_block_has_the_same_batches_and_state_root_and_another_id(
    old: Path, exported: Path, new: Chain
) -> None:
    found = replayed(exported, new)
    with opened(old) as before:
        for number in range(BLOCKS):
            there, here = before.by_num(number), new.by_num(number)
            assert there is not None
            assert here is not None
            assert there.header.batch_ids == here.header.batch_ids
            assert there.header.state_root_hash == here.header.state_root_hash
            assert there.id != here.id
        last = before.by_num(BLOCKS - 1)
        assert last is not None
        assert found.state_root == last.header.state_root_hash
        first = before.by_num(0)
        assert first is not None
        ended = Predecessor(first.id, BLOCKS - 1, last.id, (SIGNER.public_key,))
        assert found.predecessor == ended
        state = everything(before)
    assert predecessors_in(new.state.get) == (ended,)
    assert {place: value for place, value in everything(new).items() if place in state}.keys() == (
        state.keys()
    )


def test_blocks_of_the_successor_have_times_and_it_can_be_replayed_again(
    exported: Path, tmp_path: Path
) -> None:
    with opened(tmp_path / "new") as chain:
        first = replayed(exported, chain).predecessor
    with publishing(tmp_path / "new", own_genesis(SIGNER, [SIGNER.public_key])) as running:
        running.clock.now_s = 2_000_000_000
        assert not running.decide(intkey_batch(SIGNER, 100)).invalid
        assert not running.decide(intkey_batch(SIGNER, 101)).invalid
        latest = latest_block_info(running.chain.state.get)
        assert latest is not None
        assert (latest.block_num, latest.timestamp) == (BLOCKS + 1, 2_000_000_000)
    again = tmp_path / "again"
    write_export(again, (each.block for each in committed(tmp_path / "new" / "chain.log")))
    with opened(tmp_path / "third") as chain:
        third = Signer.from_hex("33" * 32)
        found = replay(again, chain, third, SIGNER, FAMILIES)
        assert predecessors_in(chain.state.get) == (first, found.predecessor)
        assert found.predecessor.block_signers == tuple(sorted((NEW.public_key, SIGNER.public_key)))


def test_a_replay_that_was_cut_short_goes_on(exported: Path, tmp_path: Path) -> None:
    wire = exported.read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(wire[: len(wire) // 2])
    with opened(tmp_path / "new") as chain:
        with pytest.raises(RejectedError, match="cut short"):
            replayed(cut, chain)
        assert chain.head is not None
        found = replayed(exported, chain)
        assert replayed(exported, chain) == found


def test_an_export_that_is_damaged_anywhere_is_refused(exported: Path, tmp_path: Path) -> None:
    wire = exported.read_bytes()
    damaged = tmp_path / "damaged"
    for place in itertools.chain(range(0, 40, 3), range(40, len(wire), len(wire) // 40)):
        changed = bytearray(wire)
        changed[place] ^= 1
        damaged.write_bytes(changed)
        with pytest.raises(RejectedError):
            list(read_export(damaged))
    damaged.write_bytes(wire + b"\0")
    with pytest.raises(RejectedError, match="SHA-256"):
        list(read_export(damaged))


def test_only_an_administrator_seals_and_the_new_key_is_new(exported: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "a") as chain, pytest.raises(RejectedError, match="the seal is refused"):
        replayed(exported, chain, NEW)
    with opened(tmp_path / "b") as chain, pytest.raises(RejectedError, match="take another key"):
        replay(exported, chain, SIGNER, SIGNER, FAMILIES)
    with opened(tmp_path / "c") as chain, pytest.raises(RejectedError, match="is refused here"):
        replay(exported, chain, NEW, SIGNER, BUILT_IN)


def test_a_chain_with_other_blocks_is_not_gone_on_with(exported: Path, tmp_path: Path) -> None:
    with publishing(tmp_path / "new", own_genesis(SIGNER, [SIGNER.public_key])):
        pass
    with (
        opened(tmp_path / "new") as chain,
        pytest.raises(RejectedError, match="not that of the export"),
    ):
        replayed(exported, chain)


def ended(**changes: object) -> Trust:
    """Return trust in a successor of the story's ledger, which ended with the story."""
    heads = STORY.evidence.heads
    last = {
        "genesis_block_id": TRUST.genesis_block_id,
        "block_num": len(heads) - 1,
        "block_id": heads[-1].header_signature,
        "block_signers": sorted(TRUST.block_signers),
    }
    return replace(
        TRUST,
        genesis_block_id="ab" * 64,
        block_signers=frozenset([NEW.public_key]),
        predecessors=(predecessor_of(last | changes),),
    )


def test_evidence_of_the_old_ledger_is_judged_by_its_entry() -> None:
    wire = STORY.evidence.wire()
    assert verdict_on(wire, ended()).holds
    assert verdict_on(wire, ended(block_num=1000, block_id="cd" * 64)).holds  # it ends before
    for changes, words in (
        ({"block_id": "cd" * 64}, "expected a ledger that ended with block"),
        ({"block_num": 0}, "expected a ledger that ended with block 0"),
        ({"block_signers": [NEW.public_key]}, "which is not trusted"),
        ({"genesis_block_id": "cd" * 64}, "is not the trusted"),
    ):
        verdict = verdict_on(wire, ended(**changes))
        assert not verdict.holds
        assert words in " ".join(verdict.problems), changes


def test_a_trust_file_says_the_predecessors(tmp_path: Path) -> None:
    path = tmp_path / "trust"
    path.write_text(ended().to_json())
    assert Trust.load(path) == ended()
    document = json.loads(path.read_text())
    (entry,) = document["predecessors"]
    wrong: list[object] = [{}, [1], [{}], [entry | {"more": 1}], [entry | {"block_num": True}]]
    for bad in [*wrong, ["x"]]:
        path.write_text(json.dumps(document | {"predecessors": bad}))
        with pytest.raises(RejectedError, match="trust file"):
            Trust.load(path)
    for name, value in (("block_num", -1), ("block_id", "ab"), ("block_signers", [])):
        path.write_text(json.dumps(document | {"predecessors": [entry | {name: value}]}))
        with pytest.raises(RejectedError, match="predecessor: expected"):
            Trust.load(path)


@pytest.mark.parametrize("value", ["", "{}", "[1]", "[" * 100_000, "[{}]"])
def test_a_malformed_setting_is_one_clear_error(value: str) -> None:
    wire = canonical(Setting(entries=[Setting.Entry(key=SETTING, value=value)]))
    state: dict[str, bytes] = {address.setting(SETTING): wire}
    with pytest.raises(RejectedError, match="predecessor"):
        predecessors_in(state.get)
    state.clear()
    assert predecessors_in(state.get) == ()
    assert json.loads(encode(ended().predecessors)) == [ended().predecessors[0].document()]
