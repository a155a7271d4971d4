from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Records(_message.Message):
    __slots__ = ("batches",)
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    batches: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, batches: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Offer(_message.Message):
    __slots__ = ("session", "batch_ids", "recordings")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    BATCH_IDS_FIELD_NUMBER: _ClassVar[int]
    RECORDINGS_FIELD_NUMBER: _ClassVar[int]
    session: bytes
    batch_ids: _containers.RepeatedScalarFieldContainer[str]
    recordings: _containers.RepeatedCompositeFieldContainer[RecordingOffer]
    def __init__(self, session: _Optional[bytes] = ..., batch_ids: _Optional[_Iterable[str]] = ..., recordings: _Optional[_Iterable[_Union[RecordingOffer, _Mapping]]] = ...) -> None: ...

class RecordingOffer(_message.Message):
    __slots__ = ("sha256", "size", "trip_id", "digest_batch")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_BATCH_FIELD_NUMBER: _ClassVar[int]
    sha256: bytes
    size: int
    trip_id: str
    digest_batch: bytes
    def __init__(self, sha256: _Optional[bytes] = ..., size: _Optional[int] = ..., trip_id: _Optional[str] = ..., digest_batch: _Optional[bytes] = ...) -> None: ...

class Held(_message.Message):
    __slots__ = ("session", "batch_ids", "refused", "committed", "first")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    BATCH_IDS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    session: bytes
    batch_ids: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.RepeatedCompositeFieldContainer[Refusal]
    committed: int
    first: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, session: _Optional[bytes] = ..., batch_ids: _Optional[_Iterable[str]] = ..., refused: _Optional[_Iterable[_Union[Refusal, _Mapping]]] = ..., committed: _Optional[int] = ..., first: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("id", "reason", "retry")
    ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    id: str
    reason: str
    retry: bool
    def __init__(self, id: _Optional[str] = ..., reason: _Optional[str] = ..., retry: _Optional[bool] = ...) -> None: ...

class StoredRecording(_message.Message):
    __slots__ = ("sha256", "size", "tree_root", "copies")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    TREE_ROOT_FIELD_NUMBER: _ClassVar[int]
    COPIES_FIELD_NUMBER: _ClassVar[int]
    sha256: bytes
    size: int
    tree_root: bytes
    copies: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, sha256: _Optional[bytes] = ..., size: _Optional[int] = ..., tree_root: _Optional[bytes] = ..., copies: _Optional[_Iterable[str]] = ...) -> None: ...

class ReceiptBody(_message.Message):
    __slots__ = ("device_id", "trip_id", "reading_count", "head_sha256", "seal_transaction_id", "recordings", "block_num", "block_id", "genesis_id", "issued_at_ms", "site_id", "lacking", "confirmations")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    READING_COUNT_FIELD_NUMBER: _ClassVar[int]
    HEAD_SHA256_FIELD_NUMBER: _ClassVar[int]
    SEAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDINGS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_NUM_FIELD_NUMBER: _ClassVar[int]
    BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    GENESIS_ID_FIELD_NUMBER: _ClassVar[int]
    ISSUED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    LACKING_FIELD_NUMBER: _ClassVar[int]
    CONFIRMATIONS_FIELD_NUMBER: _ClassVar[int]
    device_id: str
    trip_id: str
    reading_count: int
    head_sha256: bytes
    seal_transaction_id: str
    recordings: _containers.RepeatedCompositeFieldContainer[StoredRecording]
    block_num: int
    block_id: str
    genesis_id: str
    issued_at_ms: int
    site_id: str
    lacking: _containers.RepeatedScalarFieldContainer[str]
    confirmations: int
    def __init__(self, device_id: _Optional[str] = ..., trip_id: _Optional[str] = ..., reading_count: _Optional[int] = ..., head_sha256: _Optional[bytes] = ..., seal_transaction_id: _Optional[str] = ..., recordings: _Optional[_Iterable[_Union[StoredRecording, _Mapping]]] = ..., block_num: _Optional[int] = ..., block_id: _Optional[str] = ..., genesis_id: _Optional[str] = ..., issued_at_ms: _Optional[int] = ..., site_id: _Optional[str] = ..., lacking: _Optional[_Iterable[str]] = ..., confirmations: _Optional[int] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("body", "gateway_public_key", "signature")
    BODY_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    gateway_public_key: str
    signature: str
    def __init__(self, body: _Optional[bytes] = ..., gateway_public_key: _Optional[str] = ..., signature: _Optional[str] = ...) -> None: ...
