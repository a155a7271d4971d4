"""A signature under a header of one kind never counts for another kind."""

import pytest

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.proto.sawtooth_pb2 import Batch, BatchHeader, BlockHeader, TransactionHeader
from contracts.sawtooth.batches import (
    Family,
    build_batch,
    build_transaction,
    check_batch,
    check_transaction,
)
from contracts.sawtooth.blocks import check_block_id
from support.network.world import Trip, key, one, reading

SIGNER = key("truck-1")
TRIP = Trip()
FIRST, SECOND = TRIP.sign(TRIP.start), TRIP.record(reading(0))


def test_a_transaction_s_header_is_no_batch_s() -> None:
    """Its batcher stands where a batch names its signer, its dependencies where members are."""
    link = build_transaction(
        SIGNER,
        Family("wayseal", "1.0"),
        b"",
        batcher_public_key=SIGNER.public_key,
        inputs=[],
        outputs=[],
        dependencies=[FIRST.header_signature, SECOND.header_signature],
    )
    parsed = BatchHeader.FromString(link.header)
    assert parsed.signer_public_key == SIGNER.public_key
    assert list(parsed.transaction_ids) == [FIRST.header_signature, SECOND.header_signature]
    forged = Batch(
        header=link.header, header_signature=link.header_signature, transactions=[FIRST, SECOND]
    )
    with pytest.raises(RejectedError, match="fields that no BatchHeader has"):
        check_batch(forged)
    assert check_batch(build_batch(SIGNER, [FIRST, SECOND])).header == BatchHeader(
        signer_public_key=SIGNER.public_key,
        transaction_ids=[FIRST.header_signature, SECOND.header_signature],
    )


def test_a_transaction_s_header_is_no_block_s() -> None:
    """Its family stands where a block names its signer."""
    header = TransactionHeader(family_name=SIGNER.public_key, payload_sha512="0")
    wire = canonical(header)
    assert BlockHeader.FromString(wire).signer_public_key == SIGNER.public_key
    with pytest.raises(RejectedError, match="fields that no BlockHeader has"):
        check_block_id(wire, SIGNER.sign(wire))


def test_a_batch_s_header_is_no_transaction_s() -> None:
    batch = one(SIGNER, TRIP.start)
    forged = build_batch(SIGNER, [FIRST]).transactions[0]
    forged.header, forged.header_signature = batch.header, batch.header_signature
    with pytest.raises(RejectedError, match="does not match"):
        check_transaction(forged)


def test_a_header_with_a_field_of_a_later_version() -> None:
    batch = one(SIGNER, TRIP.start)
    batch.header += b"\x98\x06\x01"
    batch.header_signature = SIGNER.sign(batch.header)
    with pytest.raises(RejectedError, match="fields that no BatchHeader has"):
        check_batch(batch)
