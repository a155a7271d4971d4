from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CommittedBlock(_message.Message):
    __slots__ = ("block", "receipts")
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    block: bytes
    receipts: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, block: _Optional[bytes] = ..., receipts: _Optional[_Iterable[bytes]] = ...) -> None: ...

class BlockPage(_message.Message):
    __slots__ = ("blocks", "next_position")
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_POSITION_FIELD_NUMBER: _ClassVar[int]
    blocks: _containers.RepeatedCompositeFieldContainer[CommittedBlock]
    next_position: str
    def __init__(self, blocks: _Optional[_Iterable[_Union[CommittedBlock, _Mapping]]] = ..., next_position: _Optional[str] = ...) -> None: ...
