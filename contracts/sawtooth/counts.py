"""Counts the batches and transactions in serialised bytes before they are parsed.

An empty batch or transaction takes two bytes, and a hundred times as many once parsed:
16 MiB of them would take seconds and gigabytes. Counting stops at the limit and builds
nothing.

Source: Protocol Buffers, "Encoding".
"""

from collections.abc import Iterator
from typing import Final

from contracts.errors import RejectedError
from contracts.proto.sawtooth_pb2 import Batch, BatchList, Block

TRANSACTIONS_MAX: Final = 50_000
"""Transactions in one batch, BatchList or block. A signed one takes more than 400 bytes, so 16 MiB
hold fewer signed ones."""
OTHER_FIELDS_MAX: Final = 64
"""Fields of one batch other than transactions; an honest batch has three."""
_VARINT_BYTES_MAX: Final = 10
_MORE: Final = 0x80
_BATCHES: Final = BatchList.BATCHES_FIELD_NUMBER
_BATCHES_OF_BLOCK: Final = Block.BATCHES_FIELD_NUMBER
_TRANSACTIONS: Final = Batch.TRANSACTIONS_FIELD_NUMBER


class TooManyError(RejectedError):
    """More batches or transactions than are accepted at once."""


def count_batches(wire: bytes, most: int) -> int:
    """Return how many batches a serialised BatchList holds; nothing is built.

    Args:
        wire: The BatchList.
        most: How many are allowed; at most one field more is looked at.

    Raises:
        TooManyError: More fields than `most`.
        RejectedError: The bytes are not a message.
    """
    batches = 0
    for seen, (number, _) in enumerate(_fields(memoryview(wire))):
        if seen >= most:
            raise TooManyError(f"more than {most} batches")
        batches += number == _BATCHES
    return batches


def check_transactions(batch_list: bytes) -> None:
    """Check that a serialised BatchList holds at most `TRANSACTIONS_MAX` transactions.

    Raises:
        TooManyError: It holds more.
        RejectedError: The list or a batch in it is not a message.
    """
    seen = 0
    for number, content in _fields(memoryview(batch_list)):
        if number == _BATCHES:
            seen += _transactions(content, TRANSACTIONS_MAX - seen)


def check_transactions_of(batch: bytes) -> None:
    """Check that one serialised batch holds at most `TRANSACTIONS_MAX` transactions.

    Raises:
        TooManyError: It holds more.
        RejectedError: The batch is not a message.
    """
    _transactions(memoryview(batch), TRANSACTIONS_MAX)


def check_block(block: bytes) -> None:
    """Check that one serialised block holds at most `TRANSACTIONS_MAX` batches and transactions.

    Raises:
        TooManyError: It holds more.
        RejectedError: The block or a batch in it is not a message.
    """
    transactions = 0
    for seen, (number, content) in enumerate(_fields(memoryview(block))):
        if seen >= TRANSACTIONS_MAX + OTHER_FIELDS_MAX:
            raise TooManyError(f"more than {TRANSACTIONS_MAX} batches")
        if number == _BATCHES_OF_BLOCK:
            transactions += _transactions(content, TRANSACTIONS_MAX - transactions)


def _transactions(batch: memoryview, most: int) -> int:
    count = others = 0
    for number, _ in _fields(batch):
        if number == _TRANSACTIONS:
            count += 1
        else:
            others += 1
        if count > most:
            raise TooManyError(f"more than {TRANSACTIONS_MAX} transactions")
        if others > OTHER_FIELDS_MAX:
            raise RejectedError(
                f"a batch with more than {OTHER_FIELDS_MAX} fields other than transactions"
            )
    return count


def _fields(wire: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and content of each field; number 0 if its type is not bytes."""
    at = 0
    while at < len(wire):
        tag, start = _varint(wire, at)
        at, number = start, 0
        match tag & 7:
            case 0:
                _, at = _varint(wire, start)
            case 1:
                at += 8
            case 2:
                size, start = _varint(wire, start)
                at, number = start + size, tag >> 3
            case 5:
                at += 4
            case kind:  # groups: Sawtooth's messages have none
                raise RejectedError(f"a field of wire type {kind}, expected one of 0, 1, 2, 5")
        if at > len(wire):
            raise RejectedError(f"a field ends at byte {at} of {len(wire)}")
        yield number, wire[start:at]


def _varint(wire: memoryview, at: int) -> tuple[int, int]:
    """Return the number at offset `at`, and the offset behind it."""
    value = 0
    for place, octet in enumerate(wire[at : at + _VARINT_BYTES_MAX]):
        value |= (octet & 0x7F) << (7 * place)
        if octet < _MORE:
            return value, at + place + 1
    raise RejectedError(f"a number at byte {at} does not end")
