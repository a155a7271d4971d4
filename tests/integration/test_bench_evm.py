"""An EVM as a target of `wayseal-bench ledger`: real anvil, and geth where it is."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.bench.ledger.evm.chain import Chain
from storage.bench.ledger.evm.driver import commit
from storage.bench.ledger.evm.nodes import running
from storage.bench.ledger.evm.preparing import network, nodes
from storage.bench.ledger.evm.signing import Invocation, address_of, invocation, signed
from storage.bench.ledger.evm.wire import group
from storage.bench.ledger.family import CREATE, Call
from storage.bench.ledger.family import address_of as place_of
from storage.bench.ledger.modes import Measurement
from storage.bench.ledger.timeline import CSV
from storage.bench.ledger.workloads import (
    BEP_23,
    DEPENDENT,
    DO_NOTHING,
    KEY_VALUE,
    READINGS,
    LedgerWorkload,
)
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Place
from storage.bench.run.volumetarget import volume_targets
from support.bench.evm import need_anvil
from support.bench.stages import all_flags, short_choices, values

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def anvil() -> Iterator[str]:
    """Return the URL of somebody else's EVM."""
    need_anvil()
    with running("anvil", None) as service:
        yield service.addresses["rest"]


@pytest.mark.parametrize(
    "workload",
    [
        READINGS,
        KEY_VALUE,
        pytest.param(DEPENDENT, marks=pytest.mark.long),
        pytest.param(DO_NOTHING, marks=pytest.mark.long),
    ],
    ids=lambda each: each.name,
)
def test_a_load_is_committed_at_a_url_again_and_again(
    tmp_path: Path, anvil: str, workload: LedgerWorkload
) -> None:
    lab = network("lab", anvil, len(workload.name), chain_id="31337")
    few = replace(workload, flat_out=1_000, lanes=2, records=min(workload.records, 5))
    for seed in (1, 2):  # what is committed there stays: each load is a new one
        bench = Measurement(few, lab, short_choices(tmp_path / "signed"))
        outcome = bench.flat_out(Place(tmp_path / str(seed), seed))
        assert Flag.INVALID not in all_flags(outcome)  # as many in the blocks as the receipts said
        assert outcome.work.transactions == 100  # a network at a URL gets a tenth
        assert "node-cpu-share" not in values(outcome)
        assert 0 < values(outcome)["loader-cpu-share"] < 1


def test_a_contract_that_is_there_is_used_again(anvil: str) -> None:
    made = network("lab", anvil, 77)
    again = network("lab", anvil, 78, contract=made.terms.contract.lower())
    assert again.terms.contract == made.terms.contract
    assert "anvil" in again.described["client"]
    with pytest.raises(RejectedError, match="got no contract"):
        network("lab", anvil, 79, contract="0x" + "12" * 20)


def test_the_contract_refuses_in_words(anvil: str) -> None:
    lab = network("lab", anvil, 80)
    keys = [bytes([number]) * 32 for number in (1, 2, 3)]
    with closing(Chain.open(anvil)) as chain:
        chain.pay(None, {address_of(each): 10**18 for each in keys})
    write, other = (
        invocation(Call(CREATE, (place_of(name),), b"x" * 500), pays=False)
        for name in ("once", "other")
    )
    first, second, third = (
        group(signed(key, [call], lab.terms))[1]
        for key, call in zip(keys, (write, write, Invocation(other.data)), strict=True)
    )
    asyncio.run(commit(anvil, [first]))
    with pytest.raises(UnavailableError, match=r"reverted: .*expected a new key, it exists"):
        asyncio.run(commit(anvil, [second]))
    with pytest.raises(UnavailableError, match=r"out of gas: \d+ units were allowed"):
        asyncio.run(commit(anvil, [third]))


@pytest.mark.parametrize("program", ["anvil", "geth"])
def test_a_node_of_our_own_commits_and_goes(tmp_path: Path, program: str) -> None:
    if program == "anvil":
        need_anvil()
    elif shutil.which("geth") is None:
        pytest.skip("geth is not in the PATH")
    (tmp_path / "volume").mkdir()
    with volume_targets([("a", tmp_path / "volume")]) as volumes:
        (target,) = nodes(program, volumes)
        assert target.name == {"anvil": "anvil", "geth": "a-geth"}[program]
        assert "without consensus" in target.guarantee.faults
        outcome = Measurement(BEP_23, target, short_choices(tmp_path / "signed")).open_loop(
            Place(tmp_path, 1)
        )
        (volume,) = volumes
        assert list(volume.work.iterdir()) == [volume.work / "made-by-wayseal-bench"]
    assert Flag.INVALID not in all_flags(outcome)
    assert "node-cpu-per-transaction" in values(outcome)  # in ticks of 10 ms: it may be none
    lines = outcome.attachments[CSV].decode().splitlines()
    assert len(lines) == 21
    assert {line.split(",")[1] for line in lines[1:]} == {"765"}
