"""How many batches a block holds and how fast blocks follow each other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import MAX_BATCHES_PER_BLOCK, propose
from support.ledgers.nodes import (
    RECORDED_KEY,
    Node,
    intkey,
    intkey_batch,
    recorded_options,
    running,
)

pytestmark = pytest.mark.integration

ADMIN = Signer.from_hex(RECORDED_KEY)
SIGNER = Signer.from_hex("22" * 32)
NO_NUMBERS = ["0", "", "two", "-1", "2.0", " 2", "4294967296", "9" * 5_000]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with running(tmp_path / "data", *recorded_options(tmp_path)) as node:
        yield node


def limit_batches(node: Node, value: str) -> int:
    """Set how many batches a block may hold; return the number of the block that says so."""
    node.commit(build_batch(ADMIN, [propose(ADMIN, MAX_BATCHES_PER_BLOCK, value)]))
    return int(node.client.get("/blocks?limit=1").json()["data"][0]["header"]["block_num"])


def batches_after(node: Node, block_num: int) -> list[list[str]]:
    """Return the batch ids of every block after one, in order."""
    blocks = node.client.get(f"/blocks?reverse&start={block_num + 1:#018x}").json()["data"]
    return [block["header"]["batch_ids"] for block in blocks]


def names(*batches: Batch) -> list[str]:
    return [batch.header_signature for batch in batches]


def test_a_list_is_split_into_blocks(node: Node) -> None:
    before = limit_batches(node, "+2")
    batches = [intkey_batch(SIGNER, number) for number in range(5)]
    node.commit(*batches)
    assert batches_after(node, before) == [
        names(*batches[:2]),
        names(*batches[2:4]),
        names(batches[4]),
    ]


def test_an_invalid_batch_takes_a_place(node: Node) -> None:
    before = limit_batches(node, "2")
    good = [intkey_batch(SIGNER, number) for number in range(3)]
    bad = build_batch(SIGNER, [intkey(SIGNER, "inc", "nothing", 1)])
    node.post(good[0], bad, *good[1:])
    assert node.statuses(*good, bad) == ["COMMITTED"] * 3 + ["INVALID"]
    assert batches_after(node, before) == [names(good[0]), names(*good[1:])]


def test_batches_that_waited_count_too(node: Node) -> None:
    before = limit_batches(node, "2")
    first = intkey(SIGNER, "set", "a", 1)
    parent = build_batch(SIGNER, [first])
    needs = [first.header_signature]
    children = [
        build_batch(SIGNER, [intkey(SIGNER, "set", f"b{number}", 1, dependencies=needs)])
        for number in range(3)
    ]
    other = intkey_batch(SIGNER, 7)
    node.post(*children)
    node.commit(parent, other)
    node.commit(*children)
    assert batches_after(node, before) == [
        names(parent, children[0]),
        names(*children[1:]),
        names(other),
    ]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_without_a_number_there_is_no_limit(node: Node, value: str) -> None:
    before = limit_batches(node, value)
    batches = [intkey_batch(SIGNER, number) for number in range(3)]
    node.commit(*batches)
    assert batches_after(node, before) == [names(*batches)]


def test_the_interval_holds_the_next_block_back(tmp_path: Path) -> None:
    first, second, third = (intkey_batch(SIGNER, number) for number in range(3))
    with running(tmp_path / "data", "--block-interval", "86400") as node:
        node.commit(first)
        assert node.post(second).status_code == 202
        assert node.post(third).status_code == 202
        assert node.statuses(second, third, wait_s=1) == ["PENDING", "PENDING"]
        assert node.stop() == 0
    with running(tmp_path / "data", "--block-interval", "0.05") as node:
        node.commit(second)
        node.commit(third)
        submitted = [held[1:] for held in batches_after(node, 0)]  # each begins with a time
        assert submitted == [names(first), names(second), names(third)]
