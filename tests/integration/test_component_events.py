"""Event subscriptions over the component port of a running node."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.ledger.component import connections
from contracts.ledger.component.events import FILTERS_MAX, PATTERN_CHARS_MAX, SUBSCRIPTIONS_MAX
from contracts.ledger.component.subscribers import GET_BLOCKS_MAX
from contracts.proto.component_pb2 import (
    ClientEventsGetRequest,
    ClientEventsGetResponse,
    ClientEventsSubscribeResponse,
    ClientEventsUnsubscribeRequest,
    ClientEventsUnsubscribeResponse,
    EventFilter,
    Message,
    PingRequest,
    PingResponse,
    StateChangeList,
)
from contracts.proto.sawtooth_pb2 import Batch, Event, StateChange
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from contracts.sawtooth.settings import propose
from support.ledgers.component_peer import Peer, connected, wanted
from support.ledgers.intkey_node import address_of
from support.ledgers.nodes import Node, intkey, intkey_batch, recorded_options, running

pytestmark = pytest.mark.integration

SIGNER = Signer.from_hex("11" * 32)
COMMIT, DELTA, UPDATE = "sawtooth/block-commit", "sawtooth/state-delta", "settings/update"
OK = ClientEventsSubscribeResponse.OK


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    options = [*recorded_options(tmp_path), "--component", "tcp://127.0.0.1:0"]
    with running(tmp_path / "data", *options) as node:
        yield node


@pytest.fixture
def peer(node: Node) -> Iterator[Peer]:
    with connected(node.component) as peer:
        yield peer


def attributes(event: Event) -> dict[str, str]:
    return {each.key: each.value for each in event.attributes}


def setting(name: str, value: str) -> Batch:
    return build_batch(SIGNER, [propose(SIGNER, name, value)])


def one_filter(kind: EventFilter.FilterType, key: str, match: str) -> EventFilter:
    return EventFilter(key=key, match_string=match, filter_type=kind)


def test_a_commit_is_told_as_it_happens(node: Node, peer: Peer) -> None:
    assert peer.subscribe(wanted(COMMIT)).status == OK
    for number in (1, 2, 3):
        node.commit(intkey_batch(SIGNER, number))
        (event,) = peer.events()
        head = node.client.get("/blocks?limit=1").json()["data"][0]
        assert event.event_type == COMMIT
        assert event.data == b""
        assert [each.key for each in event.attributes] == [
            "block_id",
            "block_num",
            "state_root_hash",
            "previous_block_id",
        ]
        assert attributes(event) == {
            "block_id": head["header_signature"],
            "block_num": str(number),
            "state_root_hash": head["header"]["state_root_hash"],
            "previous_block_id": head["header"]["previous_block_id"],
        }


def test_state_deltas_name_the_last_change_of_each_address(node: Node, peer: Peer) -> None:
    peer.subscribe(wanted(DELTA))
    verbs = [("set", "a"), ("set", "b"), ("inc", "a")]
    node.commit(build_batch(SIGNER, [intkey(SIGNER, verb, name, 1) for verb, name in verbs]))
    (event,) = peer.events()
    a, b = address_of("a"), address_of("b")
    assert [(each.key, each.value) for each in event.attributes] == [("address", a), ("address", b)]
    changes = StateChangeList.FromString(event.data).state_changes
    assert [(each.address, each.type) for each in changes] == [
        (a, StateChange.SET),
        (b, StateChange.SET),
    ]
    assert changes[0].value == b"\xa1aa\x02"


def test_commit_first_then_the_families_own_then_the_state(node: Node, peer: Peer) -> None:
    peer.subscribe(wanted(DELTA), wanted(UPDATE), wanted(COMMIT), wanted(COMMIT))
    node.commit(setting("a.b.c", "1"))
    assert [event.event_type for event in peer.events()] == [COMMIT, UPDATE, DELTA]


@pytest.mark.parametrize(
    ("kind", "match", "passes"),
    [
        (EventFilter.SIMPLE_ANY, "a.b.c", True),
        (EventFilter.SIMPLE_ANY, "a.b", False),
        (EventFilter.SIMPLE_ALL, "a.b.c", True),
        (EventFilter.SIMPLE_ALL, "x", False),
        (EventFilter.REGEX_ANY, "b.c$", True),
        (EventFilter.REGEX_ANY, "^b", False),
        (EventFilter.REGEX_ALL, "^a", True),
        (EventFilter.REGEX_ALL, "z", False),
    ],
)
def test_filters(
    node: Node, peer: Peer, kind: EventFilter.FilterType, match: str, *, passes: bool
) -> None:
    peer.subscribe(wanted(UPDATE, one_filter(kind, "updated", match)), wanted(COMMIT))
    node.commit(setting("a.b.c", "1"))
    got = [event.event_type for event in peer.events()]
    assert got == ([COMMIT, UPDATE] if passes else [COMMIT])


def test_all_needs_no_attribute_any_does(node: Node, peer: Peer) -> None:
    peer.subscribe(wanted(COMMIT, one_filter(EventFilter.SIMPLE_ALL, "nobody", "x")))
    node.commit(intkey_batch(SIGNER, 0))
    assert attributes(peer.events()[0])["block_num"] == "1"
    peer.subscribe(wanted(COMMIT, one_filter(EventFilter.REGEX_ANY, "nobody", "")), wanted(UPDATE))
    node.commit(intkey_batch(SIGNER, 1))
    node.commit(setting("a.b.c", "1"))
    assert [event.event_type for event in peer.events()] == [UPDATE]


@pytest.mark.parametrize(
    "bad",
    [
        one_filter(EventFilter.REGEX_ANY, "x", "("),
        one_filter(EventFilter.REGEX_ALL, "x", "a" * (PATTERN_CHARS_MAX + 1)),
        one_filter(EventFilter.REGEX_ANY, "x", r"(a)\1"),
        one_filter(EventFilter.FILTER_TYPE_UNSET, "x", "a"),
    ],
    ids=["unclosed", "long", "backreference", "unset"],
)
def test_filters_that_cannot_be_applied(peer: Peer, bad: EventFilter) -> None:
    answer = peer.subscribe(wanted(COMMIT, bad))
    assert answer.status == ClientEventsSubscribeResponse.INVALID_FILTER
    assert answer.response_message
    request = ClientEventsGetRequest(subscriptions=[wanted(COMMIT, bad)])
    got = peer.ask(Message.CLIENT_EVENTS_GET_REQUEST, request, ClientEventsGetResponse)
    assert got.status == ClientEventsGetResponse.INVALID_FILTER


def test_subscriptions_are_bounded(peer: Peer) -> None:
    many = [wanted(COMMIT)] * (SUBSCRIPTIONS_MAX + 1)
    assert peer.subscribe(*many).status == ClientEventsSubscribeResponse.INVALID_FILTER
    filters = [one_filter(EventFilter.SIMPLE_ANY, "x", "y")] * (FILTERS_MAX + 1)
    answer = peer.subscribe(wanted(COMMIT, *filters))
    assert answer.status == ClientEventsSubscribeResponse.INVALID_FILTER


def test_a_pattern_of_a_stranger_takes_no_time(node: Node, peer: Peer) -> None:
    evil = one_filter(EventFilter.REGEX_ANY, "updated", "^(a+)+$")
    assert peer.subscribe(wanted(UPDATE, evil), wanted(COMMIT)).status == OK
    node.commit(setting("a" * 60 + "!", "1"))
    assert [event.event_type for event in peer.events()] == [COMMIT]


def test_catching_up_from_the_newest_known_block(node: Node, peer: Peer) -> None:
    for number in range(30):
        node.commit(intkey_batch(SIGNER, number))
    blocks = node.client.get("/blocks?reverse&limit=100").json()["data"]
    names = [block["header_signature"] for block in blocks]
    assert peer.subscribe(wanted(COMMIT), known=(NULL_BLOCK_ID,)).status == OK
    assert [attributes(peer.events()[0])["block_id"] for _ in names] == names
    known = ("f" * 128, names[3], names[20], names[7])
    assert peer.subscribe(wanted(COMMIT), known=known).status == OK
    assert [attributes(peer.events()[0])["block_id"] for _ in names[21:]] == names[21:]
    node.commit(intkey_batch(SIGNER, 30))
    assert attributes(peer.events()[0])["block_num"] == "31"


def test_catching_up_without_commits(node: Node, peer: Peer) -> None:
    node.commit(setting("a.b.c", "1"))
    assert peer.subscribe(wanted(UPDATE), known=(NULL_BLOCK_ID,)).status == OK
    assert {event.event_type for event in peer.events() + peer.events()} == {UPDATE}
    names = [block["header_signature"] for block in node.client.get("/blocks").json()["data"]]
    request = ClientEventsGetRequest(subscriptions=[wanted(UPDATE)], block_ids=names)
    answer = peer.ask(Message.CLIENT_EVENTS_GET_REQUEST, request, ClientEventsGetResponse)
    assert {event.event_type for event in answer.events} == {UPDATE}


def test_no_block_is_known(peer: Peer) -> None:
    answer = peer.subscribe(wanted(COMMIT), known=("f" * 128, "nonsense"))
    assert answer.status == ClientEventsSubscribeResponse.UNKNOWN_BLOCK


def test_unsubscribed_hears_nothing(node: Node, peer: Peer) -> None:
    peer.subscribe(wanted(COMMIT))
    done = peer.ask(
        Message.CLIENT_EVENTS_UNSUBSCRIBE_REQUEST,
        ClientEventsUnsubscribeRequest(),
        ClientEventsUnsubscribeResponse,
    )
    assert done.status == ClientEventsUnsubscribeResponse.OK
    node.commit(intkey_batch(SIGNER, 0))
    peer.ask(Message.PING_REQUEST, PingRequest(), PingResponse)


def test_events_of_named_blocks(node: Node, peer: Peer) -> None:
    node.commit(setting("a.b.c", "1"))
    node.commit(intkey_batch(SIGNER, 0))
    blocks = node.client.get("/blocks?limit=2").json()["data"]
    names = [block["header_signature"] for block in blocks]

    def get(*block_ids: str) -> ClientEventsGetResponse:
        request = ClientEventsGetRequest(
            subscriptions=[wanted(UPDATE), wanted(COMMIT)], block_ids=block_ids
        )
        return peer.ask(Message.CLIENT_EVENTS_GET_REQUEST, request, ClientEventsGetResponse)

    answer = get(*names)
    assert answer.status == ClientEventsGetResponse.OK
    assert [event.event_type for event in answer.events] == [COMMIT, COMMIT, UPDATE]
    assert attributes(answer.events[0])["block_num"] == "2"
    assert get(names[0], "f" * 128).status == ClientEventsGetResponse.UNKNOWN_BLOCK
    many = get(*names * GET_BLOCKS_MAX)
    assert many.status == ClientEventsGetResponse.INTERNAL_ERROR


def test_who_does_not_read_holds_nobody_up(node: Node) -> None:
    """Much more is told than sockets hold; the one who reads hears it all, at once."""
    payload_names = [f"n{number}" for number in range(200)]
    with connected(node.component, RCVHWM=1, RCVBUF=4096) as deaf, connected(node.component) as ear:
        for peer in (deaf, ear):
            assert peer.subscribe(wanted(DELTA), wanted(COMMIT)).status == OK
        for block in range(40):
            names = [f"{block}-{name}" for name in payload_names]
            node.commit(build_batch(SIGNER, [intkey(SIGNER, "set", name, 1) for name in names]))
            assert attributes(ear.events()[0])["block_num"] == str(block + 1)
        assert deaf.receive().message_type == Message.CLIENT_EVENTS
    assert connections.STALL_MAX_S < connections.SILENCE_MAX_S


def test_a_subscriber_of_a_restarted_node_goes_on(tmp_path: Path) -> None:
    options = [*recorded_options(tmp_path), "--component", "tcp://127.0.0.1:0"]
    with running(tmp_path / "data", *options) as node, connected(node.component) as peer:
        peer.subscribe(wanted(COMMIT))
        node.commit(intkey_batch(SIGNER, 0))
        last = attributes(peer.events()[0])["block_id"]
        node.commit(intkey_batch(SIGNER, 1))
        assert node.stop() == 0
    with running(tmp_path / "data", *options) as node, connected(node.component) as peer:
        assert peer.subscribe(wanted(COMMIT), known=(last,)).status == OK
        assert attributes(peer.events()[0])["block_num"] == "2"
