"""State deltas over a WebSocket: as recorded from a real node, and under hostile subscribers."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from contracts.keys import Signer
from contracts.ledger.rest.subscriptions import (
    PREFIXES_MAX,
    SUBSCRIBERS_MAX,
    SUBSCRIBERS_PER_ADDRESS_MAX,
    SUBSCRIPTIONS_MAX,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.runtime.serving.server import SOCKET_MESSAGE_BYTES_MAX
from contracts.sawtooth.batches import build_batch
from support.ledgers.intkey_node import NAMESPACE
from support.ledgers.nodes import (
    GOLDEN,
    WAIT_S,
    Node,
    intkey,
    intkey_batch,
    recorded_options,
    running,
)
from support.ledgers.subscriber import (
    ABNORMAL,
    Subscriber,
    address_of,
    open_raw,
    subscribe_deaf,
    subscriber,
)
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration

SIGNER = Signer.from_hex("22" * 32)
POSTS = {
    "POST batch: set ws1=1, set ws2=2": [("set", "ws1", 1), ("set", "ws2", 2)],
    "POST batch: inc ws1 4": [("inc", "ws1", 4)],
}
UNDESCRIBED = "POST batch after unsubscribe"
"""The recorded node never told of that block, since its listener had died with the connection."""


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with running(tmp_path / "data", *recorded_options(tmp_path)) as node:
        yield node


def recording(name: str) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = json.loads((GOLDEN / "ws" / f"{name}.json").read_text())
    return steps


def batch_of(*changes: tuple[str, str, int]) -> Batch:
    return build_batch(SIGNER, [intkey(SIGNER, *change) for change in changes])


def ids(node: Node) -> list[str]:
    blocks = node.client.get("/blocks?reverse").json()["data"]
    return [block["header_signature"] for block in blocks]


def mapped(message: dict[str, Any], ours: list[str]) -> dict[str, Any]:
    """Return a recorded message with the ids of our blocks; the order of its keys stays."""
    number = int(message["block_num"])
    message["block_id"] = ours[number]
    if number:
        message["previous_block_id"] = ours[number - 1]
    return message


def test_the_recorded_conversation(node: Node) -> None:
    node.commit(batch_of(("set", "ws0", 1)))
    numbers: dict[str, int] = {}
    steps = recording("subscriptions")
    turn = next(n for n, step in enumerate(steps) if "new connection" in step.get("note", ""))
    with subscriber(node) as client:
        converse(node, client, steps[:turn], numbers)
    with subscriber(node) as client:
        converse(node, client, steps[turn:], numbers)


def converse(
    node: Node, client: Subscriber, steps: list[dict[str, Any]], numbers: dict[str, int]
) -> None:
    """Play one connection's part of the recording; `numbers` says which block an id is."""
    closed = False
    for step in steps:
        note = step.get("note", "")
        if note in POSTS:
            node.commit(batch_of(*POSTS[note]))
        elif note.startswith("sent subscribe with unknown"):
            client.say({"action": "subscribe", "address_prefixes": [NAMESPACE],
                        "last_known_block_ids": ["0" * 128]})  # fmt: skip
        elif note:
            assert note in ("closed", UNDESCRIBED) or "new connection" in note
        elif step["dir"] == "send" and not closed:
            send_mapped(client, step["data"], ids(node), numbers)
        elif step["dir"] == "recv" and step["type"] == "257":
            assert closed or client.closing() == ABNORMAL
            closed = True
        elif step["dir"] == "recv":
            numbers[step["data"]["block_id"]] = int(step["data"]["block_num"])
            want = mapped(step["data"], ids(node))
            assert json.dumps(client.hear()) == json.dumps(want)


def send_mapped(
    client: Subscriber, data: dict[str, Any], ours: list[str], numbers: dict[str, int]
) -> None:
    block_id = data.get("block_id")
    if block_id in numbers:
        data["block_id"] = ours[numbers[block_id]]
    client.say(data)


def test_the_recorded_errors(node: Node) -> None:
    steps = recording("subscriptions-errors")
    ends = [n + 1 for n, step in enumerate(steps) if step.get("recv_type") == "CLOSED"]
    heard = 0
    for begin, end in zip([0, *ends], ends, strict=False):
        with subscriber(node) as client:
            for step in steps[begin:end]:
                if "send" in step:
                    client.socket.send(step["send"])
                elif step.get("recv_type") == "CLOSED":
                    assert client.closing() == step["close_code"]
                elif "recv_type" in step:
                    assert client.socket.recv(WAIT_S) == expected(step["data"], ids(node))
                    heard += 1
    assert heard == sum(step.get("recv_type") == "TEXT" for step in steps)


def expected(text: str, ours: list[str]) -> str:
    message = json.loads(text)
    return json.dumps(mapped(message, ours)) if "block_id" in message else text


def test_unsubscribed_hears_nothing_more(node: Node) -> None:
    with subscriber(node) as client:
        assert client.subscribe()["block_num"] == "0"
        client.say({"action": "unsubscribe"})
        client.say({"action": "?"})
        assert "error" in client.hear()
        node.commit(intkey_batch(SIGNER, 0))
        client.say({"action": "?"})
        assert "error" in client.hear()


def test_each_subscription_of_a_client_brings_its_message(node: Node) -> None:
    with subscriber(node) as client:
        client.subscribe(NAMESPACE)
        client.subscribe("ffffff")
        node.commit(intkey_batch(SIGNER, 0))
        assert [len(client.hear()["state_changes"]) for _ in range(2)] == [1, 0]
        client.say({"action": "unsubscribe"})  # takes back the first one
        client.say({"action": "?"})
        assert "error" in client.hear()
        node.commit(intkey_batch(SIGNER, 1))
        assert client.hear()["state_changes"] == []


def test_no_block_is_missed_by_many_subscribers(node: Node) -> None:
    blocks, clients = 40, 10
    heard: list[list[str]] = []

    def follow() -> None:
        with subscriber(node) as client:
            numbers = [client.subscribe(NAMESPACE)["block_num"]]
            ready.wait()
            while len(numbers) <= blocks:
                numbers.append(client.hear()["block_num"])
            heard.append(numbers)

    ready = threading.Barrier(clients + 1)
    threads = [threading.Thread(target=follow) for _ in range(clients)]
    for thread in threads:
        thread.start()
    ready.wait()
    for number in range(blocks):
        node.commit(intkey_batch(SIGNER, number))
    for thread in threads:
        thread.join()
    assert heard == [[str(number) for number in range(blocks + 1)]] * clients


def test_no_fork_at_block_ten(node: Node) -> None:
    with subscriber(node) as client:
        client.subscribe()
        for number in range(11):
            node.commit(intkey_batch(SIGNER, number))
            assert list(client.hear()) == [
                "block_id",
                "block_num",
                "previous_block_id",
                "state_changes",
            ]


def test_end_of_the_node_is_said(node: Node) -> None:
    with subscriber(node) as client:
        client.subscribe()
        assert node.stop() == 0
        assert client.closing() == 1001


def test_limits_are_said(node: Node) -> None:
    with subscriber(node) as client:
        many = ["00"] * (PREFIXES_MAX + 1)
        client.say({"action": "subscribe", "address_prefixes": many})
        assert client.hear() == {"error": f"Too many address prefixes: at most {PREFIXES_MAX}"}
        for _ in range(SUBSCRIPTIONS_MAX):
            client.subscribe()
        client.say({"action": "subscribe"})
        assert client.hear() == {"error": f"Too many subscriptions: at most {SUBSCRIPTIONS_MAX}"}
        client.socket.send(" " * (SOCKET_MESSAGE_BYTES_MAX + 1))
        assert client.closing() == 1009


def test_too_many_subscribers_are_refused(node: Node) -> None:
    held = [
        connect(address_of(node), source_address=(f"127.0.0.{1 + number % 3}", 0))
        for number in range(SUBSCRIBERS_MAX)
    ]
    with pytest.raises(InvalidStatus) as refused, connect(address_of(node)):
        pass
    assert refused.value.response.status_code == 503
    assert json.loads(refused.value.response.body)["error"]["code"] == 206
    for connection in held:
        connection.close()
    with subscriber(node) as client:
        assert client.subscribe()["block_num"] == "0"


def test_one_address_cannot_take_all_places(node: Node) -> None:
    held = [connect(address_of(node)) for _ in range(SUBSCRIBERS_PER_ADDRESS_MAX)]
    with pytest.raises(InvalidStatus) as refused, connect(address_of(node)):
        pass
    assert refused.value.response.status_code == 503
    assert b"50 of one address" in refused.value.response.body
    with connect(address_of(node), source_address=("127.0.0.2", 0)) as socket:
        assert Subscriber(socket).subscribe()["block_num"] == "0"
    for connection in held:
        connection.close()


@pytest.mark.parametrize(
    "message",
    [
        '{"action": "subscribe", "address_prefixes": [1]}',
        '{"action": "subscribe", "address_prefixes": 1}',
        '{"action": "get_block_deltas", "block_id": 1}',
        '{"action": "get_block_deltas", "block_id": "\\ud800"}',
        "[" * 5_000,
        "1" * 5_000,
        '"text"',
    ],
)
def test_nonsense_ends_the_connection(node: Node, message: str) -> None:
    with subscriber(node) as client:
        client.socket.send(message)
        assert client.closing() == ABNORMAL
    with subscriber(node) as client:
        assert client.subscribe()["block_num"] == "0"


def test_without_upgrade_it_is_a_bad_request(node: Node) -> None:
    assert node.client.get("/subscriptions").status_code == 400
    assert node.client.post("/subscriptions").status_code == 405


def test_a_flood_of_pings_ends_the_connection(node: Node) -> None:
    ping = b"\x89\xfd" + bytes(4) + bytes(125)
    with open_raw(node) as raw, pytest.raises(ConnectionError):
        raw.sendall(ping * 1_000_000)
    node.commit(intkey_batch(SIGNER, 0))


def test_a_flood_of_fragments_ends_the_connection(node: Node) -> None:
    first, more = b"\x01\x80" + bytes(4), b"\x00\x80" + bytes(4)
    with open_raw(node) as raw, pytest.raises(ConnectionError):
        raw.sendall(first + more * 10_000_000)
    node.commit(intkey_batch(SIGNER, 0))


def test_a_subscriber_that_does_not_read_is_dropped(node: Node, tmp_path: Path) -> None:
    log = tmp_path / "data.stderr"
    with subscribe_deaf(node, SUBSCRIPTIONS_MAX), subscriber(node) as client:
        client.subscribe("ffffff")
        for number in range(20):
            node.commit(intkey_batch(SIGNER, 1_000 * number, 1_000))
            assert client.hear()["block_num"] == str(number + 1)
        wait_until(lambda: "took no message" in log.read_text())
    node.commit(intkey_batch(SIGNER, 1_000_000))
