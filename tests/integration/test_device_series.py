"""A device numbers its trips and names the seal before, so a thief's deletion shows."""

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import connect

import pytest

from contracts.actions.payload import decode
from contracts.errors import UnavailableError
from contracts.proto.payload_pb2 import SealTrip, StartTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.rules.ids import Rule
from contracts.rules.series import seal_digest
from device.journal.logbook import Logbook
from device.settings_file import load
from device.station import open_journal
from support.ledgers.hosts import DirectHost, apply_all, rules_found
from support.network.world import key, registrations
from support.trucks.rogue import running_site, until
from support.trucks.truck import Truck, write_log
from support.trucks.visits import meet

pytestmark = pytest.mark.integration


@pytest.fixture
def truck(tmp_path: Path) -> Truck:
    return Truck(tmp_path / "truck")


def drive(truck: Truck, number: int) -> str:
    """Record and seal one trip; return its id."""
    log = write_log(truck.folder / f"log-{number}.csv", 3 + number)
    made = truck.must("record", "--readings", log)
    return str(made["trip"])


def ends(batches: Sequence[Batch]) -> tuple[list[StartTrip], list[SealTrip]]:
    actions = [decode(each.payload) for batch in batches for each in batch.transactions]
    return (
        [each for each in actions if isinstance(each, StartTrip)],
        [each for each in actions if isinstance(each, SealTrip)],
    )


def of_row(batches: Sequence[Batch]) -> list[str]:
    """Return the findings on the row of trips when a ledger takes these batches."""
    host = DirectHost()
    apply_all(host, registrations())
    found = rules_found(apply_all(host, batches))
    return [rule for rule in found if "trip-number" in rule or "previous-seal" in rule]


def test_each_start_names_its_number_and_the_seal_before(truck: Truck) -> None:
    for number in (1, 2, 3):
        drive(truck, number)
    starts, seals = ends(truck.batches())
    assert [start.trip_number for start in starts] == [1, 2, 3]
    assert [start.previous_seal_sha256 for start in starts] == [
        b"",
        seal_digest(seals[0]),
        seal_digest(seals[1]),
    ]
    assert of_row(truck.batches()) == []
    status = truck.must("status")
    assert (status["trips_started"], [trip["number"] for trip in status["trips"]]) == (3, [1, 2, 3])


def test_a_trip_that_a_thief_deletes_from_the_journal_leaves_a_gap(truck: Truck) -> None:
    drive(truck, 1)
    deleted = drive(truck, 2)
    with closing(connect(truck.data / "journal.sqlite")) as journal, journal:
        for table in ("batches", "recordings", "pending", "waiting", "trips"):
            journal.execute(f"DELETE FROM {table} WHERE trip_id = ?", (deleted,))  # noqa: S608
    drive(truck, 3)
    assert of_row(truck.batches()) == [Rule.TRIP_NUMBER_GAP]


def test_a_lost_journal_is_told_here_and_on_the_ledger(truck: Truck) -> None:
    drive(truck, 1)
    offloaded = truck.batches()
    for path in truck.data.glob("journal.sqlite*"):
        path.unlink()
    drive(truck, 2)
    assert of_row([*offloaded, *truck.batches()]) == [Rule.TRIP_NUMBER_REPEATED]
    status = truck.must("status")
    assert (status["journal_is_younger"], status["trips_started"]) == (True, 1)
    _, said, _ = truck.run("status")
    assert "the key was there before this journal" in said


def test_an_old_copy_of_the_journal_shows_too(truck: Truck, tmp_path: Path) -> None:
    drive(truck, 1)
    shutil.copytree(truck.data, tmp_path / "copy")
    drive(truck, 2)
    offloaded = truck.batches()
    shutil.rmtree(truck.data)
    shutil.copytree(tmp_path / "copy", truck.data)
    drive(truck, 3)
    again = _from_start(truck.batches(), 2)
    assert of_row([*offloaded, *again]) == [Rule.TRIP_NUMBER_REPEATED]


def _from_start(batches: Sequence[Batch], number: int) -> list[Batch]:
    """Return the batches from the one with this trip's start on."""
    for at, batch in enumerate(batches):
        if number in [start.trip_number for start in ends([batch])[0]]:
            return list(batches[at:])
    raise AssertionError(number)


def test_a_device_with_a_new_key_and_journal_has_lost_nothing(tmp_path: Path) -> None:
    truck = Truck(tmp_path / "new")
    (truck.data / "device.key").unlink()
    truck.must("init")
    status = truck.must("status")
    assert (status["journal_is_younger"], status["trips_started"]) == (False, 0)
    _, said, _ = truck.run("status")
    assert "lost" not in said


def test_a_start_that_is_not_durable_uses_no_number(truck: Truck) -> None:
    drive(truck, 1)
    with open_journal(load(truck.config, {}), key("truck-1")) as database:
        logbook = Logbook(database, journal_bytes_max=1, video_bytes_max=1)
        before = logbook.series()
        (trip,) = logbook.trips()
        with pytest.raises(UnavailableError, match="journal full"):
            logbook.begin(trip, [])
        assert logbook.series() == before
        assert (before[0], len(before[1])) == (1, 32)


def test_auditors_see_the_number_and_the_gap(tmp_path: Path, truck: Truck) -> None:
    with running_site(tmp_path / "site") as site:
        meet(truck, site)
        first = drive(truck, 1)
        assert truck.must("offload")["receipted"] == [first]
        deleted = drive(truck, 2)
        with closing(connect(truck.data / "journal.sqlite")) as journal, journal:
            for table in ("batches", "recordings", "trips"):
                journal.execute(f"DELETE FROM {table} WHERE trip_id = ?", (deleted,))  # noqa: S608
        third = drive(truck, 3)
        assert truck.must("offload")["receipted"] == [third]
        until("the index", lambda: site.operator.get(f"/v1/trips/{third}").is_success)
        told = [site.ask(f"/v1/trips/{trip}") for trip in (first, third)]
        assert [trip["trip_number"] for trip in told] == [1, 3]
        assert (told[0]["previous_seal_sha256"], len(told[1]["previous_seal_sha256"])) == (None, 64)
        (gap,) = [
            each
            for each in site.ask(f"/v1/trips/{third}/findings")["items"]
            if each["rule"] == Rule.TRIP_NUMBER_GAP
        ]
        assert gap["detail"] == "this is trip 3, 2 was expected next"
        verdict = site.operator.post(f"/v1/trips/{third}/verify").json()
        assert verdict["verdict"] == "holds", json.dumps(verdict["problems"])
        (story,) = verdict["trips"]
        assert story["trip_number"] == 3
        assert [each for each in story["findings"] if each["rule"] == Rule.TRIP_NUMBER_GAP] == [
            {key: gap[key] for key in ("rule", "device_id", "detail")}
        ]
