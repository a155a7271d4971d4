"""MQTT between devices and gateways: topics, limits, parsing.

MQTT delivers at least once, and promises no order on `records` across
reconnects. Every message can be repeated, since batches are named by content.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, TypeVar

from google.protobuf.message import Message

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.ids import ID, check_id
from contracts.proto.wire_pb2 import Records

TOPIC_ROOT: Final = "wayseal/v1"
QOS: Final = 1
MESSAGE_BYTES_MAX: Final = 256 * 1024
"""Payload limit of any message. MQTT brokers differ, so both ends enforce it."""
BATCH_BYTES_MAX: Final = MESSAGE_BYTES_MAX - 64
OFFER_BATCHES_MAX: Final = 1500
"""Ids per offer; 1500 of 130 bytes stay below the payload limit with 16 recordings."""
OFFER_RECORDINGS_MAX: Final = 16
STATUS_BYTES_MAX: Final = 4 * 1024
"""Payload limit of a truck's status, which the broker retains."""

_MessageT = TypeVar("_MessageT", bound=Message)


class Topic(StrEnum):
    """The last level of a topic: three from the device, two from the gateway."""

    RECORDS = "records"
    OFFERS = "offers"
    STATUS = "status"
    """For people's programs: JSON, retained. The gateway neither needs it nor hears it."""
    HELD = "held"
    RECEIPTS = "receipts"


FROM_DEVICES: Final = (Topic.RECORDS, Topic.OFFERS, Topic.STATUS)
FOR_GATEWAYS: Final = (Topic.RECORDS, Topic.OFFERS)
TO_DEVICES: Final = (Topic.HELD, Topic.RECEIPTS)
_TOPIC: Final = re.compile(f"{TOPIC_ROOT}/({ID.pattern})/({'|'.join(Topic)})")
"""A whole topic of a device; `parse_topic` says what is wrong with another."""


def topic(device_id: str, kind: Topic) -> str:
    """Return the topic of `kind` for one device; `+` stands for all devices."""
    return f"{TOPIC_ROOT}/{device_id}/{kind}"


def parse_topic(name: str) -> tuple[str, Topic]:
    """Return device id and kind of a topic.

    Raises:
        RejectedError: Not a topic of Wayseal.
    """
    if (found := _TOPIC.fullmatch(name)) is None:
        raise _why_no_topic(name)
    device_id, kind = found.groups()
    return device_id, Topic(kind)


def parse_message(kind: type[_MessageT], wire: bytes) -> _MessageT:
    """Parse one payload.

    Raises:
        RejectedError: Oversized, or not a message of that kind.
    """
    if len(wire) > MESSAGE_BYTES_MAX:
        raise RejectedError(
            f"{kind.__name__} message of {len(wire)} bytes, at most {MESSAGE_BYTES_MAX} allowed"
        )
    return parse(kind, wire)


def pack_records(batches: Iterable[bytes]) -> Iterator[bytes]:
    """Pack serialised batches, in order, into as few payloads as the limit allows.

    Raises:
        RejectedError: One batch alone exceeds the limit.
    """
    message, size = Records(), 0
    for batch in batches:
        if len(batch) > BATCH_BYTES_MAX:
            raise RejectedError(f"batch of {len(batch)} bytes, at most {BATCH_BYTES_MAX} allowed")
        framed = len(batch) + 8
        if size + framed > MESSAGE_BYTES_MAX:
            yield message.SerializeToString()
            message, size = Records(), 0
        message.batches.append(batch)
        size += framed
    if message.batches:
        yield message.SerializeToString()


def _why_no_topic(name: str) -> RejectedError:
    """Return the error for a topic that `_TOPIC` does not match.

    Raises:
        RejectedError: The device's id is invalid.
    """
    parts = name.split("/")
    if len(parts) != TOPIC_ROOT.count("/") + 3 or not name.startswith(TOPIC_ROOT + "/"):
        return RejectedError(f"topic must be {TOPIC_ROOT}/DEVICE/KIND: {name[:120]!r}")
    check_id("device", parts[-2])
    return RejectedError(f"last level must be one of {', '.join(Topic)}: {name[:120]!r}")
