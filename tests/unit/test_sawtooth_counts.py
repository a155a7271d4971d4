"""Counting batches and transactions before parsing: as the parser counts, up to the limit."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Batch, BatchList, Transaction
from contracts.sawtooth.counts import (
    OTHER_FIELDS_MAX,
    TRANSACTIONS_MAX,
    TooManyError,
    check_transactions,
    check_transactions_of,
    count_batches,
)
from support.ledgers.nodes import intkey_batch

EMPTY = b"\x1a\x00"
"""An empty transaction, as it stands in a batch."""


@given(st.lists(st.integers(0, 5), max_size=8))
def test_it_counts_what_the_parser_finds(sizes: list[int]) -> None:
    batches = [Batch(header=b"h", transactions=[Transaction()] * size) for size in sizes]
    wire = BatchList(batches=batches).SerializeToString()
    assert count_batches(wire, 8) == len(sizes)
    check_transactions(wire)


@given(st.binary(max_size=40), st.integers(0, 2))
def test_of_any_bytes_it_never_counts_less_than_the_parser_makes(wire: bytes, most: int) -> None:
    try:
        made = len(parse(BatchList, wire).batches)
    except RejectedError:
        return
    with suppress(RejectedError):  # too many, or groups
        assert count_batches(wire, most) == made


def test_unknown_fields_of_every_type_are_passed_over() -> None:
    unknown = b"\x10\x80\x01" + b"\x19" + bytes(8) + b"\x22\x02ab" + b"\x2d" + bytes(4)
    assert count_batches(unknown + b"\x0a\x00" + unknown, 10) == 1


@pytest.mark.parametrize("wire", [b"\xff", b"\x0a\x05", b"\x0b", b"\x0a" + b"\xff" * 11, b"\x09"])
def test_what_is_no_message_is_refused(wire: bytes) -> None:
    with pytest.raises(RejectedError):
        count_batches(wire, 10)


def test_the_limits_are_met_exactly() -> None:
    wire = b"\x0a\x00" * 3
    assert count_batches(wire, 3) == 3
    with pytest.raises(TooManyError, match="more than 2 batches"):
        count_batches(wire, 2)
    check_transactions_of(EMPTY * TRANSACTIONS_MAX + b"\x20\x01" * OTHER_FIELDS_MAX)
    with pytest.raises(TooManyError, match="more than 50000 transactions"):
        check_transactions_of(EMPTY * (TRANSACTIONS_MAX + 1))
    with pytest.raises(RejectedError, match="more than 64 fields"):
        check_transactions_of(b"\x20\x01" * (OTHER_FIELDS_MAX + 1))


def test_transactions_of_all_batches_count_together() -> None:
    half = Batch(transactions=[Transaction()] * (TRANSACTIONS_MAX // 2))
    check_transactions(BatchList(batches=[half] * 2).SerializeToString())
    with pytest.raises(TooManyError):
        check_transactions(BatchList(batches=[half] * 2 + [intkey()]).SerializeToString())


def test_no_honest_body_of_16_mib_reaches_the_limit() -> None:
    (smallest,) = intkey().transactions
    assert smallest.ByteSize() * TRANSACTIONS_MAX > 16 << 20


def intkey() -> Batch:
    return intkey_batch(Signer.from_hex("11" * 32), 1)
