"""The publisher's thread: what arrives soon after a block shares the next one."""

import queue
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.node import publisher as publisher_module
from contracts.node.chain import Chain
from contracts.node.genesis import found, own_genesis
from contracts.node.publisher import Publisher
from contracts.node.scheduler import Submission
from contracts.node.statuses import Outcome
from contracts.node.verify import verify_batch
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
