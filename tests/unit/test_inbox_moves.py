"""A batch moves through the inbox without its bytes being written again."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.proto.sawtooth_pb2 import Batch
from gateway.intake.admission import admit_records
from gateway.intake.held import HeldBatch, State
from gateway.intake.inbox import Inbox
from support.network.world import Trip, reading
from support.trucks.rogue import wire_of

MIB = 1 << 20
READINGS = 100
PAGES_BYTES = 40_000
"""What a move may write: a page of each table and index, and those above them."""


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    path = tmp_path / "i.db"
    with closing(Inbox(path, bytes_max=MIB, quarantine_bytes_max=MIB)) as found:
        yield found


def held_in(inbox: Inbox) -> HeldBatch:
    """Put a batch of many readings into the inbox."""
    batch = max(
        Trip().whole([reading(at) for at in range(READINGS)], size=READINGS), key=Batch.ByteSize
    )
    held = admit_records(wire_of(batch), "truck-1")
    assert len(held.wire) > 2 * PAGES_BYTES
    inbox.add([held], [])
    return held


def test_a_move_does_not_write_the_bytes_again(inbox: Inbox, tmp_path: Path) -> None:
    held, log = held_in(inbox), tmp_path / "i.db-wal"
    for state in (State.SUBMITTED, State.HELD, State.SUBMITTED, State.COMMITTED):
        before = log.stat().st_size
        inbox.mark([held.batch_id], state)
        assert log.stat().st_size - before < PAGES_BYTES, state


def test_a_batch_that_moves_has_no_reason(inbox: Inbox) -> None:
    held = held_in(inbox)
    for state in (State.HELD, State.SUBMITTED, State.HELD):
        inbox.mark([held.batch_id], state)
        found, known = inbox.batch(held.batch_id), inbox.standing(held.batch_id)
        assert found is not None
        assert known is not None
        assert (found.state, found.reason, known.reason) == (state, "", "")
    ((_, shown),) = inbox.waiting.batches(0, 1)
    assert shown.reason == ""


def test_a_quarantined_batch_keeps_its_reason(inbox: Inbox) -> None:
    held = held_in(inbox)
    inbox.mark([held.batch_id], State.QUARANTINED, "the ledger rejected it")
    known = inbox.standing(held.batch_id)
    assert known is not None
    assert known.reason == "the ledger rejected it"
    ((_, shown),) = inbox.waiting.batches(0, 1)
    assert shown.reason == "the ledger rejected it"
