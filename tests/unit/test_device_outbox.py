"""What a gateway's answer changes in a truck's journal, and what it leaves alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from device.journal.database import Database
from device.journal.outbox import Outbox
from support.network.world import key

TRIP = "0" * 32
IDS = ("a", "b")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Database]:
    """Return a truck's journal with two batches that no gateway holds."""
    with Database(tmp_path / "journal.sqlite", "truck-1", key("truck-1").public_key) as made:
        with made.transaction() as connection:
            connection.execute(
                "INSERT INTO trips (trip_id, input_id, start, state, last_transaction_id, clock)"
                " VALUES (?, x'', x'', 'sealed', '', x'')",
                (TRIP,),
            )
            connection.executemany(
                "INSERT INTO batches (batch_id, trip_id, wire) VALUES (?, ?, x'00')",
                ((each, TRIP) for each in IDS),
            )
        yield made


def test_an_answer_changes_the_batches_that_it_is_about(journal: Database) -> None:
    outbox = Outbox(journal)
    assert outbox.note(["a"], {"b": "no"}) == 1
    assert (outbox.unsent(), outbox.refusals()) == ([], {"b": "no"})
    assert outbox.note(["b"], {}, IDS) == 0
    assert (outbox.unsent(), outbox.refusals()) == (["a"], {})
    assert outbox.note([], {}, IDS) == 0
    assert outbox.unsent() == ["a", "b"]


def test_an_answer_that_says_the_same_again_writes_nothing(journal: Database) -> None:
    outbox, before = Outbox(journal), journal.changes
    outbox.note([], {}, IDS)
    assert journal.changes == before
    for _ in range(2):
        outbox.note(IDS, {})
        assert journal.changes == before + len(IDS)
