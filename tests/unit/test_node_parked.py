"""Batches that wait for a processor: in order, within limits."""

import pytest

from contracts.keys import Signer
from contracts.ledger.engine import waiting as waiting_module
from contracts.ledger.engine.waiting import Parked
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.sawtooth.batches import Family
from support.ledgers.nodes import intkey_batch

SIGNER = Signer.from_hex("22" * 32)
INTKEY, OTHER = Family("intkey", "1.0"), Family("other", "1.0")


def batches(count: int) -> list[VerifiedBatch]:
    return [verify_batch(intkey_batch(SIGNER, number)) for number in range(count)]


def test_released_in_order_by_family() -> None:
    parked, waiting = Parked(), batches(4)
    for number, batch in enumerate(waiting):
        assert parked.add(batch, INTKEY if number % 2 else OTHER) == []
    assert parked.release(INTKEY) == [waiting[1], waiting[3]]
    assert parked.release(INTKEY) == []
    assert parked.release(OTHER) == [waiting[0], waiting[2]]


def test_a_second_copy_changes_nothing() -> None:
    parked, (one, two) = Parked(), batches(2)
    parked.add(one, INTKEY)
    parked.add(two, INTKEY)
    assert parked.add(one, INTKEY) == [one.id]
    assert parked.release(INTKEY) == [one, two]


@pytest.mark.parametrize("limit", ["PARKED_MAX", "PARKED_BYTES_MAX"])
def test_over_a_limit_the_oldest_is_forgotten(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = batches(3)
    allowed = 2 if limit == "PARKED_MAX" else one.size + two.size + three.size - 1
    monkeypatch.setattr(waiting_module, limit, allowed)
    parked = Parked()
    assert parked.add(one, INTKEY) == parked.add(two, INTKEY) == []
    assert parked.add(three, INTKEY) == [one.id]
    assert parked.release(INTKEY) == [two, three]


def test_a_copy_that_is_not_pending_is_not_reported_but_what_it_displaces_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting_module, "PARKED_MAX", 1)
    parked, (one, two) = Parked(), batches(2)
    parked.add(one, INTKEY)
    assert parked.add(one, INTKEY, pending=False) == []
    assert parked.add(two, INTKEY, pending=False) == [one.id]
    monkeypatch.setattr(waiting_module, "PARKED_BYTES_MAX", 0)
    assert parked.add(one, INTKEY, pending=False) == [two.id]
    assert parked.release(INTKEY) == []
