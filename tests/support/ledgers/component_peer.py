"""A peer at the component port without an SDK: the test chooses every message."""

import base64
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import zmq
from google.protobuf.message import Message as Content

from contracts.proto.component_pb2 import (
    ClientEventsSubscribeRequest,
    ClientEventsSubscribeResponse,
    EventFilter,
    EventList,
    EventSubscription,
    Message,
    TpProcessRequest,
    TpRegisterRequest,
    TpRegisterResponse,
)
from contracts.proto.sawtooth_pb2 import Event
from support.ledgers.nodes import GOLDEN, WAIT_S

_ContentT = TypeVar("_ContentT", bound=Content)
RECORDING: Final = GOLDEN / "zmq" / "intkey-tp-python.jsonl"
Kind = Message.MessageType


@dataclass(frozen=True, slots=True)
class Recorded:
    """One message as it was recorded."""

    from_client: bool
    kind: str
    correlation_id: str
    content: bytes


def recorded_messages() -> list[Recorded]:
    lines = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    return [
        Recorded(
            line["dir"].startswith("client"),
            line["type"],
            line["correlation_id"],
            base64.b64decode(line["content_b64"]),
        )
        for line in lines
    ]


class Peer:
    """One connection."""

    def __init__(self, dealer: "zmq.Socket[bytes]") -> None:
        self.dealer = dealer

    def send(self, kind: Kind | str, content: bytes, correlation_id: str) -> None:
        message = Message(message_type=kind, correlation_id=correlation_id, content=content)
        self.dealer.send(message.SerializeToString())

    def receive(self, timeout_s: float = WAIT_S) -> Message:
        """Return the next message, which has one frame."""
        assert self.dealer.poll(int(timeout_s * 1000)), "nothing came"
        (frame,) = self.dealer.recv_multipart()
        return Message.FromString(frame)

    def ask(self, kind: Kind, content: Content, answer: type[_ContentT]) -> _ContentT:
        """Return the answer to a request, which must be the next message."""
        name = uuid.uuid4().hex
        self.send(kind, content.SerializeToString(), name)
        message = self.receive()
        assert message.correlation_id == name
        assert message.message_type == kind + 1
        return answer.FromString(message.content)

    def register(
        self,
        family: str,
        version: str = "1.0",
        *,
        max_occupancy: int = 0,
        protocol_version: int = 0,
        raw: bool = False,
    ) -> TpRegisterResponse:
        request = TpRegisterRequest(
            family=family,
            version=version,
            max_occupancy=max_occupancy,
            protocol_version=protocol_version,
            request_header_style=TpRegisterRequest.RAW if raw else None,
        )
        return self.ask(Message.TP_REGISTER_REQUEST, request, TpRegisterResponse)

    def task(self) -> tuple[str, TpProcessRequest]:
        """Return the next transaction to execute, and how to name it in the answer."""
        message = self.receive()
        assert message.message_type == Message.TP_PROCESS_REQUEST
        return message.correlation_id, TpProcessRequest.FromString(message.content)

    def subscribe(
        self, *wanted: EventSubscription, known: tuple[str, ...] = ()
    ) -> ClientEventsSubscribeResponse:
        request = ClientEventsSubscribeRequest(subscriptions=wanted, last_known_block_ids=known)
        kind = Message.CLIENT_EVENTS_SUBSCRIBE_REQUEST
        return self.ask(kind, request, ClientEventsSubscribeResponse)

    def events(self) -> list[Event]:
        """Return the next list of events; answer pings, which a slow machine gives time for."""
        message = self.receive()
        while message.message_type == Message.PING_REQUEST:
            self.send(Message.PING_RESPONSE, b"", message.correlation_id)
            message = self.receive()
        assert message.message_type == Message.CLIENT_EVENTS
        return list(EventList.FromString(message.content).events)


def wanted(event_type: str, *filters: EventFilter) -> EventSubscription:
    return EventSubscription(event_type=event_type, filters=filters)


@contextmanager
def connected(endpoint: str, **options: int) -> Iterator[Peer]:
    """Connect to a component port."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 0
        for name, value in options.items():
            dealer.setsockopt(getattr(zmq, name), value)
        dealer.connect(endpoint)
        yield Peer(dealer)
