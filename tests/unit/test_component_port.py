"""Peers of the component port that are silent, deaf or stuck: found, and hung up on."""

import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import zmq

from contracts.keys import Signer
from contracts.ledger.component import connections, events
from contracts.ledger.component import contexts as contexts_module
from contracts.ledger.component import registry as registry_module
from contracts.ledger.component.listening import Listening
from contracts.ledger.component.port import Port
from contracts.ledger.execution.executor import (
    EFFECT_BYTES_MAX,
    InvalidTransaction,
    Read,
    TransactionContext,
)
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.execution.jobs import Answer, Job, Lost
from contracts.ledger.execution.verify import verify_batch
from contracts.proto.component_pb2 import (
    ClientEventsSubscribeResponse,
    EventFilter,
    Message,
    PingRequest,
    PingResponse,
    TpEventAddRequest,
    TpEventAddResponse,
    TpProcessResponse,
    TpRegisterResponse,
    TpStateEntry,
    TpStateGetRequest,
    TpStateGetResponse,
    TpStateSetRequest,
    TpStateSetResponse,
)
from contracts.proto.sawtooth_pb2 import Event
from contracts.sawtooth.batches import build_batch, parse_header
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from contracts.sawtooth.settings import propose
from support.ledgers.component_peer import Peer, connected, wanted
from support.ledgers.intkey_node import address_of
from support.ledgers.memory_engine import MemoryEngine
from support.ledgers.nodes import WAIT_S, intkey

SIGNER = Signer.from_hex("11" * 32)
OK = TpProcessResponse(status=TpProcessResponse.OK).SerializeToString()


@pytest.fixture
def engine() -> MemoryEngine:
    """Makes the blocks that subscribers hear of; the integration tests have the node's."""
    return MemoryEngine(SIGNER, BUILT_IN)


@pytest.fixture
def port(engine: MemoryEngine) -> Iterator[Port]:
    made = Port(Listening("tcp://127.0.0.1:0"), BUILT_IN)
    made.start(engine, lambda _: None)
    yield made
    made.stop()


class Task:
    """A transaction to execute, and what became of it."""

    def __init__(
        self, port: Port, room: int = EFFECT_BYTES_MAX, read: Read = lambda _: None
    ) -> None:
        transaction = intkey(SIGNER, "set", "a", 1)
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        header = parse_header(transaction)
        header.inputs.append("")
        port.process(Job(transaction, header, read, self._answers.put, room))

    def answer(self) -> Answer:
        return self._answers.get(timeout=WAIT_S)


@contextmanager
def watched(peer: Peer) -> Iterator["zmq.Socket[bytes]"]:
    """Return a socket that hears when the peer's connection ends."""
    monitor = peer.dealer.get_monitor_socket(zmq.EVENT_DISCONNECTED)
    try:
        yield monitor
    finally:
        peer.dealer.disable_monitor()
        monitor.close(linger=0)


def test_nobody_to_execute_it(port: Port) -> None:
    assert Task(port).answer() == Lost()


def test_a_silent_processor_is_pinged_then_given_up(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr(connections, "SILENCE_MAX_S", 3.0)
    with connected(port.endpoint) as peer, watched(peer) as monitor:
        peer.register("intkey")
        task = Task(port)
        assert peer.receive().message_type == Message.TP_PROCESS_REQUEST
        assert peer.receive().message_type == Message.PING_REQUEST
        assert task.answer() == Lost()
        assert monitor.poll(WAIT_S * 1000)


def test_a_processor_that_answers_pings_stays(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEARTBEAT_S", 0.05)
    with connected(port.endpoint) as peer:
        peer.register("intkey")
        for _ in range(5):
            ping = peer.receive()
            assert ping.message_type == Message.PING_REQUEST
            content = PingResponse().SerializeToString()
            peer.send(Message.PING_RESPONSE, content, ping.correlation_id)
        task = Task(port)
        while (message := peer.receive()).message_type != Message.TP_PROCESS_REQUEST:
            pass
        peer.send(Message.TP_PROCESS_RESPONSE, OK, message.correlation_id)
        assert isinstance(task.answer(), TransactionContext)


def test_a_quiet_peer_makes_room_for_another(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PEERS_MAX", 2)
    with (
        connected(port.endpoint) as quiet,
        connected(port.endpoint) as other,
        connected(port.endpoint) as late,
        watched(quiet) as monitor,
    ):
        for peer in (quiet, other):
            assert peer.register("intkey").status == TpRegisterResponse.OK
        assert late.register("intkey").status == TpRegisterResponse.ERROR
        assert late.subscribe(wanted("x")).status != ClientEventsSubscribeResponse.OK
        other.ask(Message.PING_REQUEST, PingRequest(), PingResponse)
        monkeypatch.setattr(connections, "QUIET_S", 0.0)
        assert late.register("intkey").status == TpRegisterResponse.OK
        assert monitor.poll(WAIT_S * 1000)
        other.ask(Message.PING_REQUEST, PingRequest(), PingResponse)


def test_a_stuck_processor_is_hung_up_on(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "PROCESS_TIMEOUT_S", 0.2)
    monkeypatch.setattr(registry_module, "INTERNAL_ERROR_BACK_OFF_S", (0.01,))
    with connected(port.endpoint) as stuck, watched(stuck) as monitor:
        stuck.register("intkey")
        task = Task(port)
        assert monitor.poll(WAIT_S * 1000)
        assert task.answer() == Lost()
        with connected(port.endpoint) as again:
            again.register("intkey")
            lost = Task(port)
            again.task()
            assert lost.answer() == Lost()


def test_only_the_stuck_processor_is_hung_up_on(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two transactions that are due at once are lost by one processor, not by the next one too."""
    monkeypatch.setattr(registry_module, "PROCESS_TIMEOUT_S", 1.0)
    monkeypatch.setattr(registry_module, "INTERNAL_ERROR_BACK_OFF_S", (0.01,))
    with connected(port.endpoint) as stuck, connected(port.endpoint) as other:
        for peer in (stuck, other):
            peer.register("intkey")
        tasks = [Task(port) for _ in range(4)]  # the processors take turns
        for _ in range(2):
            other.send(Message.TP_PROCESS_RESPONSE, OK, other.task()[0])
        for task in (tasks[1], tasks[3]):
            assert isinstance(task.answer(), TransactionContext)
        transaction = intkey(SIGNER, "set", "a", 1)
        header = parse_header(transaction)
        header.family_name = "unknown"
        # It is answered in the port's thread, which so finds both transactions due in one turn.
        port.process(Job(transaction, header, lambda _: None, lambda _: time.sleep(1.2), 0))
        for _ in range(2):
            other.send(Message.TP_PROCESS_RESPONSE, OK, other.task()[0])
        for task in (tasks[0], tasks[2]):
            assert isinstance(task.answer(), TransactionContext)


def test_a_transaction_that_is_always_stuck_is_invalid(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "PROCESS_TIMEOUT_S", 0.2)
    monkeypatch.setattr(registry_module, "INTERNAL_ERROR_BACK_OFF_S", ())
    with connected(port.endpoint) as peer:
        peer.register("intkey")
        answer = Task(port).answer()
    assert isinstance(answer, InvalidTransaction)
    assert answer.message == "no answer in 0 s"


def test_a_lost_processor_s_late_answer_means_nothing(port: Port) -> None:
    with connected(port.endpoint) as peer:
        peer.register("intkey")
        task = Task(port)
        name, _ = peer.task()
        with connected(port.endpoint) as other:
            other.register("intkey")
            other.send(Message.TP_PROCESS_RESPONSE, OK, name)
            other.send(Message.TP_PROCESS_RESPONSE, OK, "nobody asked")
            peer.dealer.close()
            name, _ = other.task()
            other.send(Message.TP_PROCESS_RESPONSE, OK, name)
            assert isinstance(task.answer(), TransactionContext)


def test_a_deaf_subscriber_is_hung_up_on(
    engine: MemoryEngine,
    port: Port,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(connections, "STALL_MAX_S", 0.5)
    for number in range(60):
        big = propose(SIGNER, "a.b.c", str(number) * 200_000)
        engine.submit([verify_batch(build_batch(SIGNER, [big]))], 0)
    with (
        connected(port.endpoint, RCVHWM=1, RCVBUF=4096) as deaf,
        watched(deaf) as monitor,
        connected(port.endpoint) as ear,
    ):
        for peer in (deaf, ear):
            answer = peer.subscribe(wanted("sawtooth/state-delta"), known=(NULL_BLOCK_ID,))
            assert answer.status == ClientEventsSubscribeResponse.OK
        for _ in range(61):
            ear.events()
        while "not reading" not in caplog.text:
            pass
        heard = 0
        while not monitor.poll(0):  # what was on its way comes before the end
            if deaf.dealer.poll(10):
                heard += len(deaf.events())
        assert heard < 61


def test_effects_are_bounded(port: Port) -> None:
    with connected(port.endpoint) as peer:
        peer.register("intkey")
        task = Task(port, room=1_000)
        name, request = peer.task()
        entry = TpStateEntry(address=address_of("a"), data=bytes(600))
        put = TpStateSetRequest(context_id=request.context_id, entries=[entry])
        kind = Message.TP_STATE_SET_REQUEST
        assert peer.ask(kind, put, TpStateSetResponse).status == TpStateSetResponse.OK
        refused = peer.ask(kind, put, TpStateSetResponse)
        assert refused.status == TpStateSetResponse.AUTHORIZATION_ERROR
        add = TpEventAddRequest(context_id=request.context_id, event=Event(data=bytes(600)))
        event = peer.ask(Message.TP_EVENT_ADD_REQUEST, add, TpEventAddResponse)
        assert event.status == TpEventAddResponse.ERROR
        peer.send(Message.TP_PROCESS_RESPONSE, OK, name)
        refusal = task.answer()
        assert isinstance(refusal, InvalidTransaction)
        assert refusal.message == f"effects of a batch beyond {EFFECT_BYTES_MAX} bytes"


def test_state_in_one_answer_is_bounded(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts_module, "STATE_ANSWER_BYTES_MAX", 1_000)
    read: list[str] = []

    def large(place: str) -> bytes:
        read.append(place)
        return bytes(400)

    one, two, *more = (f"{number:02x}" * 35 for number in range(100))
    with connected(port.endpoint) as peer:
        peer.register("intkey")
        task = Task(port, read=large)
        name, request = peer.task()
        kind = Message.TP_STATE_GET_REQUEST
        get = TpStateGetRequest(context_id=request.context_id, addresses=[one, two, one] * 50)
        got = peer.ask(kind, get, TpStateGetResponse)
        assert got.status == TpStateGetResponse.OK
        assert [entry.address for entry in got.entries] == [one, two]
        get = TpStateGetRequest(context_id=request.context_id, addresses=more)
        refused = peer.ask(kind, get, TpStateGetResponse)
        assert refused == TpStateGetResponse(status=TpStateGetResponse.AUTHORIZATION_ERROR)
        assert read == [one, two, *more[:3]]
        peer.send(Message.TP_PROCESS_RESPONSE, OK, name)
        refusal = task.answer()
        assert isinstance(refusal, InvalidTransaction)
        assert refusal.message == "asked for more than 1000 bytes of state at once"


def test_filters_are_counted_before_they_cost(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(events, "_compile", cost)
    filters = [EventFilter(match_string="a+b*")] * (events.FILTERS_MAX + 1)
    with connected(port.endpoint) as peer:
        answer = peer.subscribe(wanted("e", *filters))
    assert answer.status == ClientEventsSubscribeResponse.INVALID_FILTER


def test_a_stranger_that_says_nothing_is_hung_up_on(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(port.endpoint) as known, watched(known) as known_ends:
        known.register("intkey")
        monkeypatch.setattr(connections, "STRANGER_MAX_S", 0.1)
        with connected(port.endpoint) as stranger, watched(stranger) as ends:
            assert ends.poll(WAIT_S * 1000)
        task = Task(port)
        name, _ = known.task()
        known.send(Message.TP_PROCESS_RESPONSE, OK, name)
        assert isinstance(task.answer(), TransactionContext)
        assert not known_ends.poll(0)
