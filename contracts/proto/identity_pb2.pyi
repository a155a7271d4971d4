from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Policy(_message.Message):
    __slots__ = ("name", "entries")
    class EntryType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ENTRY_TYPE_UNSET: _ClassVar[Policy.EntryType]
        PERMIT_KEY: _ClassVar[Policy.EntryType]
        DENY_KEY: _ClassVar[Policy.EntryType]
    ENTRY_TYPE_UNSET: Policy.EntryType
    PERMIT_KEY: Policy.EntryType
    DENY_KEY: Policy.EntryType
    class Entry(_message.Message):
        __slots__ = ("type", "key")
        TYPE_FIELD_NUMBER: _ClassVar[int]
        KEY_FIELD_NUMBER: _ClassVar[int]
        type: Policy.EntryType
        key: str
        def __init__(self, type: _Optional[_Union[Policy.EntryType, str]] = ..., key: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    name: str
    entries: _containers.RepeatedCompositeFieldContainer[Policy.Entry]
    def __init__(self, name: _Optional[str] = ..., entries: _Optional[_Iterable[_Union[Policy.Entry, _Mapping]]] = ...) -> None: ...

class PolicyList(_message.Message):
    __slots__ = ("policies",)
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    policies: _containers.RepeatedCompositeFieldContainer[Policy]
    def __init__(self, policies: _Optional[_Iterable[_Union[Policy, _Mapping]]] = ...) -> None: ...

class Role(_message.Message):
    __slots__ = ("name", "policy_name")
    NAME_FIELD_NUMBER: _ClassVar[int]
    POLICY_NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    policy_name: str
    def __init__(self, name: _Optional[str] = ..., policy_name: _Optional[str] = ...) -> None: ...

class RoleList(_message.Message):
    __slots__ = ("roles",)
    ROLES_FIELD_NUMBER: _ClassVar[int]
    roles: _containers.RepeatedCompositeFieldContainer[Role]
    def __init__(self, roles: _Optional[_Iterable[_Union[Role, _Mapping]]] = ...) -> None: ...

class IdentityPayload(_message.Message):
    __slots__ = ("type", "data")
    class IdentityType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        IDENTITY_TYPE_UNSET: _ClassVar[IdentityPayload.IdentityType]
        POLICY: _ClassVar[IdentityPayload.IdentityType]
        ROLE: _ClassVar[IdentityPayload.IdentityType]
    IDENTITY_TYPE_UNSET: IdentityPayload.IdentityType
    POLICY: IdentityPayload.IdentityType
    ROLE: IdentityPayload.IdentityType
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    type: IdentityPayload.IdentityType
    data: bytes
    def __init__(self, type: _Optional[_Union[IdentityPayload.IdentityType, str]] = ..., data: _Optional[bytes] = ...) -> None: ...
