"""A block that the node makes is no longer than its log and its readers take."""

import pytest

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger import answers as answer
from contracts.ledger.blocks.log import RECORD_BYTES_MAX
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX, BLOCK_EFFECT_BYTES_SOFT
from contracts.ledger.execution import verify as verify_module
from contracts.ledger.execution.executor import EFFECT_BYTES_MAX
from contracts.ledger.execution.verify import ADDRESSES_MAX, BATCH_ADDRESSES_MAX, verify_batch
from contracts.ledger.rest.envelope import JsonResponse
from contracts.ledger.rest.submit import BATCHES_BODY_BYTES_MAX
from contracts.ledger.rest.views import block_view
from contracts.proto.sawtooth_pb2 import Batch, Transaction, TransactionHeader
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from contracts.sawtooth.blocks import build_block

SIGNER = Signer.from_hex("11" * 32)
FRAMES_BYTES = 4 << 20
"""What frames each batch, transaction and receipt of a block, and lists the batches: roomy."""
JSON_PER_BYTE = 6
JSON_PER_ADDRESS = 22


def transaction(payload: bytes, nonce: str = "", inputs: int = 0) -> Transaction:
    header = TransactionHeader.FromString(
        build_transaction(
            SIGNER,
            Family("probe", "1.0"),
            payload,
            batcher_public_key=SIGNER.public_key,
            inputs=[""] * inputs,
            outputs=[],
        ).header
    )
    header.nonce = nonce
    wire = header.SerializeToString(deterministic=True)
    return Transaction(header=wire, header_signature=SIGNER.sign(wire), payload=payload)


def test_a_record_and_a_page_of_one_block_are_far_from_their_limits() -> None:
    longest = BLOCK_BATCH_BYTES_MAX + BLOCK_EFFECT_BYTES_SOFT + EFFECT_BYTES_MAX + FRAMES_BYTES
    assert longest <= answer.ANSWER_BYTES_MAX
    assert longest <= RECORD_BYTES_MAX // 2


def test_whatever_was_submitted_fits_a_block() -> None:
    assert BATCHES_BODY_BYTES_MAX <= BLOCK_BATCH_BYTES_MAX


def test_one_block_as_json_is_no_longer_than_an_answer() -> None:
    longest = JSON_PER_BYTE * BLOCK_BATCH_BYTES_MAX + JSON_PER_ADDRESS * BATCH_ADDRESSES_MAX
    assert longest + FRAMES_BYTES <= answer.ANSWER_BYTES_MAX


@pytest.mark.parametrize(
    "transactions",
    [
        [transaction(b"", nonce="\x01" * 100_000)],
        [transaction(b"", nonce="\\" * 100_000)],
        [transaction(bytes(100_000))],
        [transaction(b"", inputs=ADDRESSES_MAX)],
        [transaction(bytes((number,))) for number in range(100)],
    ],
    ids=["control characters", "backslashes", "payload", "addresses", "small"],
)
def test_nothing_grows_more_as_json(transactions: list[Transaction]) -> None:
    batch = build_batch(SIGNER, transactions)
    verified = verify_batch(batch)
    block = build_block(
        SIGNER,
        [batch],
        block_num=1,
        previous_block_id="0" * 128,
        consensus=b"",
        state_root_hash="0" * 64,
    )
    page = JsonResponse({"data": [block_view(block)]}).body
    frames = 2_000
    assert len(page) <= (
        JSON_PER_BYTE * verified.size + JSON_PER_ADDRESS * verified.addresses + frames
    )


def test_addresses_of_a_batch_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_module, "BATCH_ADDRESSES_MAX", 5)

    def batch(*inputs: int) -> Batch:
        return build_batch(
            SIGNER, [transaction(bytes((at,)), inputs=each) for at, each in enumerate(inputs)]
        )

    assert verify_batch(batch(2, 3)).addresses == 5
    with pytest.raises(RejectedError, match="6 inputs, outputs and dependencies, at most 5"):
        verify_batch(batch(3, 3))
