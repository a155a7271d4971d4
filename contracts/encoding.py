"""Canonical encoding of Protocol Buffers messages, and parsing.

Canonical means: fields in ascending order, defaults left out, no unknown
fields. So equal messages have equal bytes and equal hashes.
"""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from contracts.errors import RejectedError

_MessageT = TypeVar("_MessageT", bound=Message)

_VARINT_TYPE, _SIZED_TYPE = 0, 2
_BITS, _MORE = 0x7F, 0x80
"""Of a varint's byte: seven bits of the number, the lowest first, and whether more follow."""


def canonical(message: Message) -> bytes:
    """Return the canonical bytes of `message`."""
    return message.SerializeToString(deterministic=True)


def is_canonical(message: Message, wire: bytes) -> bool:
    """Say whether `wire`, from which `message` was parsed, is canonical.

    Drops unknown fields from `message` first: the parser keeps them and would write them out
    again.
    """
    message.DiscardUnknownFields()
    return canonical(message) == wire


def parse(kind: type[_MessageT], wire: bytes) -> _MessageT:
    """Parse a message, canonical or not.

    Raises:
        RejectedError: The bytes are not a message of that kind.
    """
    try:
        return kind.FromString(wire)
    except (DecodeError, UnicodeDecodeError) as error:  # the latter from pure-Python protobuf
        raise RejectedError(f"{len(wire)} bytes are not a valid {kind.__name__} message") from error


def parse_known(kind: type[_MessageT], wire: bytes) -> _MessageT:
    """Parse a message that has no fields which its kind does not know.

    The bytes of one kind often parse as another kind, with the rest as unknown fields. A signature
    under a message of one kind must not count for another.

    Raises:
        RejectedError: The bytes are not a message of that kind, or hold more than it has.
    """
    message = parse(kind, wire)
    size = message.ByteSize()
    message.DiscardUnknownFields()
    if message.ByteSize() != size:
        raise RejectedError(f"{len(wire)} bytes hold fields that no {kind.__name__} has")
    return message


def tag_of(number: int, *, is_sized: bool) -> bytes:
    """Return the bytes before the value of a field.

    They are number and wire type as a varint (protobuf.dev, "Encoding"). No field of ours is of a
    type with a fixed size.

    Args:
        number: Of the field.
        is_sized: Whether the value has its size before it, as texts, bytes, messages and lists.
    """
    return varint(number << 3 | (_SIZED_TYPE if is_sized else _VARINT_TYPE))


def sized(tag: bytes, value: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the parts of a field that has its size before its value; see `tag_of`.

    Large values are put together so: a message would copy them several times.
    """
    return tag, varint(len(value)), value


def varint(number: int) -> bytes:
    """Return a whole number, 0 or more, as the value of a field or as a size (same source)."""
    wire: list[int] = []
    while number > _BITS:
        wire.append(number & _BITS | _MORE)
        number >>= 7
    wire.append(number)
    return bytes(wire)
