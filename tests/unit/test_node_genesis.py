"""What cannot be a genesis block is refused at once, in words."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine import candidate as candidate_module
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.ledger.engine.genesis import read_genesis
from contracts.ledger.solo.publisher import found
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey, intkey_batch

SIGNER = Signer.from_hex("11" * 32)
SET = intkey(SIGNER, "set", "a", 1)
AGAIN = build_batch(SIGNER, [SET, intkey(SIGNER, "set", "b", 1)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bytes(BLOCK_BATCH_BYTES_MAX + 1), f"more than {BLOCK_BATCH_BYTES_MAX} bytes"),
        (bytes(BLOCK_BATCH_BYTES_MAX), "more than 4000 batches"),
        (b"\x08\x00" * 5_000, "more than 4000 batches"),
    ],
    ids=["too long", "zeros", "another field"],
)
def test_what_is_no_file_of_batches(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "genesis.batch"
    path.write_bytes(content)
    with pytest.raises(RejectedError, match=f"genesis file {path}: {message}"):
        read_genesis([path])


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([intkey_batch(SIGNER, 1)] * 2, "it is there twice"),
        ([build_batch(SIGNER, [SET]), AGAIN], "a batch before it holds one of its transactions"),
        (
            [build_batch(SIGNER, [intkey(SIGNER, "set", "a", 1, dependencies=["ab" * 64])])],
            "it depends on transaction abababababababab…, which no batch before it holds",
        ),
    ],
    ids=["twice", "transaction twice", "dependency"],
)
def test_what_is_no_first_block(tmp_path: Path, batches: Sequence[Batch], message: str) -> None:
    chain = Chain.open(tmp_path)
    try:
        with pytest.raises(RejectedError, match=f"^genesis batch [0-9a-f]{{16}}…: {message}$"):
            found(chain, SIGNER, FAMILIES, batches)
    finally:
        chain.close()


def test_more_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_module, "BLOCK_BATCH_BYTES_MAX", 1_000)
    chain = Chain.open(tmp_path)
    try:
        with pytest.raises(RejectedError, match="one block takes batches of"):
            found(chain, SIGNER, FAMILIES, [intkey_batch(SIGNER, each) for each in range(2)])
        assert chain.head is None
    finally:
        chain.close()


def test_a_batch_of_the_first_block_may_depend_on_its_own_transaction(tmp_path: Path) -> None:
    first = intkey(SIGNER, "set", "a", 1)
    second = intkey(SIGNER, "set", "b", 1, dependencies=[first.header_signature])
    chain = Chain.open(tmp_path)
    try:
        found(chain, SIGNER, FAMILIES, [build_batch(SIGNER, [first, second])])
        assert chain.find_transaction(second.header_signature) is not None
    finally:
        chain.close()
