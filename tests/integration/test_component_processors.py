"""Transaction processors of the real sawtooth-sdk at our node: load, loss, refusal, farewell."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.ledger.component.registry import EXTENDED_DATA_BYTES_MAX
from contracts.proto.component_pb2 import Message, TpProcessResponse
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from contracts.sawtooth.settings import TRANSACTION_FAMILIES, propose
from support.ledgers.component_peer import connected
from support.ledgers.nodes import PLAIN_NODE, WAIT_S, Node, intkey, recorded_options, running
from support.ledgers.processors import intkey_processor, wayseal_processor
from support.machine.waiting import wait_until
from support.network.world import key, registrations

pytestmark = pytest.mark.integration

SIGNER = Signer.from_hex("11" * 32)
"""The recorded genesis lets it change settings."""


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    options = [*recorded_options(tmp_path), "--component", "tcp://127.0.0.1:0"]
    with running(tmp_path / "data", *options, script=PLAIN_NODE) as node:
        yield node


def setting(*names: str, verb: str = "set") -> Batch:
    return build_batch(SIGNER, [intkey(SIGNER, verb, name, 1) for name in names])


def holding(directory: Path, name: str) -> list[int]:
    """Return the processes that hold, or held, the transaction of a name; wait for the first."""
    wait_until(lambda: any(directory.glob(f"{name}.*")))
    return [int(path.suffix[1:]) for path in directory.glob(f"{name}.*")]


def reasons(node: Node, batch: Batch) -> list[dict[str, str]]:
    answer = node.client.get(f"/batch_statuses?id={batch.header_signature}").json()
    found: list[dict[str, str]] = answer["data"][0]["invalid_transactions"]
    return found


def test_several_share_the_load(node: Node, tmp_path: Path) -> None:
    with (
        intkey_processor(node.component, tmp_path) as one,
        intkey_processor(node.component, tmp_path) as two,
    ):
        batches = [setting("hold-a"), setting("hold-b")]
        node.post(*batches)
        holders = {*holding(tmp_path, "hold-a"), *holding(tmp_path, "hold-b")}
        assert holders == {one.process.pid, two.process.pid}
        for name in ("hold-a", "hold-b"):
            (tmp_path / name).touch()
        assert node.statuses(*batches) == ["COMMITTED"] * 2


def test_order_comes_from_inputs_and_outputs(node: Node, tmp_path: Path) -> None:
    with (
        intkey_processor(node.component, tmp_path),
        intkey_processor(node.component, tmp_path),
    ):
        held, behind = setting("hold-a"), setting("hold-a", verb="inc")
        beside = setting("b")
        node.post(held)
        holding(tmp_path, "hold-a")
        node.post(behind, beside)
        assert node.statuses(beside) == ["COMMITTED"]
        assert node.statuses(held, behind, wait_s=1) == ["PENDING"] * 2
        (tmp_path / "hold-a").touch()
        assert node.statuses(held, behind) == ["COMMITTED"] * 2


def test_a_slow_processor_holds_no_other_family_up(node: Node, tmp_path: Path) -> None:
    with intkey_processor(node.component, tmp_path):
        held = setting("hold-a")
        node.post(held)
        holding(tmp_path, "hold-a")
        node.commit(build_batch(SIGNER, [propose(SIGNER, "a.b.c", "1")]))
        assert node.statuses(held, wait_s=1) == ["PENDING"]


def test_killed_in_a_transaction_another_takes_over(node: Node, tmp_path: Path) -> None:
    with (
        intkey_processor(node.component, tmp_path) as one,
        intkey_processor(node.component, tmp_path) as two,
    ):
        batches = [setting(f"hold-{number}", f"x{number}") for number in range(4)]
        node.post(*batches)
        (first,) = holding(tmp_path, "hold-0")
        victim = one if first == one.process.pid else two
        victim.kill()
        for number in range(4):
            (tmp_path / f"hold-{number}").touch()
        assert node.statuses(*batches) == ["COMMITTED"] * 4


def test_killed_in_a_transaction_it_waits_for_the_next(node: Node, tmp_path: Path) -> None:
    batch = setting("x", "hold-a", "y")
    with intkey_processor(node.component, tmp_path) as processor:
        node.post(batch)
        holding(tmp_path, "hold-a")
        processor.kill()
        assert node.statuses(batch, wait_s=1) == ["PENDING"]
    (tmp_path / "hold-a").touch()
    with intkey_processor(node.component, tmp_path):
        assert node.statuses(batch) == ["COMMITTED"]
    head = node.client.get("/blocks?limit=1").json()["data"][0]["header"]
    assert head["block_num"] == "1"


def test_without_a_processor_it_waits_and_holds_nothing_up(node: Node, tmp_path: Path) -> None:
    early = setting("a")
    assert node.post(early).status_code == 202
    node.commit(build_batch(SIGNER, [propose(SIGNER, "a.b.c", "1")]))
    assert node.statuses(early, wait_s=1) == ["PENDING"]
    again = setting("a", verb="inc")
    assert node.post(again, early).status_code == 202
    with intkey_processor(node.component, tmp_path):
        assert node.statuses(early, again) == ["COMMITTED"] * 2


def test_an_internal_error_is_tried_again(node: Node, tmp_path: Path) -> None:
    with intkey_processor(node.component, tmp_path):
        batch = setting("fail-a")
        node.post(batch)
        assert node.statuses(batch, wait_s=1) == ["PENDING"]
        (tmp_path / "fail-a").touch()
        assert node.statuses(batch) == ["COMMITTED"]


def test_an_internal_error_is_not_tried_for_ever(node: Node, tmp_path: Path) -> None:
    with intkey_processor(node.component, tmp_path):
        batch = setting("fail-a")
        node.post(batch)
        assert node.statuses(batch) == ["INVALID"]
        (reason,) = reasons(node, batch)
        assert reason["message"] == "not now"
        (tmp_path / "fail-a").touch()
        node.commit(batch)


def test_a_refusal_keeps_message_and_extended_data(node: Node, tmp_path: Path) -> None:
    with intkey_processor(node.component, tmp_path):
        batch = setting("x", "tell-a", "y")
        node.post(batch)
        assert node.statuses(batch) == ["INVALID"]
    assert reasons(node, batch) == [
        {
            "id": batch.transactions[1].header_signature,
            "message": "told so",
            "extended_data": base64.b64encode(b"tell-a").decode(),
        }
    ]


def test_extended_data_is_bounded(node: Node) -> None:
    with connected(node.component) as peer:
        peer.register("intkey")
        batch = setting("a")
        node.post(batch)
        name, _ = peer.task()
        answer = TpProcessResponse(
            status=TpProcessResponse.INVALID_TRANSACTION,
            message="x" * 5000,
            extended_data=bytes(EXTENDED_DATA_BYTES_MAX + 1),
        )
        peer.send(Message.TP_PROCESS_RESPONSE, answer.SerializeToString(), name)
        assert node.statuses(batch) == ["INVALID"]
    (reason,) = reasons(node, batch)
    assert set(reason) == {"id", "message"}
    assert len(reason["message"]) == 1024


def test_a_stopped_processor_leaves_in_order(node: Node, tmp_path: Path) -> None:
    with intkey_processor(node.component, tmp_path) as processor:
        node.commit(setting("a"))
        assert processor.stop() == 0
    batch = setting("b")
    node.post(batch)
    assert node.statuses(batch, wait_s=1) == ["PENDING"]
    with intkey_processor(node.component, tmp_path):
        assert node.statuses(batch) == ["COMMITTED"]


def test_families_that_are_not_permitted(node: Node, tmp_path: Path) -> None:
    listed = [{"family": "sawtooth_settings", "version": "1.0"}, {"family": "x", "version": "1"}]
    node.commit(build_batch(SIGNER, [propose(SIGNER, TRANSACTION_FAMILIES, json.dumps(listed))]))
    batch = setting("a")
    node.post(batch)
    assert node.statuses(batch) == ["INVALID"]
    assert "is not listed in sawtooth.validator" in reasons(node, batch)[0]["message"]
    own = registrations()[0]
    node.post(own)
    assert node.statuses(own) == ["INVALID"]
    listed[1] = {"family": "intkey", "version": "1.0"}
    node.commit(build_batch(SIGNER, [propose(SIGNER, TRANSACTION_FAMILIES, json.dumps(listed))]))
    with intkey_processor(node.component, tmp_path):
        node.commit(batch)


def test_two_families_in_one_batch(node: Node, tmp_path: Path) -> None:
    batch = build_batch(
        SIGNER,
        [
            propose(SIGNER, "a.b.c", "1"),
            intkey(SIGNER, "set", "a", 1),
            propose(SIGNER, "a.b.c", "2"),
        ],
    )
    node.post(batch)
    assert node.statuses(batch, wait_s=1) == ["PENDING"]
    with intkey_processor(node.component, tmp_path):
        assert node.statuses(batch) == ["COMMITTED"]


def test_a_built_in_family_is_not_given_away(node: Node, tmp_path: Path) -> None:
    with wayseal_processor(node.component, tmp_path) as processor:
        assert processor.process.wait(WAIT_S) == 1
    log = (tmp_path / "wayseal-tp.stderr").read_text()
    assert f"wayseal-tp: {node.component} refuses the registration" in log
    stranger = build_transaction(
        key("admin"),
        Family("wayseal", "1.0"),
        b"",
        batcher_public_key=key("admin").public_key,
        inputs=[],
        outputs=[],
    )
    batch = build_batch(key("admin"), [stranger])
    node.post(batch)
    assert node.statuses(batch) == ["INVALID"]
