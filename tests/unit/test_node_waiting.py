"""What is remembered of batches that are not on the chain: statuses, orphans; all bounded."""

import asyncio

import pytest

from contracts.keys import Signer
from contracts.ledger.engine import statuses as statuses_module
from contracts.ledger.engine import waiting as waiting_module
from contracts.ledger.engine.statuses import Outcome, Statuses
from contracts.ledger.engine.waiting import Orphans
from contracts.ledger.execution.executor import InvalidTransaction
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.rest.byids import WAIT_MAX_S, WAIT_S, wait_s
from contracts.sawtooth.batches import Status
from support.ledgers.nodes import intkey_batch

SIGNER = Signer.generate()
NO = InvalidTransaction("t", "no")


def test_status_follows_the_batch() -> None:
    on_chain: set[str] = set()
    statuses = Statuses(on_chain.__contains__)
    assert statuses.status("a") is Status.UNKNOWN
    statuses.add_pending(["a", "a"])
    statuses.apply(Outcome(decided=["a"], invalid={"a": NO}))
    assert (statuses.status("a"), statuses.refusal("a")) == (Status.INVALID, NO)
    statuses.add_pending(["a"])
    assert statuses.status("a") is Status.PENDING
    statuses.apply(Outcome(decided=["a", "a"]))
    assert statuses.status("a") is Status.UNKNOWN
    statuses.apply(Outcome(decided=["b"], stuck=["b"]))
    assert statuses.status("b") is Status.PENDING
    on_chain.add("a")
    assert statuses.status("a") is Status.COMMITTED


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statuses_module, "INVALID_KEPT", 2)
    monkeypatch.setattr(statuses_module, "STUCK_KEPT", 2)
    statuses = Statuses(lambda _: False)
    for name in "abc":
        statuses.apply(Outcome(invalid={name: NO}, stuck=[name.upper()]))
    assert [statuses.status(name).value for name in "abcABC"] == [
        "UNKNOWN",
        "INVALID",
        "INVALID",
        "UNKNOWN",
        "PENDING",
        "PENDING",
    ]


def test_waiting_ends_when_all_are_decided() -> None:
    async def walk() -> None:
        statuses = Statuses(lambda _: False)
        statuses.add_pending(["a", "b"])
        waiting = asyncio.create_task(statuses.wait(["a", "b", "a"], 60))
        await asyncio.sleep(0)
        statuses.apply(Outcome(decided=["a"]))
        await asyncio.sleep(0)
        assert not waiting.done()
        statuses.apply(Outcome(decided=["b"]))
        await waiting
        statuses.add_pending(["a"])
        await statuses.wait(["a"], 0.01)
        assert statuses.status("a") is Status.PENDING
        left = asyncio.create_task(statuses.wait(["a"], 60))
        await asyncio.sleep(0)
        statuses.close()
        await left

    asyncio.run(walk())


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [
        ("false", 0),
        ("False", 0),
        ("", WAIT_S),
        ("true", WAIT_S),
        ("-1", WAIT_S),
        ("1.5", WAIT_S),
        ("9" * 5_000, WAIT_S),
        (str(1 << 32), WAIT_S),
        ("0", WAIT_MAX_S),
        ("1000", WAIT_MAX_S),
        (" 7 ", 7),
        ("+7", 7),
        ("1_0", 10),
    ],
)
def test_wait_is_bounded(wait: str, seconds: float) -> None:
    assert wait_s(wait) == seconds


def test_orphans_are_handed_out_once_and_in_order() -> None:
    orphans = Orphans()
    one, two, other = (verify_batch(intkey_batch(SIGNER, number)) for number in range(3))
    orphans.add(one, "x")
    orphans.add(two, "x")
    orphans.add(other, "y")
    orphans.add(two, "x")
    assert orphans.release("x") == [one, two]
    assert orphans.release("x") == []
    assert len(orphans) == 1


def test_orphans_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [verify_batch(intkey_batch(SIGNER, number)) for number in range(4)]
    monkeypatch.setattr(waiting_module, "ORPHANS_MAX", 3)
    by_number = Orphans()
    for batch in batches:
        by_number.add(batch, "x")
    assert by_number.release("x") == batches[1:]
    monkeypatch.setattr(waiting_module, "ORPHAN_BYTES_MAX", batches[0].size + batches[1].size)
    by_size = Orphans()
    for batch in batches[:3]:
        by_size.add(batch, "x")
    assert by_size.release("x") == batches[1:3]
    monkeypatch.setattr(waiting_module, "ORPHAN_S", -1.0)
    by_age = Orphans()
    by_age.add(batches[0], "x")
    assert by_age.release("x") == []
