"""A running node: who may sign, and settings that it refuses."""

import base64
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from contracts import address
from contracts.keys import Signer
from contracts.ledger.engine.genesis import own_genesis
from contracts.proto.block_info_pb2 import BlockInfo
from contracts.proto.identity_pb2 import Policy
from contracts.proto.sawtooth_pb2 import Batch, BatchList
from contracts.runtime.commands import WRONG_USAGE
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.identity import ALLOWED_KEYS
from contracts.sawtooth.settings import BATCH_INJECTORS, propose
from support.ledgers.identities import set_policy, set_role
from support.ledgers.nodes import (
    PLAIN_NODE,
    RECORDED_KEY,
    Node,
    intkey_batch,
    node_command,
    running,
)
from support.machine.private import write_private

pytestmark = pytest.mark.integration

ADMIN = Signer.from_hex(RECORDED_KEY)
TRUCK = Signer.from_hex("22" * 32)
RULES = Signer.from_hex("33" * 32)


def options(directory: Path, *batches: Batch) -> list[str]:
    """Return the options of a node whose genesis block is of these batches."""
    key = write_private(directory / "node.key", RECORDED_KEY)
    genesis = directory / "genesis.batch"
    genesis.write_bytes(BatchList(batches=batches).SerializeToString())
    return ["--key", str(key), "--genesis", str(genesis)]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    genesis = own_genesis(ADMIN, [ADMIN.public_key])
    with running(tmp_path / "data", *options(tmp_path, genesis)) as node:
        yield node


def permit_only(*keys: str) -> Sequence[Policy.Entry]:
    return [Policy.Entry(type=Policy.PERMIT_KEY, key=key) for key in keys]


def test_who_is_not_permitted_is_refused_at_the_door(node: Node) -> None:
    node.commit(intkey_batch(TRUCK, 1))
    node.commit(
        build_batch(
            ADMIN,
            [
                propose(ADMIN, ALLOWED_KEYS, RULES.public_key),
            ],
        )
    )
    node.commit(
        build_batch(
            RULES,
            [
                set_policy(RULES, "ours", permit_only(ADMIN.public_key, RULES.public_key)),
                set_role(RULES, "transactor", "ours"),
            ],
        )
    )
    refused, good = intkey_batch(TRUCK, 2), intkey_batch(ADMIN, 3)
    answer = node.post(good, refused)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["title"]) == (30, "Submitted Batches Invalid")
    assert f"batch signer {TRUCK.public_key} is not permitted by policy 'ours'" in error["message"]
    assert node.statuses(good, refused, wait_s=0) == ["UNKNOWN", "UNKNOWN"]
    node.commit(good)
    everybody = set_policy(RULES, "ours", permit_only("*"))
    node.commit(build_batch(RULES, [everybody]))
    node.commit(refused)


def test_a_block_has_a_time_that_anyone_can_read(node: Node) -> None:
    before_s = int(time.time())
    node.commit(intkey_batch(ADMIN, 1))
    value = node.client.get(f"/state/{address.block_info(0)}").json()["data"]
    entry = BlockInfo.FromString(base64.b64decode(value))
    (genesis,) = node.client.get("/blocks?start=0x0000000000000000").json()["data"]
    assert entry.header_signature == genesis["header_signature"]
    assert before_s <= entry.timestamp <= int(time.time())


def test_an_unknown_injector_is_refused_when_it_is_set(node: Node, tmp_path: Path) -> None:
    batch = build_batch(ADMIN, [propose(ADMIN, BATCH_INJECTORS, "poet")])
    node.post(batch)
    assert node.statuses(batch) == ["INVALID"]
    founding = own_genesis(ADMIN, [ADMIN.public_key])
    started = subprocess.run(  # noqa: S603  # our own node
        node_command(tmp_path / "other", *options(tmp_path, founding, batch), script=PLAIN_NODE),
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == WRONG_USAGE
    assert f"{BATCH_INJECTORS}: expected block_info or nothing, got 'poet'" in started.stderr
