"""Answers each type of message; unknown types are ignored, as the validator does."""

import logging
from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from google.protobuf.message import Message as Content

from contracts.ledger.component import contexts
from contracts.ledger.component.connections import Connections
from contracts.ledger.component.registry import Registry
from contracts.ledger.component.subscribers import Subscribers
from contracts.ledger.execution.executor import TransactionContext
from contracts.proto.component_pb2 import (
    ClientEventsGetRequest,
    ClientEventsSubscribeRequest,
    ClientEventsUnsubscribeResponse,
    Message,
    PingResponse,
    TpEventAddRequest,
    TpProcessResponse,
    TpReceiptAddDataRequest,
    TpRegisterRequest,
    TpStateDeleteRequest,
    TpStateGetRequest,
    TpStateSetRequest,
    TpUnregisterResponse,
)

_LOG = logging.getLogger(__name__)

_ANSWERED_BY: Final = {
    kind: Message.MessageType.Value(name.replace("REQUEST", "RESPONSE"))
    for name, kind in Message.MessageType.items()
    if name.endswith("REQUEST")
}

_Answer = Callable[[bytes, bytes], Content]
"""Takes the identity of the sender, and the content of the request."""
_Request = TypeVar(
    "_Request",
    TpStateGetRequest,
    TpStateSetRequest,
    TpStateDeleteRequest,
    TpEventAddRequest,
    TpReceiptAddDataRequest,
)
_InContext = Callable[[TransactionContext | None, _Request], Content]


class Dispatcher:
    """Answers messages.

    Args:
        connections: Sends the answers.
        registry: Answers transaction processors.
        subscribers: Answers event subscribers.
    """

    def __init__(
        self, connections: Connections, registry: Registry, subscribers: Subscribers
    ) -> None:
        self._connections = connections
        self._registry = registry
        self._subscribers = subscribers
        self._answers: Final[Mapping[int, _Answer]] = {
            Message.PING_REQUEST: lambda _, __: PingResponse(),
            Message.TP_UNREGISTER_REQUEST: self._unregister,
            Message.TP_STATE_GET_REQUEST: self._in_context(TpStateGetRequest, contexts.get),
            Message.TP_STATE_SET_REQUEST: self._in_context(TpStateSetRequest, contexts.put),
            Message.TP_STATE_DELETE_REQUEST: self._in_context(
                TpStateDeleteRequest, contexts.delete
            ),
            Message.TP_EVENT_ADD_REQUEST: self._in_context(TpEventAddRequest, contexts.add_event),
            Message.TP_RECEIPT_ADD_DATA_REQUEST: self._in_context(
                TpReceiptAddDataRequest, contexts.add_data
            ),
            Message.CLIENT_EVENTS_SUBSCRIBE_REQUEST: self._subscribe,
            Message.CLIENT_EVENTS_UNSUBSCRIBE_REQUEST: self._unsubscribe,
            Message.CLIENT_EVENTS_GET_REQUEST: self._events,
        }

    def handle(self, who: bytes, message: Message) -> None:
        """Answer one message.

        Raises:
            DecodeError: Its content is not of its type.
            UnavailableError: The chain cannot be read.
        """
        if message.message_type == Message.TP_PROCESS_RESPONSE:
            answer = TpProcessResponse.FromString(message.content)
            self._registry.answered(who, message.correlation_id, answer)
        elif message.message_type == Message.TP_REGISTER_REQUEST:
            request = TpRegisterRequest.FromString(message.content)
            self._registry.register(who, message.correlation_id, request)
        elif message.message_type in self._answers:
            content = self._answers[message.message_type](who, message.content)
            kind = cast("Message.MessageType", _ANSWERED_BY[message.message_type])
            self._connections.send(who, kind, content, message.correlation_id)
        else:
            _LOG.debug("message of unknown type %d", message.message_type)

    def _unregister(self, who: bytes, _: bytes) -> Content:
        self._registry.unregister(who)
        return TpUnregisterResponse(status=TpUnregisterResponse.OK)

    def _in_context(self, kind: type[_Request], answer: _InContext[_Request]) -> _Answer:
        """Return a function that answers requests in the context of a transaction."""

        def on(who: bytes, content: bytes) -> Content:
            request = kind.FromString(content)
            return answer(self._registry.context(who, request.context_id), request)

        return on

    def _subscribe(self, who: bytes, content: bytes) -> Content:
        return self._subscribers.subscribe(who, ClientEventsSubscribeRequest.FromString(content))

    def _unsubscribe(self, who: bytes, _: bytes) -> Content:
        self._subscribers.remove(who)
        return ClientEventsUnsubscribeResponse(status=ClientEventsUnsubscribeResponse.OK)

    def _events(self, _: bytes, content: bytes) -> Content:
        return self._subscribers.get(ClientEventsGetRequest.FromString(content))
