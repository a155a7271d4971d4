"""A ledger of one signer goes on as a network's: state, evidence, receipts and times hold."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts.encoding import parse
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.runtime.ports import free_port
from contracts.sawtooth.block_info import latest_block_info
from contracts.sawtooth.blocks import network_height
from demo.processes import Service
from support.gateways.yard import Yard, command, done, refused, running_yard
from support.ledgers.cometbft import need_cometbft
from support.machine.waiting import wait_until
from support.network.world import Trip, reading
from support.trucks.rogue import nonce

pytestmark = pytest.mark.integration

VALIDATORS = 4


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    need_cometbft()
    with running_yard(tmp_path_factory.mktemp("yard")) as made:
        yield made


def headers(url: str) -> list[BlockHeader]:
    with closing(LedgerClient(url)) as ledger:
        return [parse(BlockHeader, each.header) for each in ledger.blocks(0)]


def verified(file: Path, trust: Path) -> dict[str, Any]:
    told = command("wayseal-verify", file, "--trust", trust, "--json")
    document: dict[str, Any] = json.loads(told.stdout)
    return document


@pytest.mark.long
def test_a_trip_that_began_under_one_signer_ends_under_four_validators(yard: Yard) -> None:
    appliance, folder = yard.appliance, yard.folder
    first = yard.visit(1)
    yard.readable(*first)
    shutil.copy(folder / "evidence", folder / "old")
    shutil.copy(appliance.trust_file(), folder / "old-trust")
    spanning = Trip(nonce=nonce(2))
    *begun, sealed = spanning.whole([reading(0)])
    with yard.site.device() as truck:
        truck.send(*begun)
        old = headers(appliance.ledger)
        yard.kill_gateway()
    assert appliance.node is not None
    appliance.node.stop()
    exported = done("wayseal-node", "export", folder / "chain", *yard.node)
    found_network(yard)
    appliance.start_node()
    new = headers(appliance.ledger)
    roots = [each.state_root_hash for each in old]
    assert [each.state_root_hash for each in new[: len(old)]] == roots
    assert all(network_height(each) == 0 for each in new)
    assert len(new) == exported["blocks"] + 1
    adopted = done("wayseal-gateway", "adopt", appliance.ledger, *yard.options)
    appliance.start_gateway()
    with yard.site.device() as truck:
        truck.send(*begun, sealed)
        yard.receipted(spanning)
    yard.receipted(first[0])
    yard.readable(*first)
    trust = appliance.trust_file()
    trusted = json.loads(trust.read_text())
    assert trusted["network"]["chain_id"] == "grown"
    assert trusted["predecessors"][0]["genesis_block_id"] == adopted["predecessor"]
    assert trusted["predecessors"][0]["block_id"] == exported["block_id"]
    judged_by_both(yard, spanning, trust)
    yard.visit(3)  # only a block before the newest two heights has a snapshot
    begin_with_a_snapshot(yard)
    judged_by_both(yard, spanning, trust)
    yard.readable(*first)
    with closing(LedgerClient(appliance.ledger)) as client:
        latest = latest_block_info(client.state)
        assert latest is not None
        assert latest.block_num == len(headers(appliance.ledger)) - 2


def found_network(yard: Yard) -> None:
    """Have four validators on this machine go on from the export."""
    appliance, network = yard.appliance, yard.appliance.directory / "network"
    chain = ("--chain", yard.folder / "chain")
    admin = ("--admin-key", appliance.key_file("admin"))
    ports = ("--p2p-port", "0", "--validators", VALIDATORS)
    out = ("--chain-id", "grown", "--out", network)
    made = done("wayseal-node", "init", *out, *ports, *chain, *admin)
    assert len(made["validators"]) == VALIDATORS
    said = refused("wayseal-node", "resync", "--data", network / "node0")
    assert "expected its export as --chain" in said
    appliance.validators = VALIDATORS


def begin_with_a_snapshot(yard: Yard) -> None:
    """Have a fifth validator take a snapshot, without the export, and the gateway ask that one.

    Its engine has none of the heights that seal what is asked for.
    """
    appliance, network = yard.appliance, yard.appliance.directory / "network"
    for old in appliance.others[:2]:
        old.stop()
    del appliance.others[:2]
    engine = ("--engine", "cometbft")
    for number in (1, 2):
        ports = ("--rest", "127.0.0.1:0", "--light", "127.0.0.1:0")
        appliance.others.append(service(network / f"node{number}", *ports, *engine))
    fifth, at = network / "fifth", f"127.0.0.1:{free_port()}"
    done("wayseal-node", "validator", "--data", fifth, "--p2p", at)
    lights = [f"http://{each.addresses['light']}" for each in appliance.others[-2:]]
    wished = [word for light in lights for word in ("--snapshot", light)]
    done("wayseal-node", "join", "--data", fifth, *wished, network / "network.json")
    newest = headers(appliance.ledger)
    service(fifth, "--rest", "127.0.0.1:0", *engine).stop()  # whole once it is ready
    assert (fifth / "history.seals").exists()
    assert appliance.node is not None
    appliance.node.stop()
    appliance.node = service(fifth, "--rest", f"127.0.0.1:{appliance.ports.ledger}", *engine)
    wait_until(lambda: headers(appliance.ledger) == newest)


def service(data: Path, *options: str) -> Service:
    """Start a node."""
    command = ["wayseal-node", "--data", str(data), *options]
    return Service(command, data.with_name(f"{data.name}.log"))


def judged_by_both(yard: Yard, spanning: Trip, trust: Path) -> None:
    """Check that old and new evidence holds with the new keys, and the new one not with the old."""
    old, old_trust = yard.folder / "old", yard.folder / "old-trust"
    file = yard.folder / "spanning"
    query = {"trip": spanning.trip_id}
    file.write_bytes(yard.auditor.get("/v1/evidence", params=query).content)
    told = verified(file, trust)
    assert told["verdict"] == "holds", told
    ledger = told["ledger"]
    assert ledger["goes_on_from"] == json.loads(trust.read_text())["predecessors"]
    assert len(ledger["sealed"]["by"]) > 2 * VALIDATORS // 3
    assert verified(old, trust)["verdict"] == "holds"
    assert verified(old, old_trust)["verdict"] == "holds"
    assert verified(file, old_trust)["verdict"] == "does-not-hold"
