"""`wayseal-tp` while its validator gives up the block that a transaction is executed for.

A Sawtooth validator does so whenever another block comes first. The state of such a
transaction then is lost: no entry at all, where nothing is stored there is one without data.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import zmq
from google.protobuf.message import Message as Content

from contracts.actions.payload import FAMILIES
from contracts.proto.component_pb2 import (
    Message,
    TpEventAddResponse,
    TpProcessRequest,
    TpProcessResponse,
    TpRegisterResponse,
    TpStateEntry,
    TpStateGetRequest,
    TpStateGetResponse,
    TpStateSetResponse,
)
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.rules.ids import Rule
from support.ledgers.component_peer import Kind
from support.ledgers.hosts import DirectHost
from support.ledgers.processors import WAIT_S, wayseal_processor
from support.network.world import registrations

pytestmark = pytest.mark.integration

REGISTERED = TpRegisterResponse(status=TpRegisterResponse.OK, protocol_version=1)
ACTIONS = [batch.transactions[0] for batch in registrations()]
OFFER = ACTIONS[-2]
"""The seller's word on a delivery, which reads state and announces an event."""


class Validator:
    """Executes one transaction at the processor that registers, on the state it is given."""

    def __init__(self, router: "zmq.Socket[bytes]") -> None:
        self._router = router
        self._peer = b""
        self.state: dict[str, bytes] | None = {}
        self.takes_events = True

    def accept(self) -> None:
        """Take the registration of each version."""
        for _ in FAMILIES:
            message = self._receive()
            assert message.message_type == Message.TP_REGISTER_REQUEST
            self._send(Message.TP_REGISTER_RESPONSE, REGISTERED, message.correlation_id)

    def execute(self, transaction: Transaction) -> TpProcessResponse:
        request = TpProcessRequest(
            header_bytes=transaction.header,
            payload=transaction.payload,
            signature=transaction.header_signature,
            context_id="c",
        )
        self._send(Message.TP_PROCESS_REQUEST, request, "task")
        while True:
            message = self._receive()
            if message.message_type == Message.TP_PROCESS_RESPONSE:
                return TpProcessResponse.FromString(message.content)
            kind, answer = self._answer(message)
            self._send(kind, answer, message.correlation_id)

    def _answer(self, message: Message) -> tuple[Kind, Content]:
        match message.message_type:
            case Message.TP_STATE_GET_REQUEST:
                return Message.TP_STATE_GET_RESPONSE, self._found(message.content)
            case Message.TP_STATE_SET_REQUEST:
                answer = TpStateSetResponse(status=TpStateSetResponse.OK)
                return Message.TP_STATE_SET_RESPONSE, answer
        assert message.message_type == Message.TP_EVENT_ADD_REQUEST
        status = TpEventAddResponse.OK if self.takes_events else TpEventAddResponse.ERROR
        return Message.TP_EVENT_ADD_RESPONSE, TpEventAddResponse(status=status)

    def _found(self, wire: bytes) -> TpStateGetResponse:
        places = TpStateGetRequest.FromString(wire).addresses
        state = self.state
        entries = (
            None
            if state is None
            else [TpStateEntry(address=place, data=state.get(place, b"")) for place in places]
        )
        return TpStateGetResponse(status=TpStateGetResponse.OK, entries=entries)

    def say(self, wire: bytes) -> None:
        """Send bytes that need be no message."""
        self._router.send_multipart([self._peer, wire])

    def _receive(self) -> Message:
        assert self._router.poll(WAIT_S * 1000), "nothing came"
        self._peer, wire = self._router.recv_multipart()
        return Message.FromString(wire)

    def _send(self, kind: Kind, content: Content, name: str) -> None:
        wire = content.SerializeToString()
        message = Message(message_type=kind, correlation_id=name, content=wire)
        self._router.send_multipart([self._peer, message.SerializeToString()])


@contextmanager
def validator(directory: Path) -> Iterator[Validator]:
    """Run `wayseal-tp` at a validator of ours."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        router.linger = 0
        port = router.bind_to_random_port("tcp://127.0.0.1")
        with wayseal_processor(f"tcp://127.0.0.1:{port}", directory) as processor:
            made = Validator(router)
            made.accept()
            processor.ready()
            yield made


def test_what_is_lost_is_no_reason_to_refuse(tmp_path: Path) -> None:
    with validator(tmp_path) as made:
        made.state = None
        for transaction in ACTIONS:
            assert made.execute(transaction).status == TpProcessResponse.OK
        made.state = {}
        refused = made.execute(OFFER)
        assert refused.status == TpProcessResponse.INVALID_TRANSACTION
        assert refused.message.startswith(Rule.NOT_THE_PARTY)


def test_neither_is_an_event_that_nobody_takes(tmp_path: Path) -> None:
    before = DirectHost()
    before.apply_all(registrations()[:-2])
    with validator(tmp_path) as made:
        made.state = before.dump()
        made.takes_events = False
        assert made.execute(OFFER).status == TpProcessResponse.OK
        assert "Traceback" not in (tmp_path / "wayseal-tp.stderr").read_text()


GARBAGE: Final = {
    "no message": b"\xff\xff",
    "an unknown type": b"\x08\x8f\x4e",
    "a malformed request": Message(
        message_type=Message.TP_PROCESS_REQUEST, correlation_id="x", content=b"\xff\xff"
    ).SerializeToString(),
}


@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_no_validator_says_does_not_silence_it(tmp_path: Path, garbage: str) -> None:
    with validator(tmp_path) as made:
        made.say(GARBAGE[garbage])
        made.state = {}
        assert made.execute(ACTIONS[0]).status == TpProcessResponse.INVALID_TRANSACTION
