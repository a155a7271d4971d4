"""Rounds of the scrub, as tests want them: without haste, pause or days in between."""

from typing import Any

from storage.recordings.store import RecordingStore
from storage.scrub.journal import Journal
from storage.scrub.pace import Pace
from storage.scrub.scrub import Scrub
from storage.scrub.upkeep import Upkeep


def go_round(store: RecordingStore, journal: Journal) -> list[tuple[Any, ...]]:
    """Let a new scrub go round once; return what it found.

    Returns:
        Recording, blob, copy, kind and outcome of each finding.
    """
    scrub = Scrub(
        Upkeep(store),
        journal,
        Pace(1 << 40, lambda _: None),
        every_days=0,
        stopping=lambda: False,
    )
    number = scrub.begin().number
    assert scrub.step()
    return journal.query(
        "SELECT recording, blob, copy, kind, outcome FROM findings WHERE round = ?"
        " ORDER BY finding",
        number,
    )
