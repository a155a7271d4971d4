"""A network goes on from a ledger that one signer made: what each validator checks for itself."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.copying import committed
from contracts.ledger.blocks.export import write_export
from contracts.ledger.cometbft.founding import (
    Founding,
    founding_in,
    founding_of,
    go_on,
    repeat_for_network,
)
from contracts.ledger.cometbft.network import found, found_after, join, repeat_chain
from contracts.ledger.cometbft.networkfile import Card, network_time_s
from contracts.ledger.engine.genesis import own_genesis
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.block_info import latest_block_info
from contracts.sawtooth.blocks import network_height
from contracts.sawtooth.settings import (
    APPROVAL_THRESHOLD,
    AUTHORIZED_KEYS,
    CHAIN_ID,
    propose,
)
from contracts.succession import predecessors_in
from contracts.validators import SETTING, encode
from support.ledgers.chains import opened
from support.ledgers.exporting import exported
from support.ledgers.heights import CHAIN, VALIDATOR, heights, tx
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey_batch
from support.ledgers.publishing import SIGNER, publishing

BLOCKS: Final = 5
NOW_S: Final = 1_800_000_000
POWERS: Final = {VALIDATOR.public_key: 1}
SETTINGS: Final = {CHAIN_ID: CHAIN, SETTING: encode(POWERS)}
CARD: Final = Card(VALIDATOR.public_key, f"{'ab' * 20}@127.0.0.1:1")


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("old")
    return exported(place / "node", place / "chain", BLOCKS)


@pytest.fixture(scope="module")
def founding(export: Path, tmp_path_factory: pytest.TempPathFactory) -> Founding:
    return founded(export, tmp_path_factory.mktemp("founding"))


def founded(export: Path, place: Path, administrator: Signer = SIGNER) -> Founding:
    with opened(place) as chain:
        predecessor = repeat_for_network(export, chain, FAMILIES)
        return go_on(chain, predecessor, administrator, SETTINGS, NOW_S)


@pytest.fixture
def data(export: Path, tmp_path: Path) -> Path:
    """Return a data directory with the old ledger's chain, as `join` leaves it."""
    with opened(tmp_path / "data") as chain:
        repeat_for_network(export, chain, FAMILIES)
    return tmp_path / "data"


def test_every_validator_makes_the_same_chain_without_a_signer(
    export: Path, founding: Founding, tmp_path: Path
) -> None:
    heads = set()
    for name in ("a", "b"):
        with opened(tmp_path / name) as chain:
            repeat_for_network(export, chain, FAMILIES)
            heads.add(chain.head.id if chain.head else "")
            found = [chain.by_num(number) for number in range(BLOCKS)]
            assert all(each and network_height(each.header) == 0 for each in found)
        with heights(tmp_path / name) as ledger:
            ledger.time_s = NOW_S
            heads.add(ledger.begin_as(founding, POWERS).hex())
    assert len(heads) == 2
    assert founding.after in heads


def test_the_network_goes_on_with_times_and_the_old_ledger_on_record(
    data: Path, founding: Founding
) -> None:
    with heights(data) as ledger:
        ledger.time_s = NOW_S
        begun = ledger.begin_as(founding, POWERS)
        assert ledger.begin_as(founding, POWERS) == begun  # asked again after a crash
        assert predecessors_in(ledger.chain.state.get) == (founding.predecessor,)
        (time_tx, batch) = ledger.propose([tx(intkey_batch(SIGNER, 900))])
        assert ledger.accepts([time_tx, batch])
        ledger.decide([time_tx, batch])
        latest = latest_block_info(ledger.chain.state.get)
        assert latest is not None
        assert (latest.block_num, latest.timestamp) == (BLOCKS, NOW_S)
        head = ledger.chain.head
        assert head is not None
        assert (head.num, network_height(head.header)) == (BLOCKS + 1, 1)


def test_a_validator_with_another_chain_does_not_begin(founding: Founding, tmp_path: Path) -> None:
    with heights(tmp_path / "empty") as ledger, pytest.raises(RejectedError, match="is empty"):
        ledger.begin_as(founding, POWERS)
    short = exported(tmp_path / "other", tmp_path / "chain", BLOCKS - 1)
    with opened(tmp_path / "short") as chain:
        repeat_for_network(short, chain, FAMILIES)
    with heights(tmp_path / "short") as ledger, pytest.raises(RejectedError, match="ends with"):
        ledger.begin_as(founding, POWERS)


def test_what_the_network_says_of_the_old_ledger_is_compared(
    data: Path, founding: Founding
) -> None:
    assert founding.predecessor is not None
    other = replace(founding.predecessor, block_id="ab" * 64)
    with heights(data) as ledger:
        ledger.time_s = NOW_S
        with pytest.raises(RejectedError, match="put another one on record"):
            ledger.begin_as(replace(founding, predecessor=other), POWERS)
        with pytest.raises(RejectedError, match="expected a batch with the first block's time"):
            ledger.begin_as(replace(founding, batches=()), POWERS)
        ledger.time_s += 1
        with pytest.raises(RejectedError, match="the height's time"):
            ledger.begin_as(founding, POWERS)


def test_only_an_administrator_founds_it(export: Path, data: Path, tmp_path: Path) -> None:
    stranger = founded(export, tmp_path / "f", Signer.from_hex("77" * 32))
    with heights(data) as ledger:
        ledger.time_s = NOW_S
        with pytest.raises(RejectedError, match="genesis batch"):
            ledger.begin_as(stranger, POWERS)


def test_a_network_file_goes_on_from_an_export_and_join_wants_the_same(
    export: Path, tmp_path: Path
) -> None:
    network = found_after([CARD], CHAIN, export, SIGNER, FAMILIES, tmp_path / "beside")
    assert founding_of(json.loads(json.dumps(network.genesis["app_state"]))).after
    assert list((tmp_path / "beside").iterdir()) == []
    with pytest.raises(RejectedError, match="expected its export as --chain"):
        repeat_chain(tmp_path / "a", network, None, FAMILIES)
    repeat_chain(tmp_path / "a", network, export, FAMILIES)
    repeat_chain(tmp_path / "a", network, export, FAMILIES)  # typed again
    short = exported(tmp_path / "other", tmp_path / "chain", BLOCKS - 1)
    with pytest.raises(RejectedError, match="export of another ledger"):
        repeat_chain(tmp_path / "b", network, short, FAMILIES)
    own = found([CARD], CHAIN, [SIGNER.public_key])
    with pytest.raises(RejectedError, match="goes on from no ledger"):
        repeat_chain(tmp_path / "c", own, export, FAMILIES)
    with pytest.raises(RejectedError, match="wayseal-node validator"):
        join(tmp_path / "a", network)


def test_join_is_typed_again_after_the_validator_began(export: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    network = found_after([CARD], CHAIN, export, SIGNER, FAMILIES, tmp_path)
    repeat_chain(data, network, export, FAMILIES)
    founding = founding_of(network.genesis["app_state"])
    with heights(data) as ledger:
        ledger.time_s = network_time_s(network)
        ledger.begin_as(founding, POWERS)
        repeated = ledger.chain.head
    assert repeated is not None
    assert repeated.num == BLOCKS
    repeat_chain(data, network, export, FAMILIES)


def test_the_old_node_s_own_directory_is_refused(export: Path, tmp_path: Path) -> None:
    network = found_after([CARD], CHAIN, export, SIGNER, FAMILIES, tmp_path)
    longer = tmp_path / "node"
    shutil.copytree(export.parent / "node", longer)
    for _ in range(2):
        with pytest.raises(RejectedError, match="ends with"):
            repeat_chain(longer, network, export, FAMILIES)
        with publishing(longer, own_genesis(SIGNER, [SIGNER.public_key])) as running:
            running.clock.now_s += 1_000
            assert not running.decide(intkey_batch(SIGNER, 5_000, 3)).invalid


def test_settings_that_need_several_votes_say_what_to_do(tmp_path: Path) -> None:
    votes = [
        propose(SIGNER, AUTHORIZED_KEYS, f"{SIGNER.public_key},{VALIDATOR.public_key}"),
        propose(SIGNER, APPROVAL_THRESHOLD, "2"),
    ]
    export = exported(tmp_path / "node", tmp_path / "chain", 2, build_batch(SIGNER, votes))
    with pytest.raises(RejectedError, match=f"Set {APPROVAL_THRESHOLD} to 1 there"):
        found_after([CARD], CHAIN, export, SIGNER, FAMILIES, tmp_path)


def test_a_network_s_own_ledger_is_not_repeated(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "chain"
    write_export(path, (each.block for each in committed(data / "chain.log")))
    with (
        opened(tmp_path / "new") as chain,
        pytest.raises(RejectedError, match="was made by a network of validators"),
    ):
        repeat_for_network(path, chain, FAMILIES)


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"{",
        b"1",
        b'"!"',
        b"{}",
        b"[" * 100_000,
        b'{"batches": "", "after": "", "predecessor": 1}',
    ],
)
def test_another_genesis_is_one_clear_error(wire: bytes) -> None:
    with pytest.raises(RejectedError):
        founding_in(wire)
