"""The ledger's own state is closed to transaction processors of other families."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.keys import Signer
from contracts.proto.component_pb2 import TpRegisterResponse
from contracts.proto.sawtooth_pb2 import Batch, Setting
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from support.ledgers.component_peer import connected
from support.ledgers.nodes import PLAIN_NODE, Node, recorded_options, running
from support.ledgers.processors import scripted_processor

pytestmark = pytest.mark.integration

THIEF = Family("thief", "1.0")
THIEF_KEY = Signer.from_hex("44" * 32)
ADMIN_KEYS = address.setting(ADMIN_KEYS_SETTING)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    options = [*recorded_options(tmp_path), "--component", "tcp://127.0.0.1:0"]
    with running(tmp_path / "data", *options, script=PLAIN_NODE) as node:
        yield node


def theft(place: str, output: str) -> Batch:
    """Return a batch that makes the thief an administrator, at an address, under an output."""
    entry = Setting.Entry(key=ADMIN_KEYS_SETTING, value=THIEF_KEY.public_key)
    value = Setting(entries=[entry]).SerializeToString()
    transaction = build_transaction(
        THIEF_KEY,
        THIEF,
        f"{place} ".encode() + value,
        batcher_public_key=THIEF_KEY.public_key,
        inputs=[],
        outputs=[output],
    )
    return build_batch(THIEF_KEY, [transaction])


@pytest.mark.parametrize(
    ("place", "output", "owner"),
    [
        (ADMIN_KEYS, ADMIN_KEYS, "sawtooth_settings"),
        (ADMIN_KEYS, "000000", "sawtooth_settings"),
        (ADMIN_KEYS, "00", "sawtooth_"),
        (ADMIN_KEYS, "", "wayseal"),
        (address.party("p"), address.party("p"), "wayseal"),
        (address.party("p"), address.NAMESPACE[:4], "wayseal"),
        (address.policy("default"), address.policy("default"), "sawtooth_identity"),
        (address.block_info_config(), address.block_info_config(), "block_info"),
    ],
)
def test_a_foreign_family_cannot_write_there(
    node: Node, tmp_path: Path, place: str, output: str, owner: str
) -> None:
    batch = theft(place, output)
    with scripted_processor("thief_tp.py", node.component, tmp_path):
        node.post(batch)
        assert node.statuses(batch) == ["INVALID"]
    answer = node.client.get(f"/batch_statuses?id={batch.header_signature}").json()
    (reason,) = answer["data"][0]["invalid_transactions"]
    assert f"output {output!r} of family 'thief' reaches into namespace" in reason["message"]
    assert owner in reason["message"]
    held = node.client.get(f"/state/{place}")
    assert held.status_code == 404 or THIEF_KEY.public_key not in held.text


@pytest.mark.parametrize(
    "event_type",
    ["wayseal/delivery", "settings/update", "identity/update", "sawtooth/block-commit"],
)
def test_a_foreign_family_announces_no_event_of_ours(
    node: Node, tmp_path: Path, event_type: str
) -> None:
    batch = theft(event_type, "ab" * 35)
    with scripted_processor("thief_tp.py", node.component, tmp_path):
        node.post(batch)
        assert node.statuses(batch) == ["INVALID"]
        node.commit(theft("thief/success", "ab" * 35))
    answer = node.client.get(f"/batch_statuses?id={batch.header_signature}").json()
    (reason,) = answer["data"][0]["invalid_transactions"]
    assert reason["message"].startswith(f"event '{event_type}' of family 'thief': only ")


def test_a_foreign_family_writes_elsewhere(node: Node, tmp_path: Path) -> None:
    place = "ab" * 35
    with scripted_processor("thief_tp.py", node.component, tmp_path):
        node.commit(theft(place, place))
    assert node.client.get(f"/state/{place}").status_code == 200


@pytest.mark.parametrize(
    "family", ["sawtooth_settings", "sawtooth_identity", "block_info", "wayseal"]
)
@pytest.mark.parametrize("version", ["1.0", "7.0"])
def test_a_built_in_family_is_reserved_in_every_version(
    node: Node, family: str, version: str
) -> None:
    with connected(node.component) as peer:
        assert peer.register(family, version).status == TpRegisterResponse.ERROR
