"""A chain goes on as another one in the middle of an offload: state, evidence, receipts hold."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing

import pytest

from contracts.address import setting
from contracts.encoding import parse
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.sawtooth.block_info import latest_block_info
from contracts.succession import SETTING, predecessors_in
from support.evidence.chain import digest_of
from support.gateways.yard import Yard, command, done, running_yard
from support.network.world import Trip, reading
from support.trucks.rogue import nonce
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    with running_yard(tmp_path_factory.mktemp("yard")) as made:
        yield made


def roots(url: str) -> list[str]:
    """Return the state root after each block, the first one first."""
    with closing(LedgerClient(url)) as ledger:
        return [parse(BlockHeader, each.header).state_root_hash for each in ledger.blocks(0)]


def test_a_gateway_goes_on_with_the_successor_in_the_middle_of_an_offload(yard: Yard) -> None:
    appliance, folder = yard.appliance, yard.folder
    admin = ("--admin-key", appliance.key_file("admin"))
    first = yard.visit(1)
    yard.readable(*first)
    old_evidence, old_trust = folder / "old", folder / "old-trust"
    shutil.copy(folder / "evidence", old_evidence)
    shutil.copy(appliance.trust_file(), old_trust)
    second, content = Trip(nonce=nonce(2)), b"film 2 " * 300_000
    *batches, video = second.whole([reading(0)], [digest_of(content)])
    with yard.site.device() as truck:
        truck.send(*batches)
        truck.ask(recordings=[offer_of(second, content, video)])
        old = roots(appliance.ledger)
        yard.kill_gateway()
    assert appliance.node is not None
    appliance.node.stop()
    exported = done("wayseal-node", "export", folder / "chain", *yard.node)
    assert exported["blocks"] >= len(old)
    old_node = folder / "old-node"
    yard.node_data.rename(old_node)
    replayed = done("wayseal-node", "replay", folder / "chain", *yard.node, *admin)
    assert replayed["state_root"] == exported["state_root"]
    assert replayed["predecessor"]["block_id"] == exported["block_id"]
    appliance.start_node()
    assert roots(appliance.ledger)[: len(old)] == old
    assert "run wayseal-gateway adopt" in start_refused(yard)
    adopted = done("wayseal-gateway", "adopt", appliance.ledger, *yard.options)
    assert adopted["predecessor"] == replayed["predecessor"]["genesis_block_id"]
    appliance.start_gateway()
    with yard.site.device() as truck:
        truck.send(*batches)
        truck.ask(recordings=[offer_of(second, content, video)])
        send(yard.site.client("truck-1", "device"), content)
        yard.receipted(second)
    yard.receipted(first[0])
    for trip, film in (first, (second, content), yard.visit(3)):
        yard.readable(trip, film)
    trust = appliance.trust_file()
    assert json.loads(trust.read_text())["predecessors"] == [replayed["predecessor"]]
    assert command("wayseal-verify", old_evidence, "--trust", trust).returncode == 0
    assert command("wayseal-verify", old_evidence, "--trust", old_trust).returncode == 0
    assert command("wayseal-verify", folder / "evidence", "--trust", old_trust).returncode == 1
    told = command("wayseal-verify", folder / "evidence", "--trust", trust, "--json").stdout
    assert json.loads(told)["ledger"]["goes_on_from"] == [replayed["predecessor"]]
    other = json.loads(trust.read_text())
    other["predecessors"][0]["block_id"] = "0" * 128
    (folder / "other").write_text(json.dumps(other))
    for file, words in ((folder / "evidence", "which is not what the trust file says"),):
        ended = command("wayseal-verify", file, "--trust", folder / "other")
        assert ended.returncode == 1
        assert words in ended.stdout
    blocks_have_times_again(appliance.ledger)


def start_refused(yard: Yard) -> str:
    """Return why the gateway does not start on a ledger that it has not adopted."""
    with pytest.raises(Exception, match="gateway"):
        yard.appliance.start_gateway()
    return str((yard.appliance.directory / "gateway.log").read_text())


def blocks_have_times_again(url: str) -> None:
    """Check that the newest entry is about the block before the newest one."""
    with closing(LedgerClient(url)) as ledger:
        latest = latest_block_info(ledger.state)
        assert latest is not None
        assert latest.block_num == len(roots(url)) - 2
        assert ledger.state(setting(SETTING)) is not None
        assert len(predecessors_in(ledger.state)) == 1
