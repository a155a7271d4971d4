"""The publisher's thread: what arrives soon after a block shares the next one."""

import queue
from pathlib import Path

import pytest

from contracts import address
from contracts.keys import Signer
from contracts.node import publisher as publisher_module
from contracts.node.chain import Chain
from contracts.node.genesis import found, own_genesis
from contracts.node.permitted import TRANSACTION_FAMILIES
from contracts.node.publisher import Publisher, Submission
from contracts.node.settings import MAX_BATCHES_PER_BLOCK
from contracts.node.statuses import Outcome
from contracts.node.verify import verify_batch
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.transactions import Family, build_transaction
from support.intkey_node import FAMILIES
from support.nodes import intkey_batch

SIGNER = Signer.from_hex("11" * 32)
WAIT_S = 30


def test_what_arrives_soon_after_a_block_shares_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher_module, "BLOCK_GAP_S", 1.0)
    chain = Chain.open(tmp_path)
    found(chain, SIGNER, FAMILIES, [own_genesis(SIGNER, [SIGNER.public_key])])
    decided: queue.Queue[Outcome | Exception] = queue.Queue()
    publisher = Publisher(chain, SIGNER, FAMILIES, decided.put, decided.put)
    publisher.start()
    batches = [verify_batch(intkey_batch(SIGNER, number)) for number in range(3)]
    publisher.submit(Submission(batches[:1], 1))
    outcomes = [decided.get(timeout=WAIT_S)]
    publisher.submit(Submission(batches[1:2], 1))
    publisher.submit(Submission(batches[2:], 1))
    outcomes.append(decided.get(timeout=WAIT_S))
    publisher.stop()
    chain.close()
    names = [batch.id for batch in batches]
    assert [out.decided for out in outcomes if isinstance(out, Outcome)] == [names[:1], names[1:]]


@pytest.mark.parametrize("name", [TRANSACTION_FAMILIES, MAX_BATCHES_PER_BLOCK])
def test_what_is_no_setting_stops_no_block(tmp_path: Path, name: str) -> None:
    vandal, place = Family("vandal", "1.0"), address.setting(name)

    def spoil(_: TransactionHeader, payload: bytes, _id: str, context: Context) -> None:
        context.set(place, payload)

    families = {**FAMILIES, vandal: spoil}
    spoiling = build_transaction(
        SIGNER,
        vandal,
        b"\xff",
        batcher_public_key=SIGNER.public_key,
        inputs=[place],
        outputs=[place],
    )
    chain = Chain.open(tmp_path)
    found(chain, SIGNER, families, [own_genesis(SIGNER, [SIGNER.public_key])])
    decided: queue.Queue[Outcome | Exception] = queue.Queue()
    publisher = Publisher(chain, SIGNER, families, decided.put, decided.put)
    publisher.start()
    outcomes = []
    for batch in (build_batch(SIGNER, [spoiling]), intkey_batch(SIGNER, 0)):
        publisher.submit(Submission([verify_batch(batch)], 1))
        outcomes.append(decided.get(timeout=WAIT_S))
    publisher.stop()
    chain.close()
    assert [out for out in outcomes if isinstance(out, Exception)] == []
