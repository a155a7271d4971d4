"""A real Fabric network as a target of `wayseal-bench ledger`, where Fabric's programs are."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from storage.bench.ledger.fabric.reader import FabricReader
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.targets import FabricNetwork
from storage.bench.ledger.modes import Measurement
from storage.bench.ledger.workloads import DEPENDENT, READINGS, SMALL_BANK, LedgerWorkload
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Place
from support.bench.fabric.members import Organisation
from support.bench.fabric.real import need_fabric, real_network
from support.bench.stages import all_flags, short_choices, values

pytestmark = [pytest.mark.integration, pytest.mark.long]
CONFLICTS = "refused-mvcc-read-conflict"


@pytest.fixture(scope="module", params=[("etcdraft", 1), ("BFT", 4)], ids=lambda each: each[0])
def settings(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """Run a network with each kind of ordering nodes; return a settings file."""
    need_fabric()
    kind, count = request.param
    with real_network(tmp_path_factory.mktemp(kind), kind, count) as made:
        yield made


@pytest.mark.parametrize("workload", [READINGS, SMALL_BANK, DEPENDENT], ids=lambda each: each.name)
def test_each_transaction_is_committed_or_refused_by_its_code(
    tmp_path: Path, settings: Path, workload: LedgerWorkload
) -> None:
    choices = short_choices(tmp_path / "signed")
    target = FabricNetwork.found("lab", settings)
    alone = replace(workload, per_batch=1, flat_out=1_000)
    outcome = Measurement(alone, target, choices).flat_out(Place(tmp_path, len(workload.name)))
    found = values(outcome)
    assert Flag.INVALID not in all_flags(outcome)  # as many in the blocks as their statuses said
    assert outcome.work.transactions + found[CONFLICTS] == 100
    if workload is not SMALL_BANK:  # its accounts are drawn: a conflict is luck there
        assert (found[CONFLICTS] > 0) is (workload is DEPENDENT)


def test_the_network_says_what_orders_it(settings: Path) -> None:
    found = FabricNetwork.found("lab", settings)
    kind, nodes = found.described["consensus"], found.described["ordering_nodes"]
    assert (kind, nodes) in {("etcdraft", 1), ("BFT", 4)}
    assert found.described["transactions_per_block"] == 10
    assert FabricReader(found.place).head() > 0


def test_what_the_network_does_not_take_is_told_in_its_words(
    tmp_path: Path, settings: Path
) -> None:
    given = settings.read_text()
    stranger = Organisation("Org1MSP").member("stranger")
    (tmp_path / "member.crt").write_bytes(stranger.pem)
    (tmp_path / "member.key").write_bytes(stranger.key_pem)
    place = FabricPlace.read(settings)
    lines = {line.split(" = ")[0]: line for line in given.splitlines()}
    for changes, words in (
        ({"channel": "ships"}, r"failed to get config for channel \[ships\]"),
        ({"chaincode": "basic"}, "no peers available to evaluate chaincode basic"),
        ({"msp_id": "Org2MSP"}, "access denied: channel .trucks. creator org unknown"),
        ({"certificate": "member.crt", "key": "member.key"}, "access denied"),
    ):
        changed = {**lines, **{name: f"{name} = '{value}'" for name, value in changes.items()}}
        path = tmp_path / "fabric.toml"
        path.write_text("\n".join(changed.values()))
        with pytest.raises(RejectedError, match=f"{place.target}: expected the .*got: .*{words}"):
            FabricNetwork.found("lab", path)
