"""Batches in the hands of a processor while the chain goes on: what they saw must stay true."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.ledger.engine.genesis import own_genesis
from contracts.ledger.execution.executor import TransactionContext
from contracts.ledger.execution.jobs import Job
from contracts.ledger.solo import scheduler as scheduler_module
from contracts.proto.identity_pb2 import Policy
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch, build_transaction
from contracts.sawtooth.block_info import ADDRESSES, latest_block_info
from contracts.sawtooth.identity import ALLOWED_KEYS
from contracts.sawtooth.settings import propose
from support.ledgers.identities import set_policy
from support.ledgers.intkey_node import INTKEY, address_of
from support.ledgers.scheduling import SIGNER, Ledger, answer, ids, own, setting


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """A chain whose blocks have a time, and wait for no processor."""
    monkeypatch.setattr(scheduler_module, "ROUND_S", 0.0)
    made = Ledger(tmp_path, own_genesis(SIGNER, [SIGNER.public_key]))
    yield made
    made.publisher.stop()
    made.chain.close()


def reading_times(name: str) -> Batch:
    """Return a batch whose processor reads the time."""
    place = address_of(name)
    transaction = build_transaction(
        SIGNER,
        INTKEY,
        name.encode(),
        batcher_public_key=SIGNER.public_key,
        inputs=[place, *ADDRESSES],
        outputs=[place],
    )
    return build_batch(SIGNER, [transaction])


def tell_block(job: Job) -> int:
    """Execute a transaction: write the number of the latest block with a time, and return it."""
    context = TransactionContext(job.header, job.read)
    latest = latest_block_info(context.get)
    assert latest is not None
    context.set(job.header.outputs[0], str(latest.block_num).encode())
    job.done(context)
    return latest.block_num


def test_who_read_the_time_starts_again_with_the_next_block(ledger: Ledger) -> None:
    batch, beside, between = reading_times("a"), setting("b"), own("1")
    ledger.submit(batch, beside)
    first, other = ledger.elsewhere.job(), ledger.elsewhere.job()
    ledger.submit(between)
    ledger.until(between)
    answer(other)
    ledger.until(beside)
    assert tell_block(first) == 0
    told = tell_block(ledger.elsewhere.job())
    assert not ledger.until(batch).invalid
    assert ledger.elsewhere.jobs.empty()
    (number,) = [
        number
        for number, names in enumerate(ledger.blocks(), start=1)
        if batch.header_signature in names
    ]
    assert told == number - 1
    assert ledger.chain.state.get(address_of("a")) == str(told).encode()
    assert ledger.chain.state.get(address_of("b")) == b"1"


def test_who_lost_its_permission_is_not_committed(ledger: Ledger) -> None:
    batch = setting("a")
    ledger.submit(batch)
    job = ledger.elsewhere.job()
    everybody = [Policy.Entry(type=Policy.DENY_KEY, key="*")]
    denying = build_batch(
        SIGNER,
        [
            propose(SIGNER, ALLOWED_KEYS, SIGNER.public_key),
            set_policy(SIGNER, "default", everybody),
        ],
    )
    ledger.submit(denying)
    assert not ledger.until(denying).invalid
    answer(job)
    refused = ledger.until(batch).invalid[batch.header_signature]
    assert refused.message == (
        f"batch signer {SIGNER.public_key} is not permitted by policy 'default'"
    )
    head = ledger.chain.head
    assert head is not None
    assert ids(denying)[0] in head.header.batch_ids
