from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class HoldEndBody(_message.Message):
    __slots__ = ("number", "before_sha256", "site_id", "trip_id", "recording_sha256", "held_for", "held_for_count", "who", "role", "why", "ended_at_ms", "block_num", "block_id", "genesis_id")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_SHA256_FIELD_NUMBER: _ClassVar[int]
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDING_SHA256_FIELD_NUMBER: _ClassVar[int]
    HELD_FOR_FIELD_NUMBER: _ClassVar[int]
    HELD_FOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_NUM_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    GENESIS_ID_FIELD_NUMBER: _ClassVar[int]
    number: int
    before_sha256: bytes
    site_id: str
    trip_id: str
    recording_sha256: bytes
    held_for: _containers.RepeatedScalarFieldContainer[str]
    held_for_count: int
    who: str
    role: str
    why: str
    ended_at_ms: int
    block_num: int
    block_id: str
    genesis_id: str
    def __init__(self, number: _Optional[int] = ..., before_sha256: _Optional[bytes] = ..., site_id: _Optional[str] = ..., trip_id: _Optional[str] = ..., recording_sha256: _Optional[bytes] = ..., held_for: _Optional[_Iterable[str]] = ..., held_for_count: _Optional[int] = ..., who: _Optional[str] = ..., role: _Optional[str] = ..., why: _Optional[str] = ..., ended_at_ms: _Optional[int] = ..., block_num: _Optional[int] = ..., block_id: _Optional[str] = ..., genesis_id: _Optional[str] = ...) -> None: ...

class HoldEnd(_message.Message):
    __slots__ = ("body", "gateway_public_key", "signature")
    BODY_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    gateway_public_key: str
    signature: str
    def __init__(self, body: _Optional[bytes] = ..., gateway_public_key: _Optional[str] = ..., signature: _Optional[str] = ...) -> None: ...
