from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Header(_message.Message):
    __slots__ = ("version", "genesis_id", "trip_ids", "exported_at_ms", "without_lots")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GENESIS_ID_FIELD_NUMBER: _ClassVar[int]
    TRIP_IDS_FIELD_NUMBER: _ClassVar[int]
    EXPORTED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LOTS_FIELD_NUMBER: _ClassVar[int]
    version: int
    genesis_id: str
    trip_ids: _containers.RepeatedScalarFieldContainer[str]
    exported_at_ms: int
    without_lots: bool
    def __init__(self, version: _Optional[int] = ..., genesis_id: _Optional[str] = ..., trip_ids: _Optional[_Iterable[str]] = ..., exported_at_ms: _Optional[int] = ..., without_lots: _Optional[bool] = ...) -> None: ...

class BlockHead(_message.Message):
    __slots__ = ("header", "header_signature")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    HEADER_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    header: bytes
    header_signature: str
    def __init__(self, header: _Optional[bytes] = ..., header_signature: _Optional[str] = ...) -> None: ...

class LeafHashes(_message.Message):
    __slots__ = ("recording_sha256", "hashes")
    RECORDING_SHA256_FIELD_NUMBER: _ClassVar[int]
    HASHES_FIELD_NUMBER: _ClassVar[int]
    recording_sha256: bytes
    hashes: bytes
    def __init__(self, recording_sha256: _Optional[bytes] = ..., hashes: _Optional[bytes] = ...) -> None: ...

class Blob(_message.Message):
    __slots__ = ("recording_sha256", "index", "data")
    RECORDING_SHA256_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    recording_sha256: bytes
    index: int
    data: bytes
    def __init__(self, recording_sha256: _Optional[bytes] = ..., index: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class StateNode(_message.Message):
    __slots__ = ("path", "tokens", "hashes", "value")
    PATH_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    HASHES_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    path: bytes
    tokens: bytes
    hashes: bytes
    value: bytes
    def __init__(self, path: _Optional[bytes] = ..., tokens: _Optional[bytes] = ..., hashes: _Optional[bytes] = ..., value: _Optional[bytes] = ...) -> None: ...
