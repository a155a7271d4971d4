"""One cold file is made again, from what is whole in it and from the ledger."""

import json
import os
import sqlite3
from argparse import Namespace
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.connection import Connection
from gateway.commands import reindex
from gateway.index import coldfile, flipping, moving
from gateway.index.coldfile import ColdHead, ColdTrip
from gateway.index.remaking import remake
from gateway.intake.inbox import Inbox
from gateway.settings import Settings
from support.gateways.coldtrips import ColdTrips, client_of


def test_what_is_whole_in_a_file_is_not_fetched_again(made: ColdTrips) -> None:
    before = made.pages()
    made.move()
    with closing(client_of(made)) as client:
        assert remake(made.index, client, made.trips[0], lambda _: None).fetched == 0
    with pytest.raises(RejectedError, match="all its readings lie in the index"):
        remake(made.index, client, made.trips[2], lambda _: None)
    with pytest.raises(RejectedError, match="has no readings of it"):
        remake(made.index, client, "unknown", lambda _: None)
    assert made.pages() == before


def test_the_command_makes_the_file_of_a_trip_again_beside_the_gateway(
    made: ColdTrips,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)  # of this process, which goes on
    Inbox(tmp_path / "inbox.db", bytes_max=1 << 20, quarantine_bytes_max=1 << 20).close()
    ledger = {"url": made.ledger.url}
    settings = Settings(data=tmp_path, site_id="site-b", ledger=ledger)
    before = made.pages()
    made.move()
    made.file.unlink()
    reindex.run(Namespace(trip=made.trips[0]), settings)
    told = json.loads(capsys.readouterr().out)
    assert (told["trips_kept"], told["trips_fetched"], told["blocks"]) == (0, 2, 2)
    assert made.pages() == before
    left = made.index.cold.of("f" * 16)  # by a build that was killed
    left.mkdir()
    (left / "000001.db").touch()
    reindex.run(Namespace(trip=None), settings)
    assert json.loads(capsys.readouterr().out)["taken"] is False
    assert not left.exists()
    assert made.pages() == before


@pytest.mark.parametrize("fault", ["none", "missing"])
def test_a_file_that_is_made_again_during_a_flip_keeps_what_is_not_flipped_yet(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    before = made.pages()
    remade: list[int] = []

    def between(db: Connection, head: ColdHead, trip: ColdTrip) -> int:
        flipped = flipping.flip_some(db, head, trip)
        if not flipped and not remade:
            db.execute("COMMIT")
            if fault == "missing":
                made.file.unlink()
            with closing(client_of(made)) as client:
                remade.append(remake(made.index, client, made.trips[0], lambda _: None).fetched)
            db.execute("BEGIN")
        return flipped

    monkeypatch.setattr(moving, "flip_some", between)
    made.move()
    assert remade == [int(fault == "missing")]
    assert made.pages() == before
    monkeypatch.undo()
    made.move()
    assert made.pages() == before
    files = made.index.query("SELECT count(DISTINCT file) FROM cold_trips")
    assert files == [(1 + remade[0],)]
    assert made.index.query("SELECT count(*) FROM cold_trips") == [(2,)]


def test_a_full_disk_is_not_taken_for_damage_of_the_file_that_is_made_again(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.move()
    before, pages = made.file.read_bytes(), made.pages()

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(coldfile, "insert_readings", full)
    with (
        closing(client_of(made)) as client,
        pytest.raises(UnavailableError, match="disk is full"),
    ):
        remake(made.index, client, made.trips[0], lambda _: None)
    assert (made.file.read_bytes(), made.pages()) == (before, pages)
