"""Batches that are executed elsewhere: which block, which order, what waits for what."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.ledger.blocks import log as log_module
from contracts.ledger.engine import waiting as waiting_module
from contracts.ledger.execution.executor import (
    EFFECT_BYTES_MAX,
    InvalidTransaction,
)
from contracts.ledger.execution.jobs import Lost
from contracts.ledger.solo import scheduler as scheduler_module
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import propose
from support.ledgers.founding import untimed_genesis
from support.ledgers.intkey_node import INTKEY, address_of
from support.ledgers.scheduling import SIGNER, SIZE, WAIT_S, Ledger, answer, ids, own, setting


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(tmp_path, untimed_genesis(SIGNER, [SIGNER.public_key]))
    yield made
    made.publisher.stop()
    made.chain.close()


def test_one_submission_one_block_in_order_of_arrival(ledger: Ledger) -> None:
    batches = [setting("a"), own("1"), setting("b"), setting("c")]
    ledger.submit(*batches)
    for job in reversed([ledger.elsewhere.job() for _ in range(3)]):
        answer(job)
    total = ledger.until(*batches)
    assert ledger.blocks() == [ids(*batches)]
    assert (total.queued_batches, total.queued_bytes) == (4, SIZE)


def test_one_batch_is_executed_in_order_on_top_of_itself(ledger: Ledger) -> None:
    batch = setting("a", "b", "a")
    ledger.submit(batch)
    for value in (b"1", b"2", b"3"):
        answer(ledger.elsewhere.job(), value)
    ledger.until(batch)
    assert ledger.chain.state.get(address_of("a")) == b"13"


def test_conflicting_batches_wait_for_each_other_and_share_a_block(ledger: Ledger) -> None:
    one, two, beside = setting("a"), setting("b", "a"), setting("c")
    ledger.submit(one, two, beside)
    jobs = [ledger.elsewhere.job(), ledger.elsewhere.job()]
    assert ledger.elsewhere.jobs.empty()
    answer(jobs[1], b"c")
    answer(jobs[0], b"1")
    answer(ledger.elsewhere.job(), b"b")
    answer(ledger.elsewhere.job(), b"2")
    ledger.until(one, two, beside)
    assert ledger.chain.state.get(address_of("a")) == b"12"
    assert ledger.blocks() == [ids(one, two, beside)]


def test_a_block_does_not_wait_for_ever(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_module, "ROUND_S", 0.05)
    slow, behind, other = setting("a"), setting("a", "b"), own("1")
    ledger.submit(slow, behind, other)
    ledger.until(other)
    assert ledger.blocks() == [ids(other)]
    more = own("2")
    ledger.submit(more)
    ledger.until(more)
    answer(ledger.elsewhere.job(), b"1")
    answer(ledger.elsewhere.job(), b"2")
    answer(ledger.elsewhere.job())
    ledger.until(slow, behind)
    assert ledger.chain.state.get(address_of("a")) == b"12"
    assert [name for block in ledger.blocks() for name in block] == ids(other, more, slow, behind)


def test_no_block_waits_twice_for_the_same_batch(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "ROUND_S", 0.05)
    slow, other = setting("a"), own("1")
    ledger.submit(slow, other)
    ledger.until(other)
    monkeypatch.setattr(scheduler_module, "ROUND_S", 3_600)
    behind, more = setting("a", "b"), own("2")
    ledger.submit(behind, more)
    ledger.until(more)
    for _ in range(3):
        answer(ledger.elsewhere.job())
    ledger.until(slow, behind)
    last = own("3")
    ledger.submit(last)
    ledger.until(last)


def test_as_many_batches_as_the_network_wants_in_a_block(ledger: Ledger) -> None:
    limit = build_batch(SIGNER, [propose(SIGNER, "sawtooth.publisher.max_batches_per_block", "2")])
    ledger.submit(limit)
    ledger.until(limit)
    batches = [setting("a"), setting("b"), own("1"), setting("c"), setting("d")]
    ledger.submit(*batches)
    for _ in range(4):
        answer(ledger.elsewhere.job())
    ledger.until(*batches)
    assert all(len(block) <= 2 for block in ledger.blocks())
    assert sorted(name for block in ledger.blocks()[1:] for name in block) == sorted(ids(*batches))


def test_a_refusal_undoes_the_batch_only(ledger: Ledger) -> None:
    bad, behind = setting("a", "b"), setting("a")
    ledger.submit(bad, behind)
    answer(ledger.elsewhere.job(), b"1")
    second = ledger.elsewhere.job()
    verdict = InvalidTransaction(second.transaction.header_signature, "no", b"data")
    second.done(verdict)
    answer(ledger.elsewhere.job(), b"2")
    assert ledger.until(bad, behind).invalid == {bad.header_signature: verdict}
    assert ledger.chain.state.get(address_of("a")) == b"2"


def test_what_was_lost_begins_anew_when_someone_registers(ledger: Ledger) -> None:
    batch, other = setting("a", "b"), own("1")
    ledger.submit(batch)
    answer(ledger.elsewhere.job(), b"lost")
    ledger.elsewhere.families.clear()
    ledger.elsewhere.job().done(Lost())
    ledger.submit(other)
    total = ledger.until(other)
    assert total.decided == ids(other)
    assert total.queued_batches == 2
    ledger.elsewhere.families.add(INTKEY)
    ledger.publisher.scheduler.registered(INTKEY)
    answer(ledger.elsewhere.job(), b"1")
    answer(ledger.elsewhere.job(), b"2")
    total = ledger.until(batch)
    assert total.queued_batches == 0
    assert ledger.chain.state.get(address_of("a")) == b"1"


def test_nobody_overtakes_what_waits_for_a_processor(ledger: Ledger) -> None:
    ledger.elsewhere.families.clear()
    first, beside, second, other = setting("a"), own("2"), setting("a"), own("1")
    ledger.submit(first, beside)
    ledger.until(beside)
    ledger.elsewhere.families.add(INTKEY)  # registered, and not announced yet
    ledger.submit(second, other)
    ledger.until(other)
    assert ledger.elsewhere.jobs.empty()
    ledger.publisher.scheduler.registered(INTKEY)
    answer(ledger.elsewhere.job(), b"1")
    answer(ledger.elsewhere.job(), b"2")
    ledger.until(first, second)
    assert ledger.chain.state.get(address_of("a")) == b"12"


def test_what_an_orphan_displaces_is_reported(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_module, "PARKED_MAX", 1)
    dependency, displaced = own("1"), setting("a")
    orphan = setting("b", dependencies=[dependency.transactions[0].header_signature])
    ledger.submit(orphan)
    ledger.until(orphan)
    ledger.elsewhere.families.clear()
    ledger.submit(displaced, dependency)
    ledger.until(displaced, dependency)


def test_a_dependency_in_the_making_is_waited_for(ledger: Ledger) -> None:
    first = setting("a")
    second = setting("b", dependencies=[first.transactions[0].header_signature])
    ledger.submit(first, second)
    job = ledger.elsewhere.job()
    assert ledger.elsewhere.jobs.empty()
    answer(job)
    answer(ledger.elsewhere.job())
    ledger.until(first, second)
    assert ledger.blocks() == [ids(first, second)]


def test_the_same_batch_twice_is_executed_once(ledger: Ledger) -> None:
    batch = setting("a")
    ledger.submit(batch, batch)
    answer(ledger.elsewhere.job())
    total = ledger.until(batch)
    while len(total.decided) < 2:
        total.decided += ledger.outcomes.get(timeout=WAIT_S).decided
    assert ledger.elsewhere.jobs.empty()
    assert ledger.blocks() == [ids(batch)]


def test_it_ends_with_batches_in_the_making(ledger: Ledger) -> None:
    ledger.submit(setting("a"), setting("a"))
    ledger.elsewhere.job()


def test_what_saw_a_block_that_was_dropped_begins_anew(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "ROUND_S", 0.0)
    dropped, late = own("1"), setting("a")
    with monkeypatch.context() as patch:
        patch.setattr(log_module, "RECORD_BYTES_MAX", 100)
        ledger.submit(late, dropped)
        assert list(ledger.until(dropped).invalid) == ids(dropped)
    answer(ledger.elsewhere.job(), b"1")
    answer(ledger.elsewhere.job(), b"2")
    assert not ledger.until(late).invalid
    assert ledger.chain.state.get(address_of("a")) == b"2"
    assert ledger.blocks() == [ids(late)]


def test_all_transactions_of_a_batch_share_the_room_for_effects(ledger: Ledger) -> None:
    batch = setting("a", "b")
    ledger.submit(batch)
    first = ledger.elsewhere.job()
    assert first.room == EFFECT_BYTES_MAX
    answer(first, bytes(1_000))
    second = ledger.elsewhere.job()
    assert EFFECT_BYTES_MAX - 1_200 < second.room < EFFECT_BYTES_MAX - 1_000
    answer(second)
    assert not ledger.until(batch).invalid
