from contracts.proto import sawtooth_pb2 as _sawtooth_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Message(_message.Message):
    __slots__ = ("message_type", "correlation_id", "content")
    class MessageType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[Message.MessageType]
        TP_REGISTER_REQUEST: _ClassVar[Message.MessageType]
        TP_REGISTER_RESPONSE: _ClassVar[Message.MessageType]
        TP_UNREGISTER_REQUEST: _ClassVar[Message.MessageType]
        TP_UNREGISTER_RESPONSE: _ClassVar[Message.MessageType]
        TP_PROCESS_REQUEST: _ClassVar[Message.MessageType]
        TP_PROCESS_RESPONSE: _ClassVar[Message.MessageType]
        TP_STATE_GET_REQUEST: _ClassVar[Message.MessageType]
        TP_STATE_GET_RESPONSE: _ClassVar[Message.MessageType]
        TP_STATE_SET_REQUEST: _ClassVar[Message.MessageType]
        TP_STATE_SET_RESPONSE: _ClassVar[Message.MessageType]
        TP_STATE_DELETE_REQUEST: _ClassVar[Message.MessageType]
        TP_STATE_DELETE_RESPONSE: _ClassVar[Message.MessageType]
        TP_RECEIPT_ADD_DATA_REQUEST: _ClassVar[Message.MessageType]
        TP_RECEIPT_ADD_DATA_RESPONSE: _ClassVar[Message.MessageType]
        TP_EVENT_ADD_REQUEST: _ClassVar[Message.MessageType]
        TP_EVENT_ADD_RESPONSE: _ClassVar[Message.MessageType]
        CLIENT_EVENTS_SUBSCRIBE_REQUEST: _ClassVar[Message.MessageType]
        CLIENT_EVENTS_SUBSCRIBE_RESPONSE: _ClassVar[Message.MessageType]
        CLIENT_EVENTS_UNSUBSCRIBE_REQUEST: _ClassVar[Message.MessageType]
        CLIENT_EVENTS_UNSUBSCRIBE_RESPONSE: _ClassVar[Message.MessageType]
        CLIENT_EVENTS: _ClassVar[Message.MessageType]
        CLIENT_EVENTS_GET_REQUEST: _ClassVar[Message.MessageType]
        CLIENT_EVENTS_GET_RESPONSE: _ClassVar[Message.MessageType]
        PING_REQUEST: _ClassVar[Message.MessageType]
        PING_RESPONSE: _ClassVar[Message.MessageType]
    DEFAULT: Message.MessageType
    TP_REGISTER_REQUEST: Message.MessageType
    TP_REGISTER_RESPONSE: Message.MessageType
    TP_UNREGISTER_REQUEST: Message.MessageType
    TP_UNREGISTER_RESPONSE: Message.MessageType
    TP_PROCESS_REQUEST: Message.MessageType
    TP_PROCESS_RESPONSE: Message.MessageType
    TP_STATE_GET_REQUEST: Message.MessageType
    TP_STATE_GET_RESPONSE: Message.MessageType
    TP_STATE_SET_REQUEST: Message.MessageType
    TP_STATE_SET_RESPONSE: Message.MessageType
    TP_STATE_DELETE_REQUEST: Message.MessageType
    TP_STATE_DELETE_RESPONSE: Message.MessageType
    TP_RECEIPT_ADD_DATA_REQUEST: Message.MessageType
    TP_RECEIPT_ADD_DATA_RESPONSE: Message.MessageType
    TP_EVENT_ADD_REQUEST: Message.MessageType
    TP_EVENT_ADD_RESPONSE: Message.MessageType
    CLIENT_EVENTS_SUBSCRIBE_REQUEST: Message.MessageType
    CLIENT_EVENTS_SUBSCRIBE_RESPONSE: Message.MessageType
    CLIENT_EVENTS_UNSUBSCRIBE_REQUEST: Message.MessageType
    CLIENT_EVENTS_UNSUBSCRIBE_RESPONSE: Message.MessageType
    CLIENT_EVENTS: Message.MessageType
    CLIENT_EVENTS_GET_REQUEST: Message.MessageType
    CLIENT_EVENTS_GET_RESPONSE: Message.MessageType
    PING_REQUEST: Message.MessageType
    PING_RESPONSE: Message.MessageType
    MESSAGE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    message_type: Message.MessageType
    correlation_id: str
    content: bytes
    def __init__(self, message_type: _Optional[_Union[Message.MessageType, str]] = ..., correlation_id: _Optional[str] = ..., content: _Optional[bytes] = ...) -> None: ...

class PingRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PingResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TpRegisterRequest(_message.Message):
    __slots__ = ("family", "version", "namespaces", "max_occupancy", "protocol_version", "request_header_style")
    class TpProcessRequestHeaderStyle(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        HEADER_STYLE_UNSET: _ClassVar[TpRegisterRequest.TpProcessRequestHeaderStyle]
        EXPANDED: _ClassVar[TpRegisterRequest.TpProcessRequestHeaderStyle]
        RAW: _ClassVar[TpRegisterRequest.TpProcessRequestHeaderStyle]
    HEADER_STYLE_UNSET: TpRegisterRequest.TpProcessRequestHeaderStyle
    EXPANDED: TpRegisterRequest.TpProcessRequestHeaderStyle
    RAW: TpRegisterRequest.TpProcessRequestHeaderStyle
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    MAX_OCCUPANCY_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_HEADER_STYLE_FIELD_NUMBER: _ClassVar[int]
    family: str
    version: str
    namespaces: _containers.RepeatedScalarFieldContainer[str]
    max_occupancy: int
    protocol_version: int
    request_header_style: TpRegisterRequest.TpProcessRequestHeaderStyle
    def __init__(self, family: _Optional[str] = ..., version: _Optional[str] = ..., namespaces: _Optional[_Iterable[str]] = ..., max_occupancy: _Optional[int] = ..., protocol_version: _Optional[int] = ..., request_header_style: _Optional[_Union[TpRegisterRequest.TpProcessRequestHeaderStyle, str]] = ...) -> None: ...

class TpRegisterResponse(_message.Message):
    __slots__ = ("status", "protocol_version")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpRegisterResponse.Status]
        OK: _ClassVar[TpRegisterResponse.Status]
        ERROR: _ClassVar[TpRegisterResponse.Status]
    STATUS_UNSET: TpRegisterResponse.Status
    OK: TpRegisterResponse.Status
    ERROR: TpRegisterResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    status: TpRegisterResponse.Status
    protocol_version: int
    def __init__(self, status: _Optional[_Union[TpRegisterResponse.Status, str]] = ..., protocol_version: _Optional[int] = ...) -> None: ...

class TpUnregisterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TpUnregisterResponse(_message.Message):
    __slots__ = ("status",)
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpUnregisterResponse.Status]
        OK: _ClassVar[TpUnregisterResponse.Status]
        ERROR: _ClassVar[TpUnregisterResponse.Status]
    STATUS_UNSET: TpUnregisterResponse.Status
    OK: TpUnregisterResponse.Status
    ERROR: TpUnregisterResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: TpUnregisterResponse.Status
    def __init__(self, status: _Optional[_Union[TpUnregisterResponse.Status, str]] = ...) -> None: ...

class TpProcessRequest(_message.Message):
    __slots__ = ("header", "payload", "signature", "context_id", "header_bytes")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    HEADER_BYTES_FIELD_NUMBER: _ClassVar[int]
    header: _sawtooth_pb2.TransactionHeader
    payload: bytes
    signature: str
    context_id: str
    header_bytes: bytes
    def __init__(self, header: _Optional[_Union[_sawtooth_pb2.TransactionHeader, _Mapping]] = ..., payload: _Optional[bytes] = ..., signature: _Optional[str] = ..., context_id: _Optional[str] = ..., header_bytes: _Optional[bytes] = ...) -> None: ...

class TpProcessResponse(_message.Message):
    __slots__ = ("status", "message", "extended_data")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpProcessResponse.Status]
        OK: _ClassVar[TpProcessResponse.Status]
        INVALID_TRANSACTION: _ClassVar[TpProcessResponse.Status]
        INTERNAL_ERROR: _ClassVar[TpProcessResponse.Status]
    STATUS_UNSET: TpProcessResponse.Status
    OK: TpProcessResponse.Status
    INVALID_TRANSACTION: TpProcessResponse.Status
    INTERNAL_ERROR: TpProcessResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EXTENDED_DATA_FIELD_NUMBER: _ClassVar[int]
    status: TpProcessResponse.Status
    message: str
    extended_data: bytes
    def __init__(self, status: _Optional[_Union[TpProcessResponse.Status, str]] = ..., message: _Optional[str] = ..., extended_data: _Optional[bytes] = ...) -> None: ...

class TpStateEntry(_message.Message):
    __slots__ = ("address", "data")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    address: str
    data: bytes
    def __init__(self, address: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class TpStateGetRequest(_message.Message):
    __slots__ = ("context_id", "addresses")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    addresses: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, context_id: _Optional[str] = ..., addresses: _Optional[_Iterable[str]] = ...) -> None: ...

class TpStateGetResponse(_message.Message):
    __slots__ = ("entries", "status")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpStateGetResponse.Status]
        OK: _ClassVar[TpStateGetResponse.Status]
        AUTHORIZATION_ERROR: _ClassVar[TpStateGetResponse.Status]
    STATUS_UNSET: TpStateGetResponse.Status
    OK: TpStateGetResponse.Status
    AUTHORIZATION_ERROR: TpStateGetResponse.Status
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[TpStateEntry]
    status: TpStateGetResponse.Status
    def __init__(self, entries: _Optional[_Iterable[_Union[TpStateEntry, _Mapping]]] = ..., status: _Optional[_Union[TpStateGetResponse.Status, str]] = ...) -> None: ...

class TpStateSetRequest(_message.Message):
    __slots__ = ("context_id", "entries")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    entries: _containers.RepeatedCompositeFieldContainer[TpStateEntry]
    def __init__(self, context_id: _Optional[str] = ..., entries: _Optional[_Iterable[_Union[TpStateEntry, _Mapping]]] = ...) -> None: ...

class TpStateSetResponse(_message.Message):
    __slots__ = ("addresses", "status")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpStateSetResponse.Status]
        OK: _ClassVar[TpStateSetResponse.Status]
        AUTHORIZATION_ERROR: _ClassVar[TpStateSetResponse.Status]
    STATUS_UNSET: TpStateSetResponse.Status
    OK: TpStateSetResponse.Status
    AUTHORIZATION_ERROR: TpStateSetResponse.Status
    ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    addresses: _containers.RepeatedScalarFieldContainer[str]
    status: TpStateSetResponse.Status
    def __init__(self, addresses: _Optional[_Iterable[str]] = ..., status: _Optional[_Union[TpStateSetResponse.Status, str]] = ...) -> None: ...

class TpStateDeleteRequest(_message.Message):
    __slots__ = ("context_id", "addresses")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    addresses: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, context_id: _Optional[str] = ..., addresses: _Optional[_Iterable[str]] = ...) -> None: ...

class TpStateDeleteResponse(_message.Message):
    __slots__ = ("addresses", "status")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpStateDeleteResponse.Status]
        OK: _ClassVar[TpStateDeleteResponse.Status]
        AUTHORIZATION_ERROR: _ClassVar[TpStateDeleteResponse.Status]
    STATUS_UNSET: TpStateDeleteResponse.Status
    OK: TpStateDeleteResponse.Status
    AUTHORIZATION_ERROR: TpStateDeleteResponse.Status
    ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    addresses: _containers.RepeatedScalarFieldContainer[str]
    status: TpStateDeleteResponse.Status
    def __init__(self, addresses: _Optional[_Iterable[str]] = ..., status: _Optional[_Union[TpStateDeleteResponse.Status, str]] = ...) -> None: ...

class TpReceiptAddDataRequest(_message.Message):
    __slots__ = ("context_id", "data")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    data: bytes
    def __init__(self, context_id: _Optional[str] = ..., data: _Optional[bytes] = ...) -> None: ...

class TpReceiptAddDataResponse(_message.Message):
    __slots__ = ("status",)
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpReceiptAddDataResponse.Status]
        OK: _ClassVar[TpReceiptAddDataResponse.Status]
        ERROR: _ClassVar[TpReceiptAddDataResponse.Status]
    STATUS_UNSET: TpReceiptAddDataResponse.Status
    OK: TpReceiptAddDataResponse.Status
    ERROR: TpReceiptAddDataResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: TpReceiptAddDataResponse.Status
    def __init__(self, status: _Optional[_Union[TpReceiptAddDataResponse.Status, str]] = ...) -> None: ...

class TpEventAddRequest(_message.Message):
    __slots__ = ("context_id", "event")
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    context_id: str
    event: _sawtooth_pb2.Event
    def __init__(self, context_id: _Optional[str] = ..., event: _Optional[_Union[_sawtooth_pb2.Event, _Mapping]] = ...) -> None: ...

class TpEventAddResponse(_message.Message):
    __slots__ = ("status",)
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[TpEventAddResponse.Status]
        OK: _ClassVar[TpEventAddResponse.Status]
        ERROR: _ClassVar[TpEventAddResponse.Status]
    STATUS_UNSET: TpEventAddResponse.Status
    OK: TpEventAddResponse.Status
    ERROR: TpEventAddResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: TpEventAddResponse.Status
    def __init__(self, status: _Optional[_Union[TpEventAddResponse.Status, str]] = ...) -> None: ...

class EventList(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_sawtooth_pb2.Event]
    def __init__(self, events: _Optional[_Iterable[_Union[_sawtooth_pb2.Event, _Mapping]]] = ...) -> None: ...

class EventFilter(_message.Message):
    __slots__ = ("key", "match_string", "filter_type")
    class FilterType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FILTER_TYPE_UNSET: _ClassVar[EventFilter.FilterType]
        SIMPLE_ANY: _ClassVar[EventFilter.FilterType]
        SIMPLE_ALL: _ClassVar[EventFilter.FilterType]
        REGEX_ANY: _ClassVar[EventFilter.FilterType]
        REGEX_ALL: _ClassVar[EventFilter.FilterType]
    FILTER_TYPE_UNSET: EventFilter.FilterType
    SIMPLE_ANY: EventFilter.FilterType
    SIMPLE_ALL: EventFilter.FilterType
    REGEX_ANY: EventFilter.FilterType
    REGEX_ALL: EventFilter.FilterType
    KEY_FIELD_NUMBER: _ClassVar[int]
    MATCH_STRING_FIELD_NUMBER: _ClassVar[int]
    FILTER_TYPE_FIELD_NUMBER: _ClassVar[int]
    key: str
    match_string: str
    filter_type: EventFilter.FilterType
    def __init__(self, key: _Optional[str] = ..., match_string: _Optional[str] = ..., filter_type: _Optional[_Union[EventFilter.FilterType, str]] = ...) -> None: ...

class EventSubscription(_message.Message):
    __slots__ = ("event_type", "filters")
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    event_type: str
    filters: _containers.RepeatedCompositeFieldContainer[EventFilter]
    def __init__(self, event_type: _Optional[str] = ..., filters: _Optional[_Iterable[_Union[EventFilter, _Mapping]]] = ...) -> None: ...

class StateChangeList(_message.Message):
    __slots__ = ("state_changes",)
    STATE_CHANGES_FIELD_NUMBER: _ClassVar[int]
    state_changes: _containers.RepeatedCompositeFieldContainer[_sawtooth_pb2.StateChange]
    def __init__(self, state_changes: _Optional[_Iterable[_Union[_sawtooth_pb2.StateChange, _Mapping]]] = ...) -> None: ...

class ClientEventsSubscribeRequest(_message.Message):
    __slots__ = ("subscriptions", "last_known_block_ids")
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    LAST_KNOWN_BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    subscriptions: _containers.RepeatedCompositeFieldContainer[EventSubscription]
    last_known_block_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, subscriptions: _Optional[_Iterable[_Union[EventSubscription, _Mapping]]] = ..., last_known_block_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ClientEventsSubscribeResponse(_message.Message):
    __slots__ = ("status", "response_message")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[ClientEventsSubscribeResponse.Status]
        OK: _ClassVar[ClientEventsSubscribeResponse.Status]
        INVALID_FILTER: _ClassVar[ClientEventsSubscribeResponse.Status]
        UNKNOWN_BLOCK: _ClassVar[ClientEventsSubscribeResponse.Status]
    STATUS_UNSET: ClientEventsSubscribeResponse.Status
    OK: ClientEventsSubscribeResponse.Status
    INVALID_FILTER: ClientEventsSubscribeResponse.Status
    UNKNOWN_BLOCK: ClientEventsSubscribeResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    status: ClientEventsSubscribeResponse.Status
    response_message: str
    def __init__(self, status: _Optional[_Union[ClientEventsSubscribeResponse.Status, str]] = ..., response_message: _Optional[str] = ...) -> None: ...

class ClientEventsUnsubscribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClientEventsUnsubscribeResponse(_message.Message):
    __slots__ = ("status",)
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[ClientEventsUnsubscribeResponse.Status]
        OK: _ClassVar[ClientEventsUnsubscribeResponse.Status]
        INTERNAL_ERROR: _ClassVar[ClientEventsUnsubscribeResponse.Status]
    STATUS_UNSET: ClientEventsUnsubscribeResponse.Status
    OK: ClientEventsUnsubscribeResponse.Status
    INTERNAL_ERROR: ClientEventsUnsubscribeResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: ClientEventsUnsubscribeResponse.Status
    def __init__(self, status: _Optional[_Union[ClientEventsUnsubscribeResponse.Status, str]] = ...) -> None: ...

class ClientEventsGetRequest(_message.Message):
    __slots__ = ("subscriptions", "block_ids")
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_IDS_FIELD_NUMBER: _ClassVar[int]
    subscriptions: _containers.RepeatedCompositeFieldContainer[EventSubscription]
    block_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, subscriptions: _Optional[_Iterable[_Union[EventSubscription, _Mapping]]] = ..., block_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ClientEventsGetResponse(_message.Message):
    __slots__ = ("status", "events")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[ClientEventsGetResponse.Status]
        OK: _ClassVar[ClientEventsGetResponse.Status]
        INTERNAL_ERROR: _ClassVar[ClientEventsGetResponse.Status]
        INVALID_FILTER: _ClassVar[ClientEventsGetResponse.Status]
        UNKNOWN_BLOCK: _ClassVar[ClientEventsGetResponse.Status]
    STATUS_UNSET: ClientEventsGetResponse.Status
    OK: ClientEventsGetResponse.Status
    INTERNAL_ERROR: ClientEventsGetResponse.Status
    INVALID_FILTER: ClientEventsGetResponse.Status
    UNKNOWN_BLOCK: ClientEventsGetResponse.Status
    STATUS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    status: ClientEventsGetResponse.Status
    events: _containers.RepeatedCompositeFieldContainer[_sawtooth_pb2.Event]
    def __init__(self, status: _Optional[_Union[ClientEventsGetResponse.Status, str]] = ..., events: _Optional[_Iterable[_Union[_sawtooth_pb2.Event, _Mapping]]] = ...) -> None: ...
