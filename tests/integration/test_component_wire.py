"""The component port on the wire: what a real validator said, and what a processor may ask."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from contracts.actions.payload import FAMILY
from contracts.keys import Signer
from contracts.ledger.component.registry import FAMILY_CHARS_MAX, REGISTRATIONS_MAX
from contracts.proto.component_pb2 import (
    Message,
    PingRequest,
    PingResponse,
    TpEventAddRequest,
    TpEventAddResponse,
    TpProcessRequest,
    TpProcessResponse,
    TpReceiptAddDataRequest,
    TpReceiptAddDataResponse,
    TpRegisterResponse,
    TpStateDeleteRequest,
    TpStateDeleteResponse,
    TpStateEntry,
    TpStateGetRequest,
    TpStateGetResponse,
    TpStateSetRequest,
    TpStateSetResponse,
    TpUnregisterRequest,
    TpUnregisterResponse,
)
from contracts.proto.sawtooth_pb2 import Event, Transaction
from contracts.sawtooth.batches import build_batch
from support.ledgers.component_peer import Peer, Recorded, connected, recorded_messages
from support.ledgers.intkey_node import address_of
from support.ledgers.nodes import (
    PLAIN_NODE,
    Node,
    intkey_batch,
    recorded_options,
    running,
)

pytestmark = pytest.mark.integration

SIGNER = Signer.from_hex("22" * 32)
OK = TpProcessResponse(status=TpProcessResponse.OK).SerializeToString()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    options = [*recorded_options(tmp_path), "--component", "tcp://127.0.0.1:0"]
    with running(tmp_path / "data", *options, script=PLAIN_NODE) as node:
        yield node


def conversations(messages: list[Recorded]) -> list[list[Recorded]]:
    """Return, for each transaction in order, what was said in executing it the first time.

    The validator executed each a second time, to validate its block; we do not.
    """
    by_id: dict[bytes, list[Recorded]] = {}
    for message in messages:
        if message.kind == "TP_PROCESS_REQUEST":
            request = TpProcessRequest.FromString(message.content)
            spoken = [message, *_about(messages, message, request.context_id)]
            by_id.setdefault(request.signature.encode(), spoken)
    return list(by_id.values())


def _about(messages: list[Recorded], first: Recorded, context_id: str) -> list[Recorded]:
    """Return the messages with a context id, each with its answer, and the last word."""
    asked = {
        message.correlation_id
        for message in messages
        if message.from_client and context_id.encode() in message.content
    }
    asked.add(first.correlation_id)
    return [each for each in messages if each.correlation_id in asked and each is not first]


def transaction_of(request: TpProcessRequest) -> Transaction:
    return Transaction(
        header=request.header.SerializeToString(),
        header_signature=request.signature,
        payload=request.payload,
    )


def test_answers_are_the_recorded_ones(node: Node) -> None:
    messages = recorded_messages()
    told = conversations(messages)
    assert len(told) > 3
    with connected(node.component) as peer:
        register, answer = messages[:2]
        peer.send(Message.TP_REGISTER_REQUEST, register.content, register.correlation_id)
        assert _heard(peer) == (answer.kind, answer.correlation_id, answer.content)
        for conversation in told:
            _replay(node, peer, conversation)


def _replay(node: Node, peer: Peer, conversation: list[Recorded]) -> None:
    first, *rest = conversation
    want = TpProcessRequest.FromString(first.content)
    batch = build_batch(SIGNER, [transaction_of(want)])
    node.post(batch)
    correlation_id, got = peer.task()
    assert len(correlation_id) == len(first.correlation_id)
    assert len(got.context_id) == len(want.context_id)
    theirs, ours = want.context_id, got.context_id
    want.context_id = ours
    assert got.SerializeToString() == want.SerializeToString()
    for message in rest:
        if message.from_client:
            last = message.kind == "TP_PROCESS_RESPONSE"
            name = correlation_id if last else message.correlation_id
            content = message.content.replace(theirs.encode(), ours.encode())
            peer.send(message.kind, content, name)
        else:
            assert _heard(peer) == (message.kind, message.correlation_id, message.content)
    assert node.statuses(batch) == ["COMMITTED"]


def _heard(peer: Peer) -> tuple[str, str, bytes]:
    message = peer.receive()
    return Message.MessageType.Name(message.message_type), message.correlation_id, message.content


def test_ping(node: Node) -> None:
    with connected(node.component) as peer:
        peer.ask(Message.PING_REQUEST, PingRequest(), PingResponse)


def test_a_probe_is_echoed(node: Node) -> None:
    with connected(node.component, PROBE_ROUTER=1) as peer:
        assert peer.dealer.recv_multipart() == [b""]


def test_raw_headers(node: Node) -> None:
    with connected(node.component) as peer:
        answer = peer.register("intkey", protocol_version=1, raw=True)
        assert answer == TpRegisterResponse(status=TpRegisterResponse.OK, protocol_version=1)
        batch = intkey_batch(SIGNER, 0)
        node.post(batch)
        name, request = peer.task()
        assert request.header_bytes == batch.transactions[0].header
        assert not request.HasField("header")
        peer.send(Message.TP_PROCESS_RESPONSE, OK, name)
        assert node.statuses(batch) == ["COMMITTED"]


@pytest.mark.parametrize(
    ("family", "version", "protocol"),
    [
        ("sawtooth_settings", "1.0", 0),
        (FAMILY.name, FAMILY.version, 0),
        ("intkey", "1.0", 2),
        ("x" * (FAMILY_CHARS_MAX + 1), "1.0", 0),
    ],
    ids=["settings", "wayseal", "protocol", "long"],
)
def test_registration_refused(node: Node, family: str, version: str, protocol: int) -> None:
    with connected(node.component) as peer:
        answer = peer.register(family, version, protocol_version=protocol)
    assert answer.status == TpRegisterResponse.ERROR
    assert answer.protocol_version == min(protocol, 1)


def test_registrations_are_bounded(node: Node) -> None:
    with connected(node.component) as peer:
        for number in range(REGISTRATIONS_MAX):
            assert peer.register(f"f{number}").status == TpRegisterResponse.OK
        assert peer.register("more").status == TpRegisterResponse.ERROR


def test_state_is_confined_to_what_is_declared(node: Node) -> None:
    with connected(node.component) as peer:
        peer.register("intkey")
        batch = intkey_batch(SIGNER, 0)
        node.post(batch)
        name, request = peer.task()
        context_id, mine, other = request.context_id, address_of("k0"), address_of("k1")
        for place, status in ((mine, 1), (other, 2), (mine[:10], 2), (mine.upper(), 2)):
            got = peer.ask(
                Message.TP_STATE_GET_REQUEST,
                TpStateGetRequest(context_id=context_id, addresses=[place]),
                TpStateGetResponse,
            )
            assert got.status == status
            assert [entry.address for entry in got.entries] == ([place] if status == 1 else [])
            put = peer.ask(
                Message.TP_STATE_SET_REQUEST,
                TpStateSetRequest(
                    context_id=context_id, entries=[TpStateEntry(address=place, data=b"1")]
                ),
                TpStateSetResponse,
            )
            assert put.status == status
            gone = peer.ask(
                Message.TP_STATE_DELETE_REQUEST,
                TpStateDeleteRequest(context_id=context_id, addresses=[place]),
                TpStateDeleteResponse,
            )
            assert gone.status == status
        peer.send(Message.TP_PROCESS_RESPONSE, OK, name)
        assert node.statuses(batch) == ["COMMITTED"]


def test_a_context_is_its_processors_alone(node: Node) -> None:
    with connected(node.component) as peer, connected(node.component) as stranger:
        peer.register("intkey")
        batch = intkey_batch(SIGNER, 0)
        node.post(batch)
        name, request = peer.task()
        _has_nothing(stranger, request.context_id)
        stranger.send(Message.TP_PROCESS_RESPONSE, OK, name)
        _has_nothing(peer, "0" * 32)
        entry = TpStateEntry(address=address_of("k0"), data=b"1")
        put = TpStateSetRequest(context_id=request.context_id, entries=[entry])
        assert peer.ask(Message.TP_STATE_SET_REQUEST, put, TpStateSetResponse).addresses
        assert node.statuses(batch, wait_s=1) == ["PENDING"]
        peer.send(Message.TP_PROCESS_RESPONSE, OK, name)
        assert node.statuses(batch) == ["COMMITTED"]
        _has_nothing(peer, request.context_id)


def _has_nothing(peer: Peer, context_id: str) -> None:
    """Check that a context finds nothing, changes nothing and says what the validator says."""
    place = address_of("k0")
    get = TpStateGetRequest(context_id=context_id, addresses=[place])
    answer = peer.ask(Message.TP_STATE_GET_REQUEST, get, TpStateGetResponse)
    assert answer == TpStateGetResponse(status=TpStateGetResponse.OK)
    put = TpStateSetRequest(context_id=context_id, entries=[TpStateEntry(address=place)])
    done = peer.ask(Message.TP_STATE_SET_REQUEST, put, TpStateSetResponse)
    assert done == TpStateSetResponse(status=TpStateSetResponse.OK)
    event = TpEventAddRequest(context_id=context_id, event=Event(event_type="x"))
    added = peer.ask(Message.TP_EVENT_ADD_REQUEST, event, TpEventAddResponse)
    assert added.status == TpEventAddResponse.ERROR
    data = TpReceiptAddDataRequest(context_id=context_id, data=b"x")
    noted = peer.ask(Message.TP_RECEIPT_ADD_DATA_REQUEST, data, TpReceiptAddDataResponse)
    assert noted.status == TpReceiptAddDataResponse.ERROR


def test_what_a_processor_adds_is_in_the_receipt(node: Node) -> None:
    with connected(node.component) as peer:
        peer.register("intkey")
        batch = intkey_batch(SIGNER, 0)
        node.post(batch)
        name, request = peer.task()
        event = Event(
            event_type="intkey/set", attributes=[Event.Attribute(key="a", value="b")], data=b"\1"
        )
        add = TpEventAddRequest(context_id=request.context_id, event=event)
        assert peer.ask(Message.TP_EVENT_ADD_REQUEST, add, TpEventAddResponse).status == 1
        data = TpReceiptAddDataRequest(context_id=request.context_id, data=b"\2")
        kind = Message.TP_RECEIPT_ADD_DATA_REQUEST
        assert peer.ask(kind, data, TpReceiptAddDataResponse).status == 1
        peer.send(Message.TP_PROCESS_RESPONSE, OK, name)
        assert node.statuses(batch) == ["COMMITTED"]
    name = batch.transactions[0].header_signature
    (receipt,) = node.client.get(f"/receipts?id={name}").json()["data"]
    assert receipt["data"] == ["Ag=="]
    assert receipt["events"] == [
        {
            "event_type": "intkey/set",
            "attributes": [{"key": "a", "value": "b"}],
            "data": "AQ==",
        }
    ]


def test_a_second_try_begins_anew(node: Node) -> None:
    failed = TpProcessResponse(status=TpProcessResponse.INTERNAL_ERROR).SerializeToString()
    with connected(node.component) as peer:
        peer.register("intkey")
        batch = intkey_batch(SIGNER, 0)
        node.post(batch)
        name, first = peer.task()
        entry = TpStateEntry(address=address_of("k0"), data=b"1")
        put = TpStateSetRequest(context_id=first.context_id, entries=[entry])
        assert peer.ask(Message.TP_STATE_SET_REQUEST, put, TpStateSetResponse).addresses
        peer.send(Message.TP_PROCESS_RESPONSE, failed, name)
        name, second = peer.task()
        assert second.context_id != first.context_id
        get = TpStateGetRequest(context_id=second.context_id, addresses=[entry.address])
        (found,) = peer.ask(Message.TP_STATE_GET_REQUEST, get, TpStateGetResponse).entries
        assert found.data == b""
        peer.send(Message.TP_PROCESS_RESPONSE, OK, name)
        assert node.statuses(batch) == ["COMMITTED"]
    assert node.client.get(f"/state/{entry.address}").status_code == 404


def test_unregistered_gets_no_more(node: Node) -> None:
    with connected(node.component) as peer:
        peer.register("intkey")
        done = peer.ask(Message.TP_UNREGISTER_REQUEST, TpUnregisterRequest(), TpUnregisterResponse)
        assert done.status == TpUnregisterResponse.OK
        batch = intkey_batch(SIGNER, 0)
        node.post(batch)
        assert node.statuses(batch, wait_s=1) == ["PENDING"]
        assert not peer.dealer.poll(0)


def test_no_more_at_once_than_it_wants(node: Node) -> None:
    with connected(node.component) as peer:
        peer.register("intkey", max_occupancy=2)
        batches = [intkey_batch(SIGNER, number) for number in range(5)]
        node.post(*batches)
        names = [peer.task()[0], peer.task()[0]]
        peer.ask(Message.PING_REQUEST, PingRequest(), PingResponse)  # no third came before
        while names:
            peer.send(Message.TP_PROCESS_RESPONSE, OK, names.pop(0))
            if len(batches) > 2:
                batches.pop()
                names.append(peer.task()[0])
        assert node.statuses(*batches) == ["COMMITTED"] * len(batches)


def test_the_recording_is_whole() -> None:
    kinds = [kind for kind, _ in groupby(sorted(each.kind for each in recorded_messages()))]
    assert "TP_STATE_SET_RESPONSE" in kinds
    assert "PING_RESPONSE" in kinds
