"""Protocol Buffers messages as bytes: the one way to write each, and how to read what came.

Canonical means: fields in ascending order, defaults left out, no unknown
fields; so one meaning has one encoding and one hash.
"""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from contracts.errors import RejectedError

_MessageT = TypeVar("_MessageT", bound=Message)


def canonical(message: Message) -> bytes:
    """Return the one byte string that stands for `message`."""
    return message.SerializeToString(deterministic=True)


def is_canonical(message: Message, wire: bytes) -> bool:
    """Say whether `wire` is the one byte string that stands for `message`, which was parsed of it.

    Unknown fields are dropped from `message` first: the parser keeps them, and would write them
    out again where they stood.
    """
    message.DiscardUnknownFields()
    return canonical(message) == wire


def parse(kind: type[_MessageT], wire: bytes) -> _MessageT:
    """Parse a message, canonical or not.

    Raises:
        RejectedError: The bytes are no message of that kind.
    """
    try:
        return kind.FromString(wire)
    except (DecodeError, UnicodeDecodeError) as error:  # the latter from pure-Python protobuf
        raise RejectedError(f"{len(wire)} bytes that are no {kind.__name__} message") from error
