"""Fields of actions that came with a later version of the rules than a transaction names."""

from functools import cache
from typing import Final, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from contracts.encoding import canonical
from contracts.rules.version import RulesVersion

_NUMBERS: Final = 100
"""Version 1.1 brought fields with numbers from here on, 1.2 from twice that, and so on
(payload.proto)."""
_VARINT_TYPE, _SIZED_TYPE = 0, 2
_SIZED: Final = frozenset(
    {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE}
)
"""Types whose values have their size before them, as all lists have."""


def is_late(number: int, version: RulesVersion) -> bool:
    """Say whether the field with this number came after a version."""
    return number >= _NUMBERS * (version + 1)


def late_field(message: Message, version: RulesVersion) -> str:
    """Return the name of a field that came after a version and is set, at any depth, or ""."""
    return _found(message, version) if _may_have(message, version) else ""


class _Place(NamedTuple):
    """A field to look at for what came after a version.

    Attributes:
        name: The field.
        late: It came later itself; else it holds messages that may have fields which did.
        repeated: It is a list.
        may_be_absent: It tells an absent value from an empty one.
    """

    name: str
    late: bool
    repeated: bool
    may_be_absent: bool


def _may_have(message: Message, version: RulesVersion) -> bool:
    """Say whether a field may be set, at any depth, that came after a version.

    On the wire each field that is set follows its tag. So a message without such tags has no such
    fields; where one is, it may be part of a value. To look at each field of each reading would
    take ten times as long.
    """
    tags = _late_tags(message.DESCRIPTOR, version)
    if not tags:
        return False
    wire = canonical(message)
    return any(tag in wire for tag in tags)


@cache
def _late_tags(kind: Descriptor, version: RulesVersion) -> frozenset[bytes]:
    """Return the tags of all fields, at any depth of a message, that came after a version."""
    tags = set[bytes]()
    for place in _late_places(kind, version):
        field = kind.fields_by_name[place.name]
        if place.late:
            tags.add(_tag(field))
        else:
            tags |= _late_tags(field.message_type, version)
    return frozenset(tags)


def _tag(field: FieldDescriptor) -> bytes:
    """Return the two bytes before the value of a field whose number is 16..2047.

    They are number and wire type as a varint (protobuf.dev, "Encoding"). No field of ours is of a
    type with a fixed size.
    """
    is_sized = field.is_repeated or field.type in _SIZED
    tag = field.number << 3 | (_SIZED_TYPE if is_sized else _VARINT_TYPE)
    return bytes((tag & 0x7F | 0x80, tag >> 7))


def _found(message: Message, version: RulesVersion) -> str:
    """Look at each field that may be late, at any depth; return the name of one, or ""."""
    for name, late, repeated, may_be_absent in _late_places(message.DESCRIPTOR, version):
        if may_be_absent and not message.HasField(name):
            continue
        value = getattr(message, name)
        if late:
            if may_be_absent or value:
                return name
            continue
        for part in value if repeated else (value,):
            if found := _found(part, version):
                return found
    return ""


@cache
def _late_places(kind: Descriptor, version: RulesVersion) -> tuple[_Place, ...]:
    """Return where a message may have fields of a later version, in the order of their numbers.

    Most fields need no look: a ledger checks tens of thousands of readings a second. No message
    contains itself.
    """
    return tuple(
        _Place(field.name, late, field.is_repeated, field.has_presence)
        for field in sorted(kind.fields, key=lambda field: field.number)
        if (late := is_late(field.number, version))
        or (field.message_type is not None and _late_places(field.message_type, version))
    )
