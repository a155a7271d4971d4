from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Access(_message.Message):
    __slots__ = ("number", "before_sha256", "site_id", "at_ms", "who", "role", "address", "what", "subjects")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_SHA256_FIELD_NUMBER: _ClassVar[int]
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    number: int
    before_sha256: bytes
    site_id: str
    at_ms: int
    who: str
    role: str
    address: str
    what: str
    subjects: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, number: _Optional[int] = ..., before_sha256: _Optional[bytes] = ..., site_id: _Optional[str] = ..., at_ms: _Optional[int] = ..., who: _Optional[str] = ..., role: _Optional[str] = ..., address: _Optional[str] = ..., what: _Optional[str] = ..., subjects: _Optional[_Iterable[str]] = ...) -> None: ...

class AccessHeadBody(_message.Message):
    __slots__ = ("site_id", "number", "sha256", "at_ms")
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    site_id: str
    number: int
    sha256: bytes
    at_ms: int
    def __init__(self, site_id: _Optional[str] = ..., number: _Optional[int] = ..., sha256: _Optional[bytes] = ..., at_ms: _Optional[int] = ...) -> None: ...

class AccessHead(_message.Message):
    __slots__ = ("body", "gateway_public_key", "signature")
    BODY_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    gateway_public_key: str
    signature: str
    def __init__(self, body: _Optional[bytes] = ..., gateway_public_key: _Optional[str] = ..., signature: _Optional[str] = ...) -> None: ...
