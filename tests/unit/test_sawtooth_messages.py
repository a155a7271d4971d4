"""Our Sawtooth messages against those of a real node, byte for byte."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Batch, BatchHeader, BatchList, TransactionHeader
from contracts.sawtooth.batches import (
    Family,
    build_batch,
    build_transaction,
    check_batch,
    listed,
    parse_header,
)
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block, check_block_id

GOLDEN = Path(__file__).parent.parent / "golden" / "devmode"
LISTS = sorted(GOLDEN.glob("batchlist-*.bin"))
BLOCKS: list[dict[str, Any]] = json.loads((GOLDEN / "state_roots.json").read_text())
NODE = Signer.from_hex("11" * 32)
SIGNERS = {
    signer.public_key: signer for signer in (Signer.from_hex("22" * 32), Signer.from_hex("33" * 32))
}
ONE = parse(BatchList, (GOLDEN / "batchlist-b1-set2.bin").read_bytes()).batches[0]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_recorded_batches_hold_and_are_signed_again_to_the_same_bytes(path: Path) -> None:
    wire = path.read_bytes()
    recorded = parse(BatchList, wire)
    again = BatchList()
    for batch in recorded.batches:
        check_batch(batch)
        again.batches.append(signed_again(batch))
    assert canonical(again) == wire


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_serialised_batches_are_listed_as_a_message_lists_them(path: Path) -> None:
    recorded = parse(BatchList, path.read_bytes())
    wires = [canonical(batch) for batch in recorded.batches]
    assert listed(wires) == canonical(recorded)
    assert listed(3 * wires) == canonical(BatchList(batches=3 * list(recorded.batches)))
    assert listed([]) == b""


def signed_again(batch: Batch) -> Batch:
    transactions = []
    for transaction in batch.transactions:
        header = parse_header(transaction)
        transactions.append(
            build_transaction(
                SIGNERS[header.signer_public_key],
                Family(header.family_name, header.family_version),
                transaction.payload,
                batcher_public_key=header.batcher_public_key,
                inputs=header.inputs,
                outputs=header.outputs,
                dependencies=header.dependencies,
                nonce=header.nonce,
            )
        )
    made = build_batch(SIGNERS[parse(BatchHeader, batch.header).signer_public_key], transactions)
    made.trace = batch.trace
    return made


@pytest.mark.parametrize("recorded", BLOCKS, ids=lambda block: f"block-{block['block_num']}")
def test_recorded_block_ids_are_made_again(recorded: dict[str, Any]) -> None:
    block = build_block(
        NODE,
        [Batch(header_signature=batch_id) for batch_id in recorded["batch_ids"]],
        block_num=int(recorded["block_num"]),
        previous_block_id=recorded["previous_block_id"],
        consensus=base64.b64decode(recorded["consensus"]),
        state_root_hash=recorded["state_root_hash"],
    )
    assert block.header_signature == recorded["block_id"]
    header = check_block_id(block.header, recorded["block_id"])
    assert list(header.batch_ids) == recorded["batch_ids"]


def test_the_genesis_block_follows_the_null_block() -> None:
    assert BLOCKS[0]["previous_block_id"] == NULL_BLOCK_ID


def test_a_forged_block_signature_is_named() -> None:
    header = build_block(
        NODE,
        [],
        block_num=7,
        previous_block_id=NULL_BLOCK_ID,
        consensus=b"",
        state_root_hash="",
    ).header
    with pytest.raises(RejectedError, match=r"block 7 .* signature does not match"):
        check_block_id(header, next(iter(SIGNERS.values())).sign(header))


def test_an_empty_batch_is_neither_built_nor_accepted() -> None:
    with pytest.raises(RejectedError, match="at least one"):
        build_batch(NODE, [])
    header = canonical(BatchHeader(signer_public_key=NODE.public_key))
    empty = Batch(header=header, header_signature=NODE.sign(header))
    with pytest.raises(RejectedError, match="no transactions"):
        check_batch(empty)


def changed(**changes: object) -> Batch:
    batch = Batch.FromString(canonical(ONE))
    for name, value in changes.items():
        setattr(batch, name, value)
    return batch


def test_a_forged_batch_signature_is_named() -> None:
    forged = changed(header_signature=NODE.sign(ONE.header))
    with pytest.raises(RejectedError, match=r"batch .*: signature does not match"):
        check_batch(forged)


def test_a_signature_of_wrong_form_is_named() -> None:
    with pytest.raises(RejectedError, match="batch signature must be 128"):
        check_batch(changed(header_signature=ONE.header_signature.upper()))
    batch = changed()
    batch.transactions[0].header_signature = ""
    with pytest.raises(RejectedError, match="they differ"):
        check_batch(batch)


def test_transactions_swapped_removed_or_added_are_named() -> None:
    first, second = ONE.transactions
    for transactions in ([second, first], [first], [first, second, second], [first, first]):
        batch = Batch(
            header=ONE.header, header_signature=ONE.header_signature, transactions=transactions
        )
        with pytest.raises(RejectedError, match="differ or stand in another order"):
            check_batch(batch)


def test_another_payload_is_named() -> None:
    batch = changed()
    batch.transactions[1].payload += b"\0"
    with pytest.raises(RejectedError, match="payload SHA-512 is"):
        check_batch(batch)


def test_another_header_is_named() -> None:
    batch = changed()
    header = TransactionHeader.FromString(batch.transactions[0].header)
    header.nonce += "!"
    batch.transactions[0].header = canonical(header)
    with pytest.raises(RejectedError, match=r"transaction .*: signature does not match"):
        check_batch(batch)


def test_a_foreign_batcher_is_named() -> None:
    taken = build_batch(NODE, ONE.transactions)
    with pytest.raises(RejectedError, match="made for batcher"):
        check_batch(taken)


@pytest.mark.parametrize("junk", [b"\xff", b"\x0a\xff", b"\x12\x01\xff"])
def test_bytes_that_are_no_message(junk: bytes) -> None:
    with pytest.raises(RejectedError, match="not a valid Batch message"):
        parse(Batch, junk)
    with pytest.raises(RejectedError, match="not a valid BatchList message"):
        parse(BatchList, b"\x0a\x02\x0a\xff")
    with pytest.raises(RejectedError, match="not a valid BatchHeader"):
        check_batch(changed(header=b"\xff"))
    batch = changed()
    batch.transactions[0].header = junk
    with pytest.raises(RejectedError, match="not a valid TransactionHeader"):
        check_batch(batch)
    with pytest.raises(RejectedError, match="not a valid BlockHeader"):
        check_block_id(b"\xff", "00" * 64)
