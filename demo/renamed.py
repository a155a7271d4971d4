"""A block of a ledger under other names, as if other trips had made it."""

import hashlib
from functools import lru_cache
from typing import Final

from contracts.sawtooth.batches import ID_HEX
from gateway.index.projection import Projected, Row

ANY_BLOCK: Final = 1 << 60
"""The number with which a block is projected that goes in under several numbers."""
_TRIP_HEX: Final = 32
_SHORT: Final = ("new_transactions", "dependencies")
_SHORT_BYTES: Final = 8


def renamed(projected: Projected, turn: int, block_num: int) -> Projected:
    """Return a projected block under another number, with trips and ids that each turn has alone.

    Trips, batches, blocks and transactions get other ids; parties, devices and deliveries stay.

    Args:
        projected: The block, projected as `ANY_BLOCK`.
        turn: From 0.
        block_num: Its number.
    """
    rows = {
        table: [_row(row, turn, block_num, short=table in _SHORT) for row in entries]
        for table, entries in projected.rows.items()
    }
    rows["new_transactions"].sort()
    mask = _mask(turn)
    readings = [
        each._replace(
            trip_id=_id(each.trip_id, turn),
            transaction_id=mask + each.transaction_id[_SHORT_BYTES:],
        )
        for each in projected.readings
    ]
    return Projected(rows, readings)


def _row(row: Row, turn: int, block_num: int, *, short: bool) -> Row:
    if short:
        return tuple(_number(value, turn, block_num) for value in row)
    return tuple(
        _name(value, turn, block_num)
        if isinstance(value, str)
        else (block_num if value == ANY_BLOCK else value)
        for value in row
    )


def _number(value: object, turn: int, block_num: int) -> object:
    """Return another beginning of a transaction's id; small numbers stay."""
    if value == ANY_BLOCK:
        return block_num
    if isinstance(value, int) and abs(value) >> 32:
        return value ^ _mask_number(turn)
    return value


def _name(text: str, turn: int, block_num: int) -> str:
    """Return a text whose words that are ids, or the block's number, are others."""
    if text == f"time {ANY_BLOCK}":
        return f"time {block_num}"
    return " ".join(_id(word, turn) for word in text.split(" "))


@lru_cache(maxsize=65_536)
def _id(word: str, turn: int) -> str:
    if len(word) not in {_TRIP_HEX, ID_HEX} or not set(word) <= set("0123456789abcdef"):
        return word
    return hashlib.sha512(f"{turn} {word}".encode()).hexdigest()[: len(word)]


@lru_cache(maxsize=4)
def _mask(turn: int) -> bytes:
    return hashlib.sha512(f"mask {turn}".encode()).digest()[:_SHORT_BYTES]


@lru_cache(maxsize=4)
def _mask_number(turn: int) -> int:
    return int.from_bytes(_mask(turn), "big", signed=True)
