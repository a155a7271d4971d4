"""Loads as signed transactions of an EVM."""

import importlib
import sys

import pytest

from contracts.errors import RejectedError
from storage.bench.ledger.evm.chain import Chain
from storage.bench.ledger.evm.reader import EvmReader
from storage.bench.ledger.evm.signing import EvmLoad, Terms, address_of_first, invocation
from storage.bench.ledger.evm.wire import group, parts
from storage.bench.ledger.family import PUT, Call
from storage.bench.ledger.family import address_of as place_of
from storage.bench.ledger.papers import PaperLoad
from storage.bench.ledger.workloads import (
    BEP_23,
    DEPENDENT,
    DO_NOTHING,
    READINGS,
    RUNS,
    SMALL_BANK,
    LedgerWorkload,
)
from storage.bench.trucks.signed import sources_of
from support.bench.evm import sent

TERMS = Terms(7, 5, "0xCfEB869F69431e42cdB54A4F4f105C19C080A601")


@pytest.mark.parametrize("workload", [READINGS, RUNS, SMALL_BANK, DEPENDENT, DO_NOTHING])
def test_a_load_is_signed_by_new_accounts_in_order(workload: LedgerWorkload) -> None:
    load = EvmLoad(workload.load("-x", 2, 0.5, 1, 1), TERMS)
    account = importlib.import_module("eth_account").Account
    groups = list(load.wires(3))
    assert groups == list(load.wires(3))  # the same each time
    found = [each for _, wire in groups for each in parts(wire)]
    assert [each.nonce for each in found] == list(range(2 * workload.per_batch))
    assert len({each.digest for each in found}) == len(found)
    (sender,) = {each.sender for each in found}
    assert account.recover_transaction(found[1].raw).lower() == f"0x{sender.hex()}"
    others = {
        each.sender for lane in (0, 1) for _, wire in load.wires(lane) for each in parts(wire)
    }
    assert len(others | {sender}) == 3
    paid = {address.lower(): wei for address, wei in load.costs().items()}
    assert paid[f"0x{sender.hex()}"] > 0


def test_the_libraries_leave_the_depth_of_recursion_alone() -> None:
    """Deeply nested JSON is to be an error; it ended the process that had imported web3."""
    assert Chain.__module__ in sys.modules
    assert sys.getrecursionlimit() < 10_000


def test_each_reading_has_its_own_digest() -> None:
    """A run of 60 readings is one record: its digest is that of the run."""
    for workload in (READINGS, RUNS):
        load = EvmLoad(workload.load("-x", 1, 0.5, 1, 1), TERMS)
        raws = [each.raw for _, wire in load.wires(0) for each in parts(wire)]
        assert len({raw[-100:-67] for raw in raws}) == workload.per_batch


def test_a_bep_23_transaction_has_its_size_to_the_octet() -> None:
    load = EvmLoad(BEP_23.load("-x", 40, 1.0, 1, 1), TERMS)
    sizes = {size for lane in (0, 1) for _, wire in load.wires(lane) for _, size in
             EvmReader("").parts(wire)}  # fmt: skip
    assert sizes == {765}


def test_the_contract_s_address_is_that_of_its_creator_s_first_transaction() -> None:
    """The example is that of Ethereum's own tests of CREATE."""
    assert (
        address_of_first("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0")
        == "0xcd234A471b72ba2F1Ccf0A70FCABA648a5eeCD8d"
    )


def test_a_value_keeps_its_octets_in_a_call() -> None:
    call = invocation(Call(PUT, (place_of("a"),), b"12345"), pays=False)
    assert call.data[-5:] == b"12345"
    assert int.from_bytes(call.data[68:100]) == 5
    more = invocation(Call(PUT, (place_of("a"),), bytes(1_000)), pays=False)
    assert more.gas > call.gas


def test_a_group_that_is_cut_short_is_refused() -> None:
    name, wire = group([sent(1), sent(2, 1)])
    assert list(parts(wire)) == [sent(1), sent(2, 1)]
    assert len(name) == 128
    for size in (1, 63, 70, len(wire) - 1):
        with pytest.raises(RejectedError, match="cut short"):
            list(parts(wire[:size]))


def test_signed_files_are_made_again_when_a_module_of_their_bytes_changes() -> None:
    names = sources_of(EvmLoad(BEP_23.load("", 1, 1.0, 1, 1), TERMS))
    own = "storage.bench.ledger."
    assert {f"{own}evm.wire", f"{own}family", f"{own}papers", "contracts.sawtooth.batches"} <= names
    assert f"{own}evm.driver" not in names


def test_records_are_filled_by_an_account_of_their_own() -> None:
    load = EvmLoad(PaperLoad("k", 2, 5, 5, 45, 0.5, pays=False, seed=1), TERMS)
    found = [list(parts(wire)) for wire in load.filling()]
    assert [len(each) for each in found] == [20, 20, 5]
    assert len(load.costs()) == 3
    assert EvmLoad(BEP_23.load("", 1, 1.0, 1, 1), TERMS).costs().keys().isdisjoint(load.costs())
