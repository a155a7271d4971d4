from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class DeletionBody(_message.Message):
    __slots__ = ("number", "before_sha256", "site_id", "recording_sha256", "size", "tree_root", "copies", "remaining", "rule", "reason", "decided_at_ms", "trip_ids", "block_num", "block_id", "genesis_id", "received", "hold_ends")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_SHA256_FIELD_NUMBER: _ClassVar[int]
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDING_SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    TREE_ROOT_FIELD_NUMBER: _ClassVar[int]
    COPIES_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    TRIP_IDS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_NUM_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    GENESIS_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    HOLD_ENDS_FIELD_NUMBER: _ClassVar[int]
    number: int
    before_sha256: bytes
    site_id: str
    recording_sha256: bytes
    size: int
    tree_root: bytes
    copies: _containers.RepeatedScalarFieldContainer[str]
    remaining: _containers.RepeatedScalarFieldContainer[str]
    rule: str
    reason: str
    decided_at_ms: int
    trip_ids: _containers.RepeatedScalarFieldContainer[str]
    block_num: int
    block_id: str
    genesis_id: str
    received: int
    hold_ends: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, number: _Optional[int] = ..., before_sha256: _Optional[bytes] = ..., site_id: _Optional[str] = ..., recording_sha256: _Optional[bytes] = ..., size: _Optional[int] = ..., tree_root: _Optional[bytes] = ..., copies: _Optional[_Iterable[str]] = ..., remaining: _Optional[_Iterable[str]] = ..., rule: _Optional[str] = ..., reason: _Optional[str] = ..., decided_at_ms: _Optional[int] = ..., trip_ids: _Optional[_Iterable[str]] = ..., block_num: _Optional[int] = ..., block_id: _Optional[str] = ..., genesis_id: _Optional[str] = ..., received: _Optional[int] = ..., hold_ends: _Optional[_Iterable[int]] = ...) -> None: ...

class Deletion(_message.Message):
    __slots__ = ("body", "gateway_public_key", "signature")
    BODY_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    gateway_public_key: str
    signature: str
    def __init__(self, body: _Optional[bytes] = ..., gateway_public_key: _Optional[str] = ..., signature: _Optional[str] = ...) -> None: ...
