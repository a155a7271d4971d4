"""A damaged inbox keeps its visits in a list that nobody's page passes over."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gateway.intake.inbox import Inbox
from gateway.intake.salvage import PROOFS
from gateway.intake.schema import INBOX
from storage.checked.damage import DamageNotes
from storage.checked.kept import open_kept

VISITS: Final = 300
ENDED: Final = 5
"""The last visits, which are over: their places were given, and are not given again."""
BYTES_MAX: Final = 1 << 30
_PAGE: Final = 4096


def trip(number: int) -> str:
    return f"trip-{number:04}-{'x' * 20}"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "inbox.db"
    with open_kept(path, INBOX, proofs=PROOFS) as database:
        with database.transaction() as db:
            db.executemany(
                "INSERT INTO visits (trip_id, device_id, since_ms) VALUES (?, 'truck-1', ?)",
                # A clock that was set back: places go by arrival, and not by time.
                ((trip(at), 1_000_000 - at) for at in range(1, VISITS + 1)),
            )
        with database.transaction() as db:
            db.execute("DELETE FROM visits WHERE trip_id > ?", (trip(VISITS - ENDED),))
        database.query("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def listed(inbox: Inbox) -> dict[int, str]:
    return {place: visit.trip_id for place, visit in inbox.visits.listed(0, VISITS + 100)}


def opened(path: Path, damage: DamageNotes) -> Inbox:
    return Inbox(path, bytes_max=BYTES_MAX, quarantine_bytes_max=BYTES_MAX, damage=damage)


def pages_with(path: Path, word: str) -> Iterator[int]:
    """Yield where each page begins that has a word in it."""
    wire = path.read_bytes()
    for begin in range(0, len(wire), _PAGE):
        if word.encode() in wire[begin : begin + _PAGE]:
            yield begin


def test_each_page_with_visits_may_rot_and_every_kept_visit_is_listed(
    filled: Path, tmp_path: Path
) -> None:
    pages = list(pages_with(filled, "trip-0"))
    assert len(pages) > 10
    right = {trip(at): at for at in range(1, VISITS - ENDED + 1)}
    moved = 0
    for begin in pages:
        path = tmp_path / "inbox.db"
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        wire = bytearray(filled.read_bytes())
        wire[begin + _PAGE // 2] ^= 4
        path.write_bytes(wire)
        damage = DamageNotes()
        inbox = opened(path, damage)
        try:
            inbox.check()
            found = listed(inbox)
            kept = {name for (name,) in inbox._db.query("SELECT trip_id FROM visits")}  # noqa: SLF001
            assert set(found.values()) == kept, "each visit has its place"
            lost = set(right) - kept
            assert not lost or "of visits are lost" in damage.told()[0]
            for name in lost:
                inbox.visits.note(name, "truck-1")  # the truck is still here, and sends on
            assert len(listed(inbox)) == VISITS - ENDED
            for place, name in found.items():
                assert place == right[name] or place > VISITS, "no place that was given before"
                moved += place != right[name]
            before = set(listed(inbox))
            inbox.visits.note("trip-new", "truck-1")
            (place,) = set(listed(inbox)) - before
            assert place > max(VISITS, *before), "a page never passes over a later visit"
        finally:
            inbox.close()
    assert moved, "some pages were those of the places"
